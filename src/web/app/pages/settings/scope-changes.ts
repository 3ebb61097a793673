// Creating, renaming and archiving a scope: one hook each, whatever its level.

import type { ArchivedScope } from "../../../../../gen/waggle/v1/scope_pb.js";
import { useQueryClient } from "@tanstack/react-query";
import { useRpcMutation } from "../../api/query.ts";
import {
  idOf,
  scopeCalls,
  type ScopeMethod,
  scopeMethods,
  type ScopeRef,
} from "../../api/scope.ts";

export type ScopeFields = { readonly name: string; readonly description?: string };

/** Only data planes have a `clusterId`. */
export type NewScope = ScopeFields & { readonly clusterId?: string };

/** Returns the end of a change: the app asks again for scopes and for the sidebar's projects. */
function useChangeOptions<Answer>(onDone: (answer: Answer) => void) {
  const client = useQueryClient();
  return {
    changes: scopeMethods,
    onDone: (answer: Answer) => {
      void client.invalidateQueries({ queryKey: ["projects"] });
      onDone(answer);
    },
  };
}

/** Creates a scope below `parent`. */
export function useCreateBelow(parent: ScopeRef, onDone: () => void) {
  const { create, get } = scopeCalls[parent.level];
  const method: ScopeMethod = create ?? get;
  const { isPending, error, mutate } = useRpcMutation(method, useChangeOptions(onDone));
  return {
    isPending,
    error,
    create: (fields: NewScope) => create && mutate({ ...idOf(parent), ...fields }),
  };
}

/** Changes name and description, as far as they are given. */
export function useRename(scope: ScopeRef, onDone: () => void) {
  const method: ScopeMethod = scopeCalls[scope.level].update;
  const { isPending, error, mutate } = useRpcMutation(method, useChangeOptions(onDone));
  const rename = (fields: Partial<ScopeFields>) => mutate({ ...idOf(scope), ...fields });
  return { isPending, error, rename };
}

/** Archives a scope; the flag includes the scopes below it. */
export function useArchive(scope: ScopeRef, onDone: (scope: ArchivedScope) => void) {
  const method: ScopeMethod = scopeCalls[scope.level].archive;
  const options = useChangeOptions((answer: object) => {
    const { data } = answer as { readonly data?: ArchivedScope };
    if (data) onDone(data);
  });
  const { isPending, error, mutate } = useRpcMutation(method, options);
  const archive = (withChildren: boolean) =>
    mutate({ ...idOf(scope), dangerouslyDeleteChildScopes: withChildren });
  return { isPending, error, archive };
}

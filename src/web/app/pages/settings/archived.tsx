// Shown after a scope was archived: access has ended, and a workflow does the rest.

import { Archive } from "lucide-react";
import { EmptyState } from "../../design/states.tsx";
import { Identifier } from "../../design/values.tsx";
import { levelNames, type ScopeRef } from "./scope.ts";

export type ArchivedProps = { readonly scope: ScopeRef; readonly workflowId: string };

export function Archived({ scope, workflowId }: ArchivedProps) {
  return (
    <EmptyState icon={<Archive />} title={`This ${levelNames[scope.level]} is archived`}>
      Access to it and its keys has ended. A workflow ends what runs in it and moves its events;
      Temporal’s own page shows how far it is, under <Identifier value={workflowId} />
    </EmptyState>
  );
}

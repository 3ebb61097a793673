// Archives a scope after its name is typed; can archive the scopes below it too.

import { useState } from "react";
import type { ArchivedScope } from "../../../../../gen/waggle/v1/scope_pb.js";
import { TextField } from "../../design/fields.tsx";
import { Checkbox } from "../../design/input.tsx";
import { Dialog, TypeName } from "../../design/overlay.tsx";
import { ErrorState } from "../../design/states.tsx";
import { useArchive } from "./scope-changes.ts";
import { levelBelow, levelNames, type ScopeRef } from "../../api/scope.ts";

export type ArchiveScopeProps = {
  readonly scope: ScopeRef;
  readonly name: string;
  readonly onClose: () => void;
  readonly onArchived: (archived: ArchivedScope) => void;
};

export function ArchiveScope({ scope, name, onClose, onArchived }: ArchiveScopeProps) {
  const what = levelNames[scope.level];
  const below = levelBelow[scope.level];
  const [typed, setTyped] = useState("");
  const [withChildren, setWithChildren] = useState(false);
  const { archive, isPending, error } = useArchive(scope, (archived) => {
    onClose();
    onArchived(archived);
  });
  return (
    <Dialog
      onClose={onClose}
      width="narrow"
      title={`Archive ${name}`}
      description={
        `Access to this ${what} and its keys ends at once; a workflow archives what is in it. ` +
        "This cannot be undone."
      }
      act={{
        label: `Archive ${what}`,
        variant: "danger",
        disabled: typed !== name,
        busyLabel: isPending && "Archiving…",
        run: () => archive(withChildren),
      }}
    >
      {below === undefined ? null : (
        <Checkbox
          label={`Archive every ${levelNames[below]} in it too`}
          checked={withChildren}
          onChange={setWithChildren}
        />
      )}
      {error ? <ErrorState error={error} isInline /> : null}
      <TextField label={<TypeName name={name} />} value={typed} onChange={setTyped} />
    </Dialog>
  );
}

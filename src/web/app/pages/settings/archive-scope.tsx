// Archives a scope after its name is typed; can archive the scopes below it too.

import { useState } from "react";
import type { ArchivedScope } from "../../../../../gen/waggle/v1/scope_pb.js";
import { ApiError } from "../../api/errors.ts";
import { Checkbox } from "../../design/input.tsx";
import { ConfirmDialog } from "../../design/overlay.tsx";
import { useArchive } from "./scope-changes.ts";
import { type Level, levelBelow, levelNames, type ScopeRef } from "../../api/scope.ts";

export type ArchiveScopeProps = {
  readonly scope: ScopeRef;
  readonly name: string;
  readonly onClose: () => void;
  readonly onArchived: (archived: ArchivedScope) => void;
};

export function ArchiveScope({ scope, name, onClose, onArchived }: ArchiveScopeProps) {
  const what = levelNames[scope.level];
  const below = levelBelow[scope.level];
  const [withChildren, setWithChildren] = useState(false);
  const { archive, ...change } = useArchive(scope, (archived) => {
    onClose();
    onArchived(archived);
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Archive ${name}`}
      description={
        <>
          <p>
            Access to this {what} and its keys ends at once; a workflow archives what is in it. This
            cannot be undone.
          </p>
          {below === undefined ? null : (
            <Checkbox
              label={`Archive every ${levelNames[below]} in it too`}
              checked={withChildren}
              onChange={setWithChildren}
            />
          )}
        </>
      }
      action={`Archive ${what}`}
      busyLabel="Archiving…"
      typedName={name}
      change={{ ...change, error: inWordsOfDialog(change.error, scope.level) }}
      onConfirm={() => archive(withChildren)}
    />
  );
}

/** Returns the error of a scope that is not empty with the choice that the dialog has for it. */
function inWordsOfDialog(error: ApiError | null, level: Level): ApiError | null {
  const below = levelBelow[level];
  if (error?.errorCode !== "SCOPE_NOT_EMPTY" || below === undefined) return error;
  const { errorCode, isTransient } = error;
  const message = `The ${levelNames[level]} has ${levelNames[below]}s: choose to archive them too.`;
  return new ApiError(message, { errorCode, isTransient, cause: error });
}

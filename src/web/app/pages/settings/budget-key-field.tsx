// BudgetKeyField: the calls that a budget counts: all, those of a key of the project, or those of
// another key, which is named by its id.

import { useState } from "react";
import { ApiKeyService } from "../../../../../gen/waggle/v1/api_key_pb.js";
import { useRpc } from "../../api/query.ts";
import { SelectField, TextField } from "../../design/fields.tsx";
import { useMay } from "../../session/use-may.ts";

const { listProjectApiKeys, listDataPlaneApiKeys } = ApiKeyService.method;
const limit = 100;
const another = "another";

/** Returns the newest keys of a project that may have a budget, and whether there are more. */
export function useBudgetKeys(projectId: string) {
  const may = useMay({ level: "project", id: projectId });
  const root = { case: "projectId", value: projectId } as const;
  const own = useRpc(
    listProjectApiKeys,
    { projectId, limit },
    { isEnabled: may(listProjectApiKeys) },
  );
  const fineGrained = useRpc(
    listDataPlaneApiKeys,
    { root, limit },
    { isEnabled: may(listDataPlaneApiKeys) },
  );
  const pages = [own.data, fineGrained.data];
  return {
    keys: pages.flatMap((page) => page?.data ?? []),
    isCut: pages.some((page) => page?.nextCursor !== undefined),
  };
}

export type BudgetKeyFieldProps = {
  readonly projectId: string;
  /** Empty: all calls count; undefined: the id of a key is still missing. */
  readonly keyId: string | undefined;
  readonly error: string | undefined;
  readonly onChange: (keyId: string | undefined) => void;
};

export function BudgetKeyField({ projectId, keyId, error, onChange }: BudgetKeyFieldProps) {
  const [choice, setChoice] = useState(keyId ?? another);
  // A list of thousands would be slower to choose from than an id is to paste.
  const { keys, isCut } = useBudgetKeys(projectId);
  const options = [
    { value: "", label: "All calls" },
    ...keys
      .filter(({ status }) => status === "active")
      .map((key) => ({ value: key.keyId, label: `${key.name} (${key.maskedPrefix})` })),
    { value: another, label: isCut ? "Another key" : "A key of the workspace or organization" },
  ];
  return (
    <>
      <SelectField
        label="Calls of"
        error={choice === another ? undefined : error}
        value={choice}
        options={options}
        onChange={(next) => {
          setChoice(next);
          onChange(next === another ? undefined : next);
        }}
      />
      {choice === another ? (
        <TextField
          label="Id of the key"
          hint={
            isCut
              ? `The newest ${limit} keys of each kind are listed; ids stand in Keys.`
              : undefined
          }
          error={error}
          value={keyId ?? ""}
          onChange={(text) => onChange(text.trim() || undefined)}
        />
      ) : null}
    </>
  );
}

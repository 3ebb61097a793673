// One entry of the audit log: who, what, when, and each field that changed, before and after.

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { AuditEntry } from "../../../../../gen/waggle/v1/audit_pb.js";
import { formatTime } from "../../design/format.ts";
import { Drawer } from "../../design/overlay.tsx";
import { Identifier, KeyValue } from "../../design/values.tsx";
import { toMs } from "../../api/scope.ts";

export type AuditEntryDrawerProps = { readonly entry: AuditEntry; readonly onClose: () => void };

export function AuditEntryDrawer({ entry, onClose }: AuditEntryDrawerProps) {
  const { actorName, actorType, actorId, action, scopeType, scopeId, targetType } = entry;
  const changes = changesOf(entry.before, entry.after);
  return (
    <Drawer isOpen onClose={onClose} title={action}>
      <div className="settings-sections">
        <KeyValue
          items={[
            { label: "When", value: formatTime(toMs(entry.at) ?? 0) },
            { label: "Who", value: `${actorName} (${actorType})` },
            { label: "Id of the actor", value: <Identifier value={actorId} /> },
            { label: "Where", value: scopeType },
            { label: "Id of the scope", value: <Identifier value={scopeId} /> },
            { label: "Changed", value: targetType },
            { label: "Its id", value: <Identifier value={entry.targetId} /> },
            { label: "Hash", value: <Identifier value={entry.hash} /> },
          ]}
        />
        {changes.length === 0 ? (
          <p className="settings-note">The entry has no state before or after.</p>
        ) : (
          <table className="settings-table audit-changes" aria-label="Changes">
            <thead>
              <tr>
                <th>Field</th>
                <th>Before</th>
                <th>After</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ field, before, after }) => (
                <tr key={field}>
                  <th scope="row">{field}</th>
                  <td data-change={before !== after && before !== undefined ? "gone" : undefined}>
                    {before ?? "–"}
                  </td>
                  <td data-change={before !== after && after !== undefined ? "new" : undefined}>
                    {after ?? "–"}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </Drawer>
  );
}

type Change = {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
};

/** Returns every field of either state as text; those that differ come first. */
function changesOf(before: JsonObject = {}, after: JsonObject = {}): readonly Change[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const all = fields.map((field) => ({
    field,
    before: textOf(before[field]),
    after: textOf(after[field]),
  }));
  const isChanged = (change: Change) => change.before !== change.after;
  return [...all.filter(isChanged), ...all.filter((change) => !isChanged(change))];
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

// Creates a key: name, and for fine-grained ones permissions and end; then shows its value, once.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import type { CreatedApiKey } from "../../../../../gen/waggle/v1/api_key_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { Copy } from "../../design/values.tsx";
import { faultOf } from "../../api/faults.ts";
import { type KeyKind, keyInput } from "./key-kinds.ts";
import { PermissionsPicker } from "./permissions-picker.tsx";
import type { ScopeRef } from "../../api/scope.ts";

const daysDefault = 90;
const dayMs = 86_400_000;

export type CreateKeyProps = {
  readonly kind: KeyKind;
  readonly scope: ScopeRef;
  readonly onClose: () => void;
};

export function CreateKey({ kind, scope, onClose }: CreateKeyProps) {
  const [created, setCreated] = useState<CreatedApiKey>();
  if (created) return <KeyValueOnce created={created} onClose={onClose} />;
  return <CreateForm kind={kind} scope={scope} onClose={onClose} onCreated={setCreated} />;
}

type CreateFormProps = CreateKeyProps & { readonly onCreated: (key: CreatedApiKey) => void };

function CreateForm({ kind, scope, onClose, onCreated }: CreateFormProps) {
  const [name, setName] = useState("");
  const [permissions, setPermissions] = useState<readonly string[]>([]);
  const [day, setDay] = useState(() => isoDay(Date.now() + daysDefault * dayMs));
  const create = useRpcMutation(kind.create, {
    changes: [kind.list],
    onDone: ({ data }) => data && onCreated(data),
  });
  const endMs = Date.parse(`${day}T23:59:59Z`);
  const isReady =
    name.trim() !== "" && (!kind.isFineGrained || (permissions.length > 0 && endMs > 0));
  const submit = () => {
    const fine = { permissions: [...permissions], expiresAt: timestampFromMs(endMs) };
    const fields = { name: name.trim(), ...(kind.isFineGrained && fine) };
    create.mutate(keyInput(kind, scope, fields));
  };
  return (
    <Dialog
      onClose={onClose}
      title={`Create a key: ${kind.title.toLowerCase()}`}
      description={kind.purpose}
      act={{
        label: "Create key",
        disabled: !isReady,
        busyLabel: "Creating…",
        run: submit,
        change: create,
        fields: ["name", "expires_at"],
      }}
    >
      <TextField
        label="Name"
        hint="Says where the key is used."
        error={faultOf(create.error, "name")}
        value={name}
        onChange={setName}
      />
      {kind.isFineGrained ? (
        <>
          <PermissionsPicker
            label="Permissions"
            value={permissions}
            onChange={setPermissions}
            orgId={scope.level === "org" ? scope.id : undefined}
          />
          <TextField
            label="Ends on"
            hint="The end of this day, in UTC."
            error={faultOf(create.error, "expires_at")}
            type="date"
            min={isoDay(Date.now())}
            value={day}
            onChange={setDay}
          />
        </>
      ) : null}
    </Dialog>
  );
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

type KeyValueOnceProps = { readonly created: CreatedApiKey; readonly onClose: () => void };

function KeyValueOnce({ created, onClose }: KeyValueOnceProps) {
  return (
    <Dialog
      isSticky
      onClose={onClose}
      title={`The key ${created.name}`}
      description="This is the only time that its value is shown: copy it to where it is used."
      actions={
        <Button variant="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <div className="key-once">
        <code>{created.keyValue}</code>
        <Copy text={created.keyValue} what="key" />
      </div>
    </Dialog>
  );
}

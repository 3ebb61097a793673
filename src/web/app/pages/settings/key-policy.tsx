// The key policy of an organization: which permissions its fine-grained keys may carry.

import { useState } from "react";
import { ApiKeyService } from "../../../../../gen/waggle/v1/api_key_pb.js";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { Time } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { PermissionsPicker } from "./permissions-picker.tsx";

const { method } = ApiKeyService;

export function KeyPolicy({ orgId }: { readonly orgId: string }) {
  const policy = useRpc(method.getApiKeyPolicy, { orgId });
  const scope = { level: "org", id: orgId } as const;
  const isReadOnly = !useMay(scope)(method.updateApiKeyPolicy);
  const [draft, setDraft] = useState<readonly string[]>();
  const update = useRpcMutation(method.updateApiKeyPolicy, {
    changes: [method.getApiKeyPolicy],
    onDone: () => {
      setDraft(undefined);
      showToast({ text: "The policy holds from now on.", tone: "good" });
    },
  });
  const data = policy.data?.data;
  if (!data) return <ReadState read={policy} what="Loading the policy" />;
  const shown = draft ?? data.permissions;
  return (
    <div className="settings-sections">
      <p className="settings-note">
        Fine-grained keys of this organization carry at most these permissions; <code>*</code> is
        everything. Keys that carry more keep only what the policy leaves, at once.
      </p>
      <ReadOnlyNote method={method.updateApiKeyPolicy} scope={scope} />
      {isReadOnly ? (
        <p>
          <code>{shown.join(", ")}</code>
        </p>
      ) : (
        <PermissionsPicker label="Permissions of the policy" value={shown} onChange={setDraft} />
      )}
      {data.updatedBy === undefined ? null : (
        <p className="settings-note">
          Changed <Time value={data.updatedAt} /> by {data.updatedBy}.
        </p>
      )}
      {update.error ? <ErrorState error={update.error} isInline /> : null}
      <div className="settings-acts">
        {isReadOnly ? null : (
          <Button
            variant="primary"
            disabled={draft === undefined || shown.length === 0}
            busyLabel={update.isPending && "Saving…"}
            onClick={() => update.mutate({ orgId, permissions: [...shown] })}
          >
            Save policy
          </Button>
        )}
        {draft === undefined ? null : (
          <Button onClick={() => setDraft(undefined)}>Discard changes</Button>
        )}
      </div>
    </div>
  );
}

// The key of a program: created here and put into it at once, where the person may create keys. Its
// value is shown this once.

import { KeyRound } from "lucide-react";
import {
  ApiKeyService,
  type CreateApiKeyResponse,
} from "../../../../../../gen/waggle/v1/api_key_pb.js";
import { useRpc, useRpcMutation } from "../../../api/query.ts";
import { useCurrentProjectId } from "../../../api/project.ts";
import { Button } from "../../../design/button.tsx";
import { ErrorState } from "../../../design/states.tsx";
import { Copy } from "../../../design/values.tsx";
import { useMay } from "../../../session/use-may.ts";
import { keyPlaceholder } from "./snippets.ts";

export type KeyStepProps = {
  readonly kind: "ingestion" | "project";
  /** Value of the key that was created here. */
  readonly value: string | undefined;
  readonly onCreated: (value: string) => void;
};

const names = { ingestion: "First trace", project: "First call" } as const;

export function KeyStep({ kind, value, onCreated }: KeyStepProps) {
  const projectId = useCurrentProjectId();
  const may = useMay();
  const { method } = ApiKeyService;
  const isIngestion = kind === "ingestion";
  const onDone = ({ data }: CreateApiKeyResponse): void => {
    if (data) onCreated(data.keyValue);
  };
  const ingestion = useRpcMutation(method.createIngestionApiKey, {
    changes: [method.listIngestionApiKeys],
    onDone,
  });
  const project = useRpcMutation(method.createProjectApiKey, {
    changes: [method.listProjectApiKeys],
    onDone,
  });
  const create = isIngestion ? ingestion : project;
  const isAllowed = may(isIngestion ? method.createIngestionApiKey : method.createProjectApiKey);
  const hasEarlier = useHasEarlierKey(kind, isAllowed) && !create.isPending;
  if (value !== undefined) {
    return (
      <div className="key-step" role="status">
        <KeyRound aria-hidden />
        <span>
          The key is in the program below. Keep it now: it is not shown again once you leave this
          page.
          <span className="key-step-value">
            <code>{value}</code>
            <Copy text={value} what="key" />
          </span>
        </span>
      </div>
    );
  }
  if (!isAllowed) {
    return (
      <p className="key-step">
        <KeyRound aria-hidden />
        <span>
          Put a key of this project in place of <code>{keyPlaceholder}</code>; an administrator of
          the project creates one under Settings, Keys.
        </span>
      </p>
    );
  }
  return (
    <div className="key-step">
      <KeyRound aria-hidden />
      <span>
        {isIngestion
          ? "An ingestion key may send events and read nothing."
          : "A project key may run models, and read and write all traces of the project."}
        {hasEarlier ? (
          <>
            {" "}
            The key “{names[kind]}” was made on an earlier visit and cannot be shown again: put it
            in place of <code>{keyPlaceholder}</code> if you kept it, or make another.
          </>
        ) : null}
      </span>
      <Button
        size="small"
        variant="primary"
        busyLabel={create.isPending && "Creating…"}
        onClick={() => create.mutate({ projectId, name: names[kind] })}
      >
        {`Create ${hasEarlier ? "another " : ""}${kind} key`}
      </Button>
      {create.error ? <ErrorState error={create.error} isInline /> : null}
    </div>
  );
}

/** Returns whether a key of the name that this page gives was made before. */
function useHasEarlierKey(kind: KeyStepProps["kind"], isEnabled: boolean): boolean {
  const projectId = useCurrentProjectId();
  const { method } = ApiKeyService;
  const isIngestion = kind === "ingestion";
  const ingestion = useRpc(
    method.listIngestionApiKeys,
    { projectId },
    { isEnabled: isEnabled && isIngestion },
  );
  const project = useRpc(
    method.listProjectApiKeys,
    { projectId },
    { isEnabled: isEnabled && !isIngestion },
  );
  const { data } = isIngestion ? ingestion : project;
  return (
    data?.data.some(({ name, status }) => name === names[kind] && status === "active") === true
  );
}

// Adds or changes the credentials of a provider. Secrets are sent and never shown again; one that
// stays empty in a change stays as it is stored.

import { useState } from "react";
import { LlmProxyService } from "../../../../../gen/waggle/v1/llm_proxy_pb.js";
import {
  type ProviderCredential,
  ProviderCredentialService,
} from "../../../../../gen/waggle/v1/provider_credential_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { SelectField, TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { faultOf } from "../../api/faults.ts";
import { connectionScope, type ScopeRef } from "../../api/scope.ts";

const { method } = ProviderCredentialService;

/** Rpcs that answer which models there are. */
export const modelMethods = [LlmProxyService.method.listModels];

type FieldName = Exclude<keyof typeof fieldLabels, never>;

const fieldLabels = {
  name: "Name",
  baseUrl: "Address",
  apiKey: "API key",
  resourceName: "Resource",
  apiVersion: "API version",
  region: "Region",
  accessKeyId: "Access key id",
  secretAccessKey: "Secret access key",
  sessionToken: "Session token",
} as const;

const secretFields: readonly FieldName[] = [
  "apiKey",
  "accessKeyId",
  "secretAccessKey",
  "sessionToken",
];

const keyed = ["apiKey", "baseUrl"] as const;

const fieldsOf: Readonly<Record<string, readonly FieldName[]>> = {
  openai: keyed,
  anthropic: keyed,
  google: keyed,
  mistral: keyed,
  openai_compatible: ["baseUrl", "apiKey"],
  azure: ["apiKey", "resourceName", "apiVersion", "baseUrl"],
  bedrock: ["region", "accessKeyId", "secretAccessKey", "sessionToken"],
};

const providerNames: Readonly<Record<string, string>> = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
  mistral: "Mistral",
  azure: "Azure OpenAI",
  bedrock: "Amazon Bedrock",
  openai_compatible: "OpenAI-compatible server",
};

export type ProviderFormProps = {
  readonly scope: ScopeRef;
  readonly before: ProviderCredential | undefined;
  readonly onClose: () => void;
};

export function ProviderForm({ scope, before, onClose }: ProviderFormProps) {
  const [provider, setProvider] = useState(before?.provider ?? "openai");
  const [typed, setTyped] = useState<Readonly<Partial<Record<FieldName, string>>>>({
    baseUrl: before?.baseUrl ?? "",
    resourceName: before?.resourceName ?? "",
    apiVersion: before?.apiVersion ?? "",
    region: before?.region ?? "",
  });
  const options = {
    changes: [method.listProviderCredentials, ...modelMethods],
    onDone: onClose,
  };
  const create = useRpcMutation(method.createProviderCredential, options);
  const update = useRpcMutation(method.updateProviderCredential, options);
  const change = before ? update : create;
  const shown = [...(before ? [] : (["name"] as const)), ...(fieldsOf[provider] ?? [])];
  const submit = () => {
    const entries = shown.flatMap((name) => {
      const text = typed[name]?.trim() ?? "";
      return text === "" ? [] : [[name, text] as const];
    });
    const fields = { scope: connectionScope(scope), ...Object.fromEntries(entries) };
    if (before) update.mutate({ ...fields, credentialId: before.credentialId });
    else create.mutate({ ...fields, provider });
  };
  return (
    <Dialog
      onClose={onClose}
      title={before ? `Change ${before.name}` : "Add a provider"}
      description="Secrets are stored encrypted and never shown again."
      act={{
        label: before ? "Save credentials" : "Add provider",
        busyLabel: "Saving…",
        run: submit,
        change,
        fields: shown.map(toApiName),
      }}
    >
      {before ? null : (
        <SelectField
          label="Provider"
          value={provider}
          options={Object.entries(providerNames).map(([value, label]) => ({ value, label }))}
          onChange={setProvider}
        />
      )}
      {shown.map((name) => (
        <TextField
          key={name}
          label={fieldLabels[name]}
          hint={hintOf(name, provider, before)}
          error={faultOf(change.error, toApiName(name))}
          type={secretFields.includes(name) ? "password" : "text"}
          autoComplete={secretFields.includes(name) ? "new-password" : "off"}
          value={typed[name] ?? ""}
          onChange={(text) => setTyped({ ...typed, [name]: text })}
        />
      ))}
    </Dialog>
  );
}

/** Returns the name of a field as the service's messages have it. */
function toApiName(name: FieldName): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function hintOf(name: FieldName, provider: string, before: ProviderCredential | undefined) {
  if (name === "name") return `Models are called ${provider}/… without one.`;
  if (secretFields.includes(name) && before) return "Empty: the stored one stays.";
  if (name === "baseUrl" && provider !== "openai_compatible") return "Empty: the provider's own.";
  return undefined;
}

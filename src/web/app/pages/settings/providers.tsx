// Providers of models in a scope: credentials, whose secrets are written and never read, aliases,
// which stand for models in an order of fallbacks, and prices.

import { Plus } from "lucide-react";
import { useState } from "react";
import {
  type ProviderCredential,
  ProviderCredentialService,
} from "../../../../../gen/waggle/v1/provider_credential_pb.js";
import { useRpcPages } from "../../api/query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { ItemActs } from "../../design/item-acts.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { Time } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { type May, useMay } from "../../session/use-may.ts";
import { ModelAliasService } from "../../../../../gen/waggle/v1/model_alias_pb.js";
import { ModelPriceService } from "../../../../../gen/waggle/v1/model_price_pb.js";
import { Aliases } from "./aliases.tsx";
import { Prices } from "./prices.tsx";
import { modelMethods, ProviderForm } from "./provider-form.tsx";
import { connectionScope, levelNames, type ScopeRef } from "../../api/scope.ts";
import { type SettingsColumn, SettingsTable } from "./settings-table.tsx";

const { method } = ProviderCredentialService;

export function Providers({ scope }: { readonly scope: ScopeRef }) {
  const [open, setOpen] = useState<ProviderCredential | "new">();
  const [leaving, setLeaving] = useState<ProviderCredential>();
  const may = useMay(scope);
  const list = useRpcPages(method.listProviderCredentials, {
    scope: connectionScope(scope),
    limit: 1_000,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="settings-sections">
      <div className="settings-acts">
        <h2>Credentials</h2>
        {may(method.createProviderCredential) ? (
          <Button variant="primary" icon={<Plus />} onClick={() => setOpen("new")}>
            Add provider
          </Button>
        ) : null}
      </div>
      <ReadOnlyNote method={method.createProviderCredential} scope={scope} />
      {list.error || !list.data ? (
        <ReadState read={list} what="Loading providers" />
      ) : rows.length === 0 ? (
        <EmptyState title="No provider of its own">
          This {levelNames[scope.level]} uses the providers of the scopes above it and of the
          deployment.
          {may(method.createProviderCredential) ? " Add one to use your own account there." : null}
        </EmptyState>
      ) : (
        <CredentialTable may={may} rows={rows} onEdit={setOpen} onRemove={setLeaving} />
      )}
      {may(ModelAliasService.method.listModelAliases) ? <Aliases scope={scope} /> : null}
      {may(ModelPriceService.method.listModelPrices) ? <Prices scope={scope} /> : null}
      {open === undefined ? null : (
        <ProviderForm
          scope={scope}
          before={open === "new" ? undefined : open}
          onClose={() => setOpen(undefined)}
        />
      )}
      {leaving ? (
        <ConfirmCall
          onClose={() => setLeaving(undefined)}
          title={`Delete the credentials ${leaving.name}`}
          description={
            `Calls of ${leaving.name}/… fail from then on. ` + "The secrets are deleted for good."
          }
          action="Delete credentials"
          busyLabel="Deleting…"
          method={method.deleteProviderCredential}
          input={{ scope: connectionScope(scope), credentialId: leaving.credentialId }}
          changes={[method.listProviderCredentials, ...modelMethods]}
        />
      ) : null}
    </div>
  );
}

type CredentialTableProps = {
  readonly may: May;
  readonly rows: readonly ProviderCredential[];
  readonly onEdit: (credential: ProviderCredential) => void;
  readonly onRemove: (credential: ProviderCredential) => void;
};

function CredentialTable({ may, rows, onEdit, onRemove }: CredentialTableProps) {
  const columns: readonly SettingsColumn<ProviderCredential>[] = [
    { header: "Name", cell: ({ name }) => <code>{name}/</code> },
    { header: "Provider", cell: ({ provider }) => provider },
    {
      header: "Address",
      titleOf: ({ baseUrl }) => baseUrl,
      cell: ({ baseUrl, resourceName, region }) => (
        <span className="truncate">{baseUrl ?? resourceName ?? region ?? "its own"}</span>
      ),
    },
    {
      header: "Secrets",
      cell: ({ secrets }) => secrets.map((secret) => <Badge key={secret}>{secret} stored</Badge>),
    },
    { header: "Changed", cell: ({ updatedAt }) => <Time value={updatedAt} /> },
    {
      header: "Acts",
      isHeaderHidden: true,
      isMajor: true,
      className: "settings-row-acts",
      cell: (one) => (
        <ItemActs
          item={one.name}
          onChange={may(method.updateProviderCredential) && (() => onEdit(one))}
          onDelete={may(method.deleteProviderCredential) && (() => onRemove(one))}
        />
      ),
    },
  ];
  return (
    <SettingsTable
      label="Credentials"
      columns={columns}
      rows={rows}
      idOf={({ credentialId }) => credentialId}
    />
  );
}

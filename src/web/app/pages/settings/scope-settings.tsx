// The settings of one scope in tabs: which there are depends on its level.

import type { DescMethod } from "@bufbuild/protobuf";
import type { ReactNode } from "react";
import { ApiKeyService } from "../../../../../gen/waggle/v1/api_key_pb.js";
import { ArchivalService } from "../../../../../gen/waggle/v1/archival_pb.js";
import { AuditService } from "../../../../../gen/waggle/v1/audit_pb.js";
import { BudgetService } from "../../../../../gen/waggle/v1/budget_pb.js";
import { IngestionService } from "../../../../../gen/waggle/v1/ingestion_pb.js";
import { MaskingService } from "../../../../../gen/waggle/v1/masking_pb.js";
import { MemberService } from "../../../../../gen/waggle/v1/member_pb.js";
import { ModelAliasService } from "../../../../../gen/waggle/v1/model_alias_pb.js";
import { ModelPriceService } from "../../../../../gen/waggle/v1/model_price_pb.js";
import { ProviderCredentialService } from "../../../../../gen/waggle/v1/provider_credential_pb.js";
import { RetentionService } from "../../../../../gen/waggle/v1/retention_pb.js";
import type { ArchivedScope } from "../../../../../gen/waggle/v1/scope_pb.js";
import { ErrorState, Loading } from "../../design/states.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { ClosedNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { Archivals } from "./archivals.tsx";
import { AuditLog } from "./audit-log.tsx";
import { Budgets } from "./budgets.tsx";
import { General } from "./general.tsx";
import { IngestionSettings } from "./ingestion.tsx";
import { KeyPolicy } from "./key-policy.tsx";
import { keyKindsAt } from "./key-kinds.ts";
import { Keys } from "./keys.tsx";
import { MaskingSettings } from "./masking.tsx";
import { Members } from "./members.tsx";
import { Providers } from "./providers.tsx";
import { RetentionSettings } from "./retention.tsx";
import { type Level, type ScopeData, type ScopeRef, useScope } from "../../api/scope.ts";
import "./settings.css";

const tabsOf: Readonly<Record<Level, readonly string[]>> = {
  org: ["general", "members", "keys", "key-policy", "providers", "archivals", "audit"],
  dataplane: ["general", "members"],
  workspace: ["general", "members", "keys", "providers"],
  project: [
    "general",
    "members",
    "keys",
    "ingestion",
    "providers",
    "budgets",
    "masking",
    "retention",
  ],
};

/** Rpcs that read what a tab shows, but that of keys. */
const tabReads: Readonly<Record<string, readonly DescMethod[]>> = {
  members: [MemberService.method.listMembers],
  "key-policy": [ApiKeyService.method.getApiKeyPolicy],
  providers: [
    ProviderCredentialService.method.listProviderCredentials,
    ModelAliasService.method.listModelAliases,
    ModelPriceService.method.listModelPrices,
  ],
  ingestion: [IngestionService.method.getIngestion],
  budgets: [BudgetService.method.listBudgets],
  masking: [MaskingService.method.getMasking],
  retention: [RetentionService.method.getRetention],
  archivals: [ArchivalService.method.listArchivals],
  audit: [AuditService.method.listAuditLog],
};

/** Returns the rpcs that read what a tab shows; one of them that is permitted is enough. */
function readsOf(tab: string, level: Level): readonly DescMethod[] {
  return tab === "keys" ? keyKindsAt(level).map(({ list }) => list) : (tabReads[tab] ?? []);
}

const tabNames: Readonly<Record<string, string>> = {
  general: "General",
  members: "Members",
  keys: "Keys",
  "key-policy": "Key policy",
  providers: "Providers",
  ingestion: "Ingestion",
  budgets: "Budgets",
  masking: "Masking",
  retention: "Retention",
  archivals: "Archivals",
  audit: "Audit log",
};

export type ScopeSettingsProps = {
  readonly scope: ScopeRef;
  readonly tab: string | undefined;
  readonly onTab: (tab: string) => void;
  readonly onArchived: (archived: ArchivedScope) => void;
};

export function ScopeSettings({ scope, tab, onTab, onArchived }: ScopeSettingsProps) {
  const { scope: data, error, refetch } = useScope(scope);
  const may = useMay(scope);
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the settings" />;
  // A tab of the address stays, so that the person reads why it is empty.
  const isOpen = (one: string): boolean => {
    const reads = readsOf(one, scope.level);
    return reads.length === 0 || reads.some(may);
  };
  const tabs = tabsOf[scope.level].filter((one) => one === tab || isOpen(one));
  const chosen = tab !== undefined && tabs.includes(tab) ? tab : "general";
  return (
    <div className="settings-tabs">
      <Tabs
        label="Settings"
        value={chosen}
        onChange={onTab}
        tabs={tabs.map((value) => ({
          value,
          label: tabNames[value] ?? value,
          content: (
            <div className="settings-tab" key={scope.id}>
              {isOpen(value) ? (
                contentOf(value, scope, data, onArchived)
              ) : (
                <ClosedNote
                  title={tabNames[value] ?? value}
                  methods={readsOf(value, scope.level)}
                  scope={scope}
                />
              )}
            </div>
          ),
        }))}
      />
    </div>
  );
}

function contentOf(
  tab: string,
  scope: ScopeRef,
  data: ScopeData,
  onArchived: ScopeSettingsProps["onArchived"],
): ReactNode {
  switch (tab) {
    case "members":
      return <Members scope={scope} />;
    case "keys":
      return <Keys scope={scope} />;
    case "key-policy":
      return <KeyPolicy orgId={scope.id} />;
    case "providers":
      return <Providers scope={scope} />;
    case "ingestion":
      return <IngestionSettings projectId={scope.id} />;
    case "budgets":
      return <Budgets projectId={scope.id} />;
    case "masking":
      return <MaskingSettings projectId={scope.id} />;
    case "retention":
      return <RetentionSettings projectId={scope.id} />;
    case "archivals":
      return <Archivals orgId={scope.id} />;
    case "audit":
      return <AuditLog orgId={scope.id} />;
    default:
      return <General scope={scope} data={data} onArchived={onArchived} />;
  }
}

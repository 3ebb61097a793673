// The saved prompts of a project, with the environments where a version is deployed.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { MessageSquareText } from "lucide-react";
import {
  type Configuration,
  ConfigurationService,
} from "../../../../../gen/waggle/v1/configuration_pb.js";
import { sharedRefreshMs, useRpc } from "../../api/query.ts";
import { Badge } from "../../design/badge.tsx";
import { idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import { Select } from "../../design/input.tsx";
import { EmptyState } from "../../design/states.tsx";
import type { Column } from "../../design/table.tsx";
import { ItemTable, useNewItem } from "../../shell/item-table.tsx";
import { Page } from "../../shell/page.tsx";
import { useSearchChange } from "../../shell/search.ts";
import { NewPromptDialog } from "./new-prompt-dialog.tsx";
import { environments, toContent } from "./prompt-content.ts";
import { promptsRoute, type PromptsSearch } from "./route.tsx";
import "./prompts.css";

const columns: readonly Column<Configuration>[] = [
  textColumn({
    id: "name",
    header: "Prompt",
    width: 200,
    grow: 1,
    sortValue: ({ name }) => name,
    text: ({ name }) => name,
  }),
  {
    id: "environments",
    header: "Deployed in",
    width: 190,
    cell: ({ env }) =>
      env.length === 0 ? <span className="faint">nowhere</span> : <Environments names={env} />,
  },
  {
    id: "model",
    header: "Model",
    width: 190,
    cell: ({ provider, parameters }) => (
      <span className="truncate">{`${provider}/${toContent(provider, parameters).model}`}</span>
    ),
  },
  { id: "version", header: "Version", width: 80, align: "end", cell: ({ version }) => version },
  timeColumn({
    id: "changed",
    isMajor: true,
    header: "Changed",
    sortValue: ({ updatedAt }) => updatedAt && timestampMs(updatedAt),
    at: ({ updatedAt }) => updatedAt,
  }),
  idColumn({ idOf: ({ id }) => id }),
];

function Environments({ names }: { readonly names: readonly string[] }) {
  return (
    <span className="badges">
      {names.map((name) => (
        <Badge key={name} tone={name === "prod" ? "good" : "neutral"}>
          {name}
        </Badge>
      ))}
    </span>
  );
}

export function PromptsPage() {
  const { env = "" } = promptsRoute.useSearch();
  const setSearch = useSearchChange<PromptsSearch>();
  const list = useRpc(ConfigurationService.method.listConfigurations, env === "" ? {} : { env }, {
    keepsPrevious: true,
    refreshMs: sharedRefreshMs,
  });
  const { create, creating } = useNewItem({
    path: "prompts",
    method: ConfigurationService.method.createConfiguration,
    title: "Create a prompt",
    label: "Create prompt",
    dialog: (onClose, onCreated) => <NewPromptDialog onClose={onClose} onCreated={onCreated} />,
  });
  return (
    <Page
      title="Prompts"
      actions={create}
      toolbar={
        <Select
          isSmall
          aria-label="Environment"
          value={env}
          options={[
            { value: "", label: "All environments" },
            ...environments.map((name) => ({ value: name, label: `Deployed in ${name}` })),
          ]}
          onChange={(next) => setSearch({ env: next === "" ? undefined : next })}
        />
      }
    >
      <ItemTable
        path="prompts"
        label="Prompts"
        read={list}
        columns={columns}
        rows={list.data?.configurations}
        empty={
          <EmptyState icon={<MessageSquareText />} title="No prompts here" action={create}>
            A prompt keeps messages, model and parameters with every version, so that programs call
            it by name and you deploy it without a release.
          </EmptyState>
        }
      />
      {creating}
    </Page>
  );
}

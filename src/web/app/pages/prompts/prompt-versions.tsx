// PromptVersions: the versions of a prompt, deployed by one choice, their calls, and what differs
// between two.

import { Link } from "@tanstack/react-router";
import { Rocket } from "lucide-react";
import {
  type Configuration,
  ConfigurationService,
} from "../../../../../gen/waggle/v1/configuration_pb.js";
import {
  type ConfigurationVersion,
  ConfigurationVersionService,
} from "../../../../../gen/waggle/v1/configuration_version_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { Select } from "../../design/input.tsx";
import { Menu } from "../../design/menu.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { monthRange, type TimeRange } from "../../design/time-range.ts";
import { Time } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { useSearchChange } from "../../shell/search.ts";
import { useEventFields } from "../traces/event-fields.ts";
import { callFilters, PromptCalls, promptField, versionField } from "./prompt-calls.tsx";
import { environments } from "./prompt-content.ts";
import { PromptDiff } from "./prompt-diff.tsx";
import { promptRoute, type PromptSearch } from "./route.tsx";

const { listConfigurationVersions, deployConfigurationVersion } =
  ConfigurationVersionService.method;

export function PromptVersions({ prompt }: { readonly prompt: Configuration }) {
  // A filter by a field that no event has would be refused.
  const fields = useEventFields();
  const { from, to, range = monthRange } = promptRoute.useSearch();
  const choose = useSearchChange<PromptSearch>();
  const answer = useRpc(listConfigurationVersions, { id: prompt.id });
  const { data, error } = answer;
  if (error || !data) return <ReadState read={answer} what="Loading versions" />;
  const isCalled = fields.some(({ name }) => name === promptField);
  const versions = data.data.toReversed();
  const newer = to ?? versions[0]?.name;
  const older = from ?? versions[1]?.name;
  const options = versions.map(({ name }) => ({ value: name, label: name }));
  return (
    <div className="form">
      <ol>
        {versions.map((version) => (
          <VersionRow
            key={version.name}
            promptId={prompt.id}
            version={version}
            range={isCalled ? range : undefined}
          />
        ))}
      </ol>
      {isCalled ? (
        <PromptCalls
          promptId={prompt.id}
          range={range}
          onRange={(next) => choose({ range: next })}
        />
      ) : null}
      {newer === undefined || older === undefined ? (
        <p className="soft">There is one version. Save a change, and both can be compared here.</p>
      ) : (
        <section className="section">
          <h2>What differs</h2>
          <div className="form-row">
            <Select
              aria-label="From version"
              value={older}
              options={options}
              onChange={(value) => choose({ from: value })}
            />
            <Select
              aria-label="To version"
              value={newer}
              options={options}
              onChange={(value) => choose({ to: value })}
            />
          </div>
          <PromptDiff promptId={prompt.id} from={older} to={newer} />
        </section>
      )}
    </div>
  );
}

type VersionRowProps = {
  readonly promptId: string;
  readonly version: ConfigurationVersion;
  /** Range of the calls that the row leads to; undefined if no event names a prompt. */
  readonly range: TimeRange | undefined;
};

function VersionRow({ promptId, version, range }: VersionRowProps) {
  const projectId = useCurrentProjectId();
  const mayDeploy = useMay()(deployConfigurationVersion);
  const deploy = useRpcMutation(deployConfigurationVersion, {
    changes: [
      listConfigurationVersions,
      ConfigurationService.method.getConfiguration,
      ConfigurationService.method.listConfigurations,
    ],
    onDone: () => showToast({ text: `${version.name} was deployed.`, tone: "good" }),
  });
  return (
    <li className="version-row">
      <span className="badges">
        <b>{version.name}</b>
        {version.env.map((name) => (
          <Badge key={name} tone={name === "prod" ? "good" : "neutral"}>
            {name}
          </Badge>
        ))}
      </span>
      <span className="soft truncate" title={version.message}>
        <Time value={version.date} /> {version.message}
      </span>
      {range === undefined ? null : (
        <Link
          to="/app/p/$projectId/traces"
          params={{ projectId }}
          search={{
            tab: "events",
            range,
            filters: [
              ...callFilters(promptId),
              { field: versionField, operator: "is", value: version.name },
            ],
          }}
        >
          Calls of {version.name}
        </Link>
      )}
      <Menu
        align="end"
        trigger={
          <Button size="small" icon={<Rocket />} busyLabel={deploy.isPending && "Deploying"}>
            Deploy {version.name}
          </Button>
        }
        items={environments.map(
          (env) =>
            mayDeploy && {
              label: env,
              isDisabled: version.env.includes(env),
              onSelect: () => deploy.mutate({ id: promptId, version: version.name, env }),
            },
        )}
      />
      {deploy.error ? <ErrorState error={deploy.error} isInline /> : null}
    </li>
  );
}

// The cases of golden.test.ts on configurations, tools, executions and the progress of runs.
// Source: docs/decisions.md, 39.6, 44.1 to 44.4.

import type { JsonObject } from "@bufbuild/protobuf";
import { OldConfigurationService } from "../../gen/waggle/compat/v0/configuration_pb.js";
import { OldProjectService } from "../../gen/waggle/compat/v0/project_pb.js";
import { ToolService } from "../../gen/waggle/compat/v0/tool_pb.js";
import { ConfigurationService } from "../../gen/waggle/v1/configuration_pb.js";
import { ConfigurationVersionService } from "../../gen/waggle/v1/configuration_version_pb.js";
import { ExecutionService } from "../../gen/waggle/v1/execution_pb.js";
import { RunService } from "../../gen/waggle/v1/run_pb.js";
import { type Case, golden, type Request } from "./golden-case.ts";

const configuration = ConfigurationService.method;
const version = ConfigurationVersionService.method;
const execution = ExecutionService.method;
const tool = ToolService.method;

const prompt: JsonObject = {
  name: "asker",
  provider: "openai",
  parameters: {
    call_type: "chat",
    model: "gpt-4o-mini",
    hyperparameters: { temperature: 0 },
    template: [{ role: "user", content: "{{ question }}" }],
  },
  env: ["dev"],
  tags: ["t"],
};
const aConfiguration: Request = { route: "POST /v1/configurations", body: prompt };

const theConfiguration: JsonObject = { id: "{configuration_id}" };
const configurationPath = "/v1/configurations/{configuration_id}";
const change: JsonObject = {
  parameters: {
    call_type: "chat",
    model: "gpt-4o",
    template: [{ role: "user", content: "Briefly: {{ question }}" }],
  },
};
const twoVersions: readonly Request[] = [
  aConfiguration,
  { route: `PUT ${configurationPath}`, body: change },
];

const versions: readonly Case[] = [
  golden(
    "get-v1-configuration/one",
    `GET ${configurationPath}?env=dev`,
    configuration.getConfiguration,
    {
      given: twoVersions,
      message: { ...theConfiguration, env: "dev" },
    },
  ),
  golden(
    "put-v1-configuration/changed",
    `PUT ${configurationPath}`,
    configuration.updateConfiguration,
    {
      given: [aConfiguration],
      body: change,
      message: { ...theConfiguration, ...change },
    },
  ),
  golden(
    "delete-v1-configuration/deleted",
    `DELETE ${configurationPath}`,
    configuration.deleteConfiguration,
    {
      given: [aConfiguration],
      message: theConfiguration,
    },
  ),
  golden(
    "get-v1-configuration-versions/one",
    `GET ${configurationPath}/versions/v1`,
    version.getConfigurationVersion,
    { given: twoVersions, message: { ...theConfiguration, version: "v1" } },
  ),
  golden(
    "get-v1-configuration-versions/compared",
    `GET ${configurationPath}/versions/v1/compare/v2`,
    version.compareConfigurationVersions,
    { given: twoVersions, message: { ...theConfiguration, version: "v1", other: "v2" } },
  ),
  golden(
    "post-v1-configuration-versions/deployed",
    `POST ${configurationPath}/versions/v2/deploy`,
    version.deployConfigurationVersion,
    {
      given: twoVersions,
      body: { env: "prod" },
      message: { ...theConfiguration, version: "v2", env: "prod" },
    },
  ),
];

/** What older clients see; lists are bare arrays over REST. */
const older: readonly Case[] = [
  golden(
    "get-configurations/listed",
    "GET /configurations?project=demo&env=dev",
    OldConfigurationService.method.listOldConfigurations,
    { given: twoVersions, message: { env: "dev" }, list: "configurations" },
  ),
  golden("post-configurations/created", "POST /configurations", configuration.createConfiguration, {
    body: { ...prompt, project: "demo" },
  }),
  golden(
    "put-configuration/changed",
    "PUT /configurations/{configuration_id}",
    configuration.updateConfiguration,
    { given: [aConfiguration], body: change, message: { ...theConfiguration, ...change } },
  ),
  golden(
    "delete-configuration/deleted",
    "DELETE /configurations/{configuration_id}",
    configuration.deleteConfiguration,
    { given: [aConfiguration], message: theConfiguration },
  ),
  golden("get-projects/own", "GET /projects?name=demo", OldProjectService.method.listOldProjects, {
    message: { name: "demo" },
    list: "projects",
  }),
];

const configurations: readonly Case[] = [
  golden(
    "post-v1-configurations/created",
    "POST /v1/configurations",
    configuration.createConfiguration,
    { body: prompt },
  ),
  golden(
    "post-v1-configurations/taken",
    "POST /v1/configurations",
    configuration.createConfiguration,
    { given: [aConfiguration], body: prompt },
  ),
  golden(
    "get-v1-configurations/listed",
    "GET /v1/configurations?name=asker",
    configuration.listConfigurations,
    { given: [aConfiguration], message: { name: "asker" }, key: "readOnly" },
  ),
  golden(
    "get-v1-configuration-versions/listed",
    "GET /v1/configurations/{configuration_id}/versions",
    version.listConfigurationVersions,
    { given: [aConfiguration], message: { id: "{configuration_id}" } },
  ),
  golden(
    "get-v1-configuration-versions/absent",
    "GET /v1/configurations/{configuration_id}/versions/v9",
    version.getConfigurationVersion,
    { given: [aConfiguration], message: { id: "{configuration_id}", version: "v9" } },
  ),
];

const find: JsonObject = { name: "find", description: "Finds", parameters: { type: "object" } };

const aTool: Request = { route: "POST /tools", body: { ...find, task: "demo", type: "function" } };

const tools: readonly Case[] = [
  golden("post-tools/created", "POST /tools", tool.createTool, {
    body: { ...find, task: "demo", type: "function" },
  }),
  golden("get-tools/none", "GET /tools", tool.listTools, { list: "tools" }),
  golden("get-tools/listed", "GET /tools", tool.listTools, { given: [aTool], list: "tools" }),
  golden("put-tools/changed", "PUT /tools", tool.updateTool, {
    given: [aTool],
    body: { ...find, id: "{tool_id}", description: "Finds more" },
  }),
  golden("delete-tools/deleted", "DELETE /tools?function_id={tool_id}", tool.deleteTool, {
    given: [aTool],
    message: { function_id: "{tool_id}" },
  }),
];

const runId = "5e551000-0000-4000-8000-0000000000e1";
const theRun: JsonObject = { run_id: runId };
const executable: readonly Request[] = [
  { route: "POST /v1/datasets", body: { name: "questions" } },
  {
    route: "POST /v1/datapoints",
    body: { inputs: { question: "Where to?" }, linked_datasets: ["{dataset_id}"] },
  },
  aConfiguration,
  {
    route: "POST /v1/runs",
    body: { run_id: runId, name: "nightly", dataset_id: "{dataset_id}" },
  },
];
const path = `/v1/runs/${runId}`;
const order: JsonObject = { configuration: "asker", environment: "dev", concurrency: 2 };
const executed: readonly Request[] = [
  ...executable,
  { route: `POST ${path}/execute`, body: order },
];

const executions: readonly Case[] = [
  golden("post-v1-run-execute/started", `POST ${path}/execute`, execution.executeRun, {
    given: executable,
    body: order,
    message: { ...theRun, ...order },
  }),
  golden("post-v1-run-execute/no-configuration", `POST ${path}/execute`, execution.executeRun, {
    given: executable,
    body: { configuration: "absent" },
    message: { ...theRun, configuration: "absent" },
  }),
  golden("get-v1-run-execution/running", `GET ${path}/execution`, execution.getExecution, {
    given: executed,
    message: theRun,
    key: "readOnly",
  }),
  golden("get-v1-run-execution/absent", `GET ${path}/execution`, execution.getExecution, {
    given: executable,
    message: theRun,
  }),
  golden(
    "post-v1-run-execution-cancel/cancelling",
    `POST ${path}/execution/cancel`,
    execution.cancelExecution,
    { given: executed, body: {}, message: theRun },
  ),
  golden(
    "post-v1-run-execution-resume/running",
    `POST ${path}/execution/resume`,
    execution.resumeExecution,
    { given: executed, body: {}, message: theRun },
  ),
  golden(
    "get-v1-run-progress/no-events",
    `GET ${path}/progress`,
    RunService.method.getRunProgress,
    {
      given: executable,
      message: theRun,
    },
  ),
];

export const promptCases: readonly Case[] = [
  ...configurations,
  ...versions,
  ...older,
  ...tools,
  ...executions,
];

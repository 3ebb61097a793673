// Who may call what: one row for each REST form of each rpc, written beside the protos and held
// against them by access.test.ts. A route added without a row fails there.
// Source: docs/spec.md, "Authentication"; docs/decisions.md, 13, 33, 35.

import type { KeyKind } from "../../src/access/principal.ts";
import { anAlert } from "../support/alerts.ts";

/** The state that a call needs before it can succeed. */
export type Need =
  | "session"
  | "generation"
  | "metric"
  | "metric and event"
  | "metric and human metric"
  | "judge"
  | "backfill"
  | "dataset"
  | "queue"
  | "alert"
  | "budget"
  | "run"
  | "runnable"
  | "execution"
  | "ended execution"
  | "member"
  | "configuration"
  | "tool"
  | "credential"
  | "alias"
  | "price"
  | "archival"
  | KeyKind
  | Created;

/** A resource that a request of the project's key creates; `id` is its name in paths. */
export type Created = { readonly post: string; readonly body: unknown; readonly id: string };

/** An address without a listener, which the operator allows for webhooks. */
export const nowhere = "http://127.0.0.1:9/";

export type Row = {
  /** HTTP method and path template. */
  readonly route: string;
  readonly rpc: string;
  readonly permission: string;
  readonly kinds: readonly KeyKind[];
  /** Holds ids as the path does: `{metric_id}`. */
  readonly body?: unknown;
  /** Content type of the body; default: JSON. */
  readonly type?: string;
  readonly need?: Need;
  /** Status of success; default: 200. */
  readonly success?: number;
};

type Rest = Pick<Row, "body" | "type" | "need" | "success">;

const writers: readonly KeyKind[] = ["project", "ingestion"];
const readers: readonly KeyKind[] = ["project", "project_read_only"];
const owner: readonly KeyKind[] = ["project"];
const everyKind: readonly KeyKind[] = [
  "project",
  "project_read_only",
  "ingestion",
  "data_plane",
  "control_plane",
];
const controlPlane: readonly KeyKind[] = ["control_plane"];
const fineGrained: readonly KeyKind[] = ["data_plane", "control_plane"];
const managers: readonly KeyKind[] = ["control_plane", "data_plane", "project"];
const dataPlane: readonly KeyKind[] = ["data_plane"];

export const event = { event_type: "tool", inputs: {}, source: "test" };
const call = { model: "m", provider: "p", messages: [], response: {}, duration: 1 };
const update = { metadata: { seen: true } };
const named = { name: "a new name" };

function row(
  route: string,
  rpc: string,
  permission: string,
  kinds: readonly KeyKind[],
  rest: Rest = {},
): Row {
  return { route, rpc, permission, kinds, ...rest };
}

/** The same call under several paths. */
function rows(
  routes: readonly string[],
  rpc: string,
  permission: string,
  kinds: readonly KeyKind[],
  rest: Rest = {},
): readonly Row[] {
  return routes.map((route) => row(route, rpc, permission, kinds, rest));
}

/** Returns a function that makes the rows of a resource, which readers get and list. */
function rowsOf(resource: string, usual: Rest = {}) {
  return (route: string, rpc: string, action: string, rest: Rest = usual): Row => {
    const kinds = ["get", "list", "query"].includes(action) ? readers : owner;
    return row(route, rpc, `project.${resource}.${action}`, kinds, rest);
  };
}

const session: Rest = { need: "session" };

const tracingRows: readonly Row[] = [
  row("POST /events", "CreateEvent", "project.event.create", writers, { body: { event } }),
  row("POST /v1/events", "CreateEvent", "project.event.create", writers, { body: event }),
  ...rows(
    ["POST /events/batch", "POST /v1/events/batch"],
    "CreateEventBatch",
    "project.event.create",
    writers,
    { body: { events: [event] } },
  ),
  row("PUT /events", "EnrichEvent", "project.event.update", writers, {
    body: { event_id: "e1", ...update },
  }),
  row("PUT /v1/events/{event_id}", "UpdateEvent", "project.event.update", writers, {
    body: update,
    ...session,
  }),
  row("GET /v1/events/{event_id}", "GetEvent", "project.event.get", readers, session),
  row("POST /v1/events/get", "GetEvents", "project.event.get", readers, {
    body: { event_ids: ["e1"] },
    ...session,
  }),
  row(
    "GET /v1/events/fields/values?field=event_name",
    "ListFieldValues",
    "project.event.list",
    readers,
  ),
  row("POST /v1/events/fields/values", "ListFieldValues", "project.event.list", readers, {
    body: { field: "event_name" },
  }),
  row("DELETE /v1/events/{event_id}", "DeleteEvent", "project.event.delete", owner, session),
  row("POST /session/start", "StartSession", "project.session.create", writers, {
    body: { session: {} },
  }),
  row("POST /v1/sessions", "StartSession", "project.session.create", writers, { body: {} }),
  row("PUT /session/{session_id}", "UpdateSession", "project.session.update", writers, {
    body: { error: "", output: {} },
    ...session,
  }),
  row("GET /session/{session_id}", "GetSession", "project.session.get", readers, session),
  row("GET /v1/sessions/{session_id}", "GetSessionTree", "project.session.get", readers, session),
  row(
    "GET /v1/sessions/{session_id}/skeleton",
    "ListSessionSkeleton",
    "project.session.get",
    readers,
    session,
  ),
  row("GET /v1/sessions", "ListSessions", "project.session.list", readers),
  row(
    "DELETE /v1/sessions/{session_id}",
    "DeleteSession",
    "project.session.delete",
    owner,
    session,
  ),
  row(
    "POST /v1/sessions/{session_id}/events/batch",
    "AddSessionEvents",
    "project.event.create",
    writers,
    { body: { events: [event] } },
  ),
  ...rows(
    ["POST /events/export", "POST /v1/events/export"],
    "ExportEvents",
    "project.event.list",
    readers,
    { body: {} },
  ),
  row("GET /events", "ExportEvents", "project.event.list", readers),
  row("POST /v1/events/search", "SearchEvents", "project.event.list", readers, { body: {} }),
  row("POST /v1/events/stream", "StreamEvents", "project.event.list", readers, { body: {} }),
  row("GET /v1/events/schema", "GetEventSchema", "project.event.schema", readers),
  row("POST /session/{session_id}/traces", "AddTraces", "project.event.create", writers, {
    body: { logs: [event] },
  }),
  ...rows(
    ["POST /events/model", "POST /v1/events/model"],
    "CreateModelEvent",
    "project.event.create",
    writers,
    { body: { model_event: call } },
  ),
  ...rows(
    ["POST /events/model/batch", "POST /v1/events/model/batch"],
    "CreateModelEventBatch",
    "project.event.create",
    writers,
    { body: { model_events: [{ ...call, source: "test" }] } },
  ),
];

const messages = [{ role: "user", content: "hi" }];
/** The model is the stand-in's; the tenants' projects all have this name. */
const chat = { project: "demo", model: "stand-in/m", messages };
const completion = { model: "stand-in/m", messages };

const generationRows: readonly Row[] = [
  row("POST /chat", "CreateChat", "project.generation.create", owner, { body: chat }),
  row("POST /chat/stream", "StreamChat", "project.generation.create", owner, { body: chat }),
  row("POST /v1/chat/completions", "CreateChatCompletion", "project.generation.create", owner, {
    body: completion,
  }),
  row(
    "POST /v1/chat/completions/stream",
    "StreamChatCompletion",
    "project.generation.create",
    owner,
    { body: { ...completion, stream: true } },
  ),
  row("POST /v1/responses", "CreateResponse", "project.generation.create", owner, {
    body: { model: "stand-in/m", input: "hi" },
  }),
  row("POST /v1/responses/stream", "StreamResponse", "project.generation.create", owner, {
    body: { model: "stand-in/m", input: "hi", stream: true },
  }),
  row("POST /v1/messages", "CreateMessage", "project.generation.create", owner, {
    body: completion,
  }),
  row("POST /v1/messages/stream", "StreamMessage", "project.generation.create", owner, {
    body: { ...completion, stream: true },
  }),
  row("POST /v1/messages/count_tokens", "CountMessageTokens", "project.generation.create", owner, {
    body: completion,
  }),
  row("POST /v1/embeddings", "CreateEmbedding", "project.generation.create", owner, {
    body: { model: "stand-in/m", input: "hi" },
  }),
  row("GET /v1/models", "ListModels", "project.generation.list", owner),
];

// Nothing runs: the event has no ground truth.
const judge = {
  type: "LLM",
  definition: "{{ feedback.ground_truth }}",
  model_provider: "stand-in",
  model_name: "m",
};
const runRows: readonly Row[] = rows(
  ["POST /v1/metrics/run", "POST /v1/metrics/run_metric"],
  "RunMetric",
  "project.evaluator.run",
  owner,
  { body: { metric: judge, event: {} } },
);

const question = { name: "a metric", type: "HUMAN", criteria: "Is it kind?" };
const metric: Rest = { need: "metric" };
const metricRow = rowsOf("evaluator", metric);
const version = "/v1/metrics/{id}/versions/{name}";

const metricRows: readonly Row[] = [
  metricRow("POST /metrics", "CreateOldMetric", "create", { body: question }),
  metricRow("POST /v1/metrics", "CreateMetric", "create", { body: question }),
  metricRow("GET /metrics", "ListOldMetrics", "list"),
  metricRow("GET /v1/metrics", "ListMetrics", "list"),
  metricRow("GET /v1/metrics/{id}", "GetMetric", "get"),
  metricRow("PUT /v1/metrics/{id}", "UpdateMetric", "update", { body: named, ...metric }),
  metricRow("PUT /v1/metrics", "UpdateMetric", "update", {
    body: { metric_id: "{metric_id}", ...named },
    ...metric,
  }),
  metricRow("PUT /metrics", "UpdateOldMetric", "update", {
    body: { metric_id: "{metric_id}", ...named },
    ...metric,
  }),
  ...[
    "DELETE /v1/metrics/{id}",
    "DELETE /v1/metrics?metric_id={metric_id}",
    "DELETE /metrics?metric_id={metric_id}",
  ].map((route) => metricRow(route, "DeleteMetric", "delete")),
  metricRow("GET /v1/metrics/{id}/versions", "ListMetricVersions", "get"),
  metricRow("POST /v1/metrics/{id}/versions", "CreateMetricVersion", "update", {
    body: { message: "clearer", content: "Is it true?" },
    ...metric,
  }),
  metricRow(`GET ${version}`, "GetMetricVersion", "get"),
  metricRow(`GET ${version}/compare/{other}`, "CompareMetricVersions", "get"),
  metricRow(`POST ${version}/deploy`, "DeployMetricVersion", "update", { body: {}, ...metric }),
  metricRow(`POST ${version}/restore`, "RestoreMetricVersion", "update", { body: {}, ...metric }),
];

function configurationRow(route: string, rpc: string, action: string, rest: Rest = {}): Row {
  const needed = route.includes("{id}") ? { need: "configuration" as const } : {};
  return rowsOf("configuration")(route, rpc, action, { ...needed, ...rest });
}

const saved = { name: "saved", provider: "p", parameters: { call_type: "chat", model: "m" } };
const [oldOne, oneConfiguration] = ["/configurations/{id}", "/v1/configurations/{id}"];
const savedVersion = `${oneConfiguration}/versions/{version}`;

const configurationRows: readonly Row[] = [
  ...["POST /configurations", "POST /v1/configurations"].map((route) =>
    configurationRow(route, "CreateConfiguration", "create", { body: saved }),
  ),
  configurationRow("GET /configurations", "ListOldConfigurations", "list"),
  configurationRow("GET /v1/configurations", "ListConfigurations", "list"),
  configurationRow(`GET ${oneConfiguration}`, "GetConfiguration", "get"),
  ...[`PUT ${oldOne}`, `PUT ${oneConfiguration}`].map((route) =>
    configurationRow(route, "UpdateConfiguration", "update", { body: named }),
  ),
  ...[`DELETE ${oldOne}`, `DELETE ${oneConfiguration}`].map((route) =>
    configurationRow(route, "DeleteConfiguration", "delete"),
  ),
  configurationRow(`GET ${oneConfiguration}/versions`, "ListConfigurationVersions", "get"),
  configurationRow(`GET ${savedVersion}`, "GetConfigurationVersion", "get"),
  configurationRow(`GET ${savedVersion}/compare/{other}`, "CompareConfigurationVersions", "get"),
  configurationRow(`POST ${savedVersion}/deploy`, "DeployConfigurationVersion", "update", {
    body: { env: "prod" },
  }),
];

const schema = { name: "find", parameters: {}, type: "function" };

const toolRows: readonly Row[] = [
  row("GET /tools", "ListTools", "project.tool.list", readers),
  row("POST /tools", "CreateTool", "project.tool.create", owner, { body: schema }),
  row("PUT /tools", "UpdateTool", "project.tool.update", owner, {
    body: { id: "{id}", ...schema },
    need: "tool",
  }),
  row("DELETE /tools?function_id={id}", "DeleteTool", "project.tool.delete", owner, {
    need: "tool",
  }),
];

const all = "/v1/metrics/{id}/backfills";
const one = `${all}/{backfill_id}`;

const backfillRows: readonly Row[] = [
  metricRow(`POST ${all}`, "CreateBackfill", "run", { body: {}, need: "judge" }),
  metricRow(`GET ${all}`, "ListBackfills", "list"),
  metricRow(`GET ${one}`, "GetBackfill", "get", { need: "backfill" }),
  metricRow(`POST ${one}/pause`, "PauseBackfill", "run", { body: {}, need: "backfill" }),
  metricRow(`POST ${one}/resume`, "ResumeBackfill", "run", { body: {}, need: "backfill" }),
  metricRow(`POST ${one}/cancel`, "CancelBackfill", "run", { body: {}, need: "backfill" }),
];

const explanationRows: readonly Row[] = [
  metricRow("GET /v1/metrics/{id}/events/{event_id}/why", "ExplainMetric", "get", {
    need: "metric and event",
  }),
  metricRow("GET /v1/metrics/{id}/status", "GetMetricStatus", "get"),
  metricRow("GET /v1/metrics/{id}/reliability?against={human_id}", "GetMetricReliability", "get", {
    need: "metric and human metric",
  }),
];

const feedbackRows: readonly Row[] = [
  row("POST /feedback", "CreateFeedback", "project.feedback.create", owner, {
    body: { task: "answer", generation_id: "e1", feedback_json: { rating: 5 } },
    need: "generation",
  }),
  row("GET /v1/feedback?generation_id=e1", "ListFeedback", "project.feedback.list", readers, {
    need: "generation",
  }),
];

/** Not in a proto of ours: their rule stands in transport/access-rules.ts. */
export const exporterRows: readonly Row[] = [
  ["traces", { resourceSpans: [] }] as const,
  ["logs", { resourceLogs: [] }] as const,
].flatMap(([signal, body]) =>
  rows(
    [`POST /v1/${signal}`, `POST /opentelemetry/v1/${signal}`],
    "Export",
    "project.trace.export",
    writers,
    { body },
  ),
);

const org = "/v1/orgs/{org_id}";
const plane = "/v1/virtual_dataplanes/{virtual_dataplane_id}";
const workspace = "/v1/workspaces/{workspace_id}";
const project = "/v1/projects/{project_id}";

const scopeRows: readonly Row[] = [
  row("POST /v1/orgs", "CreateOrganization", "system.org.create", controlPlane, { body: named }),
  row("GET /v1/orgs", "ListOrganizations", "org.scope.list", controlPlane),
  row(`GET ${org}`, "GetOrganization", "org.scope.get", controlPlane),
  row(`PUT ${org}`, "UpdateOrganization", "org.scope.put", controlPlane, { body: named }),
  row(
    `DELETE ${org}?dangerously_delete_child_scopes=true`,
    "ArchiveOrganization",
    "org.scope.archive",
    controlPlane,
  ),
  row(`POST ${org}/virtual_dataplanes`, "CreateDataPlane", "org.dataplane.create", controlPlane, {
    body: named,
  }),
  row(`GET ${org}/virtual_dataplanes`, "ListDataPlanes", "org.dataplane.list", controlPlane),
  row(`GET ${plane}`, "GetDataPlane", "dataplane.scope.get", controlPlane),
  row(`PUT ${plane}`, "UpdateDataPlane", "dataplane.scope.put", controlPlane, { body: named }),
  row(
    `DELETE ${plane}?dangerously_delete_child_scopes=true`,
    "ArchiveDataPlane",
    "dataplane.scope.archive",
    controlPlane,
  ),
  row(`POST ${plane}/workspaces`, "CreateWorkspace", "dataplane.workspace.create", controlPlane, {
    body: named,
  }),
  row(`GET ${plane}/workspaces`, "ListWorkspaces", "dataplane.workspace.list", controlPlane),
  row(`GET ${workspace}`, "GetWorkspace", "workspace.scope.get", controlPlane),
  row(`PUT ${workspace}`, "UpdateWorkspace", "workspace.scope.put", controlPlane, { body: named }),
  row(
    `DELETE ${workspace}?dangerously_delete_child_scopes=true`,
    "ArchiveWorkspace",
    "workspace.scope.archive",
    controlPlane,
  ),
  row(`POST ${workspace}/projects`, "CreateProject", "workspace.project.create", controlPlane, {
    body: named,
  }),
  row(`GET ${workspace}/projects`, "ListProjects", "workspace.project.list", controlPlane),
  row(`GET ${project}`, "GetProject", "project.scope.get", controlPlane),
  row(`PUT ${project}`, "UpdateProject", "project.scope.put", controlPlane, { body: named }),
  row(`DELETE ${project}`, "ArchiveProject", "project.scope.archive", controlPlane),
];

const everyScope: readonly (readonly [string, string])[] = [
  [org, "org"],
  [plane, "dataplane"],
  [workspace, "workspace"],
  [project, "project"],
];

const memberRows: readonly Row[] = [
  ...everyScope.flatMap(([path, level]) => [
    row(`POST ${path}/members`, "AddMember", "{scope}.member.create", controlPlane, {
      body: { email: "new@example.org", role: `${level}_member` },
    }),
    row(`GET ${path}/members`, "ListMembers", "{scope}.member.list", controlPlane),
    row(`PUT ${path}/members/{user_id}`, "UpdateMember", "{scope}.member.put", controlPlane, {
      // No role that makes keys: a key that makes none may not hand that on.
      body: { role: `${level}_member` },
      need: "member",
    }),
    row(`DELETE ${path}/members/{user_id}`, "RemoveMember", "{scope}.member.delete", controlPlane, {
      need: "member",
    }),
  ]),
  row("GET /v1/roles", "ListRoles", "system.role.list", controlPlane),
];

const plainKey = { name: "a key" };
const fineGrainedKey = {
  name: "a key",
  permissions: ["project.chart.get"],
  expires_at: "2100-01-01T00:00:00Z",
};

/** The five calls of one kind of key under one root. */
function keyRows(
  root: string,
  collection: string,
  rpc: string,
  permission: string,
  kind: KeyKind,
): readonly Row[] {
  const path = `${root}/${collection}`;
  const isFineGrained = fineGrained.includes(kind);
  const revoke = [`DELETE ${path}/{key_id}`, `POST ${path}/{key_id}/revoke`];
  return [
    row(`POST ${path}`, `Create${rpc}`, `${permission}.post`, dataPlane, {
      body: isFineGrained ? fineGrainedKey : plainKey,
    }),
    row(`GET ${path}`, `List${rpc}s`, `${permission}.list`, fineGrained),
    row(`GET ${path}/{key_id}`, `Get${rpc}`, `${permission}.get`, fineGrained, { need: kind }),
    ...rows(revoke, `Revoke${rpc}`, `${permission}.delete`, fineGrained, { need: kind }),
  ];
}

const apiKeyRows: readonly Row[] = [
  ...keyRows(
    project,
    "ingestion_api_keys",
    "IngestionApiKey",
    "project.ingestion_api_key",
    "ingestion",
  ),
  ...keyRows(project, "project_api_keys", "ProjectApiKey", "project.project_api_key", "project"),
  ...keyRows(
    project,
    "ro_project_api_keys",
    "ReadOnlyProjectApiKey",
    "project.ro_project_api_key",
    "project_read_only",
  ),
  ...[project, workspace, org].flatMap((root) =>
    keyRows(
      root,
      "fine_grained_api_keys",
      "DataPlaneApiKey",
      "{scope}.fine_grained_api_key_dp",
      "data_plane",
    ),
  ),
  ...[workspace, org].flatMap((root) =>
    keyRows(
      root,
      "control_plane_api_keys",
      "ControlPlaneApiKey",
      "{scope}.fine_grained_api_key_cp",
      "control_plane",
    ),
  ),
  row(`GET ${org}/api_key_policy`, "GetApiKeyPolicy", "org.api_key_policy.get", controlPlane),
  row(`PUT ${org}/api_key_policy`, "UpdateApiKeyPolicy", "org.api_key_policy.put", controlPlane, {
    body: { permissions: ["*"] },
  }),
];

const aKey = { api_key: "key-of-a-test" };

/** The calls on credentials of providers under one root. */
function credentialRows(root: string): readonly Row[] {
  const all = `${root}/provider_credentials`;
  const one = `${all}/{credential_id}`;
  const call = (route: string, rpc: string, action: string, rest?: Rest) =>
    row(route, rpc, `{scope}.provider_credential.${action}`, managers, rest);
  const stored: Rest = { need: "credential" };
  return [
    call(`POST ${all}`, "CreateProviderCredential", "create", {
      body: { provider: "openai", ...aKey },
    }),
    call(`GET ${all}`, "ListProviderCredentials", "list"),
    call(`GET ${one}`, "GetProviderCredential", "get", stored),
    call(`PUT ${one}`, "UpdateProviderCredential", "put", { body: aKey, ...stored }),
    call(`DELETE ${one}`, "DeleteProviderCredential", "delete", stored),
  ];
}

const retentionPath = `${project}/retention`;
const retentionRow = (route: string, rpc: string, action: string, rest?: Rest) =>
  row(route, rpc, `project.retention.${action}`, fineGrained, rest);

const retentionRows: readonly Row[] = [
  retentionRow(`GET ${retentionPath}`, "GetRetention", "get"),
  retentionRow(`PUT ${retentionPath}`, "PutRetention", "put", { body: { days: 30 } }),
  retentionRow(`DELETE ${retentionPath}`, "DeleteRetention", "put"),
  retentionRow(`GET ${retentionPath}/preview?days=30`, "PreviewRetention", "get"),
  retentionRow(`GET ${retentionPath}/runs`, "ListRetentionRuns", "get"),
];

const maskingPath = `${project}/masking`;
const anEmailRule = { rules: [{ detector: "email" }] };
const maskingRow = (route: string, rpc: string, action: string, rest?: Rest) =>
  row(route, rpc, `project.masking.${action}`, fineGrained, rest);

const maskingRows: readonly Row[] = [
  maskingRow(`GET ${maskingPath}`, "GetMasking", "get"),
  maskingRow(`PUT ${maskingPath}`, "PutMasking", "put", { body: anEmailRule }),
  maskingRow(`DELETE ${maskingPath}`, "DeleteMasking", "put"),
  maskingRow(`POST ${maskingPath}/preview`, "PreviewMasking", "get", { body: { sample: "a" } }),
];

const ingestionRow = row(
  `GET ${project}/ingestion`,
  "GetIngestion",
  "project.ingestion.get",
  fineGrained,
);

const budgetPath = `${project}/budgets`;
const oneBudget = `${budgetPath}/{budget_id}`;
const budget: Rest = { need: "budget" };
const anAmount = { amount: 1, period: "DAY" };
const budgetRow = (route: string, rpc: string, action: string, rest?: Rest) =>
  row(route, rpc, `project.budget.${action}`, fineGrained, rest);

const budgetRows: readonly Row[] = [
  budgetRow(`POST ${budgetPath}`, "CreateBudget", "create", { body: anAmount }),
  budgetRow(`GET ${budgetPath}`, "ListBudgets", "list"),
  budgetRow(`GET ${oneBudget}`, "GetBudget", "get", budget),
  budgetRow(`PATCH ${oneBudget}`, "UpdateBudget", "update", { body: { amount: 2 }, ...budget }),
  budgetRow(`PUT ${oneBudget}`, "UpdateBudget", "update", { body: { amount: 2 }, ...budget }),
  budgetRow(`DELETE ${oneBudget}`, "DeleteBudget", "delete", budget),
  budgetRow(`POST ${oneBudget}/test`, "TestBudget", "test", { body: {}, ...budget }),
  budgetRow(`GET ${oneBudget}/notifications`, "ListBudgetNotifications", "get", budget),
];

/** The calls on model aliases under one root. */
function aliasRows(root: string): readonly Row[] {
  const all = `${root}/model_aliases`;
  const one = `${all}/{name}`;
  const call = (route: string, rpc: string, action: string, rest?: Rest) =>
    row(route, rpc, `{scope}.model_alias.${action}`, managers, rest);
  return [
    call(`PUT ${one}`, "PutModelAlias", "put", { body: { targets: ["openai/m"] } }),
    call(`GET ${all}`, "ListModelAliases", "list"),
    call(`GET ${one}`, "GetModelAlias", "get", { need: "alias" }),
    call(`DELETE ${one}`, "DeleteModelAlias", "delete", { need: "alias" }),
  ];
}

/** The calls on model prices under one root. */
function priceRows(root: string): readonly Row[] {
  const path = `${root}/model_prices`;
  const call = (route: string, rpc: string, action: string, rest?: Rest) =>
    row(route, rpc, `{scope}.model_price.${action}`, fineGrained, rest);
  return [
    call(`PUT ${path}`, "PutModelPrice", "put", { body: { name: "mine", input_mtok: 1 } }),
    call(`GET ${path}`, "ListModelPrices", "list"),
    call(`DELETE ${path}?name={name}`, "DeleteModelPrice", "delete", { need: "price" }),
  ];
}

const dataset: Rest = { need: "dataset" };
const oneDataset = "/v1/datasets/{dataset_id}";
const inBody = { dataset_id: "{dataset_id}", ...named };
const datasetRow = rowsOf("dataset");
const datapointRow = rowsOf("datapoint");

const newDatapoints = { body: { data: [{ a: 1 }], mapping: { inputs: ["a"] } }, ...dataset };

const datasetRows: readonly Row[] = [
  datasetRow("POST /v1/datasets", "CreateDataset", "create", { body: named }),
  datasetRow("POST /datasets", "CreateDataset", "create", { body: named }),
  datasetRow("GET /v1/datasets", "ListDatasets", "list"),
  datasetRow("GET /datasets", "ListOldDatasets", "list"),
  datasetRow(`GET ${oneDataset}`, "GetDataset", "get", dataset),
  datasetRow(`PUT ${oneDataset}`, "UpdateDataset", "update", { body: named, ...dataset }),
  datasetRow("PUT /v1/datasets", "UpdateDataset", "update", { body: inBody, ...dataset }),
  datasetRow("PUT /datasets", "UpdateDataset", "update", { body: inBody, ...dataset }),
  ...[
    `DELETE ${oneDataset}`,
    "DELETE /v1/datasets?dataset_id={dataset_id}",
    "DELETE /datasets?dataset_id={dataset_id}",
  ].map((route) => datasetRow(route, "DeleteDataset", "delete", dataset)),
  datasetRow(`POST ${oneDataset}/datapoints`, "AddDatapoints", "update", newDatapoints),
  datasetRow("POST /datasets/{dataset_id}/datapoints", "AddDatapoints", "update", newDatapoints),
  ...[`DELETE ${oneDataset}/datapoints/{datapoint_id}`, `DELETE ${oneDataset}/{datapoint_id}`].map(
    (route) => datasetRow(route, "RemoveDatapoint", "update", dataset),
  ),
  datasetRow(`GET ${oneDataset}/versions`, "ListDatasetVersions", "list", dataset),
  datasetRow(`GET ${oneDataset}/export`, "ExportDataset", "get", dataset),
  datasetRow(`POST ${oneDataset}/import`, "ImportDataset", "update", {
    body: { inputs: { a: 1 } },
    type: "application/x-ndjson",
    ...dataset,
  }),
];

const datapointRows: readonly Row[] = [
  ...["POST /v1/datapoints", "POST /datapoints"].map((route) =>
    datapointRow(route, "CreateDatapoint", "create", { body: { inputs: { a: 1 } } }),
  ),
  datapointRow("POST /v1/datapoints/batch", "CreateDatapointsFromEvents", "create", {
    body: { selectAll: true },
    ...session,
  }),
  datapointRow("GET /v1/datapoints", "ListDatapoints", "list"),
  datapointRow("GET /datapoints", "ListOldDatapoints", "list"),
  datapointRow("GET /v1/datapoints/{id}", "GetDatapoint", "get", dataset),
  datapointRow("GET /datapoints/{id}", "GetOldDatapoint", "get", dataset),
  ...["PUT /v1/datapoints/{id}", "PUT /datapoints/{id}"].map((route) =>
    datapointRow(route, "UpdateDatapoint", "update", { body: { inputs: { a: 2 } }, ...dataset }),
  ),
  ...["DELETE /v1/datapoints/{id}", "DELETE /datapoints/{id}"].map((route) =>
    datapointRow(route, "DeleteDatapoint", "delete", dataset),
  ),
];

const run: Rest = { need: "run" };
const runRow = rowsOf("run", run);

const experimentRows: readonly Row[] = [
  ...["/evaluations", "/v1/evaluations"].flatMap((root) => [
    runRow(`POST ${root}`, "CreateEvaluation", "create", { body: named }),
    runRow(`GET ${root}/{id}`, "GetEvaluation", "get"),
  ]),
  runRow("PUT /v1/evaluations/{id}/review", "ReviewEvaluation", "update", {
    body: { comments: [{ text: "Good" }] },
    ...run,
  }),
  runRow("POST /v1/runs", "CreateRun", "create", { body: named }),
  runRow("POST /runs", "CreateRun", "create", { body: named }),
  runRow("GET /v1/runs", "ListRuns", "list", {}),
  runRow("GET /runs", "ListOldRuns", "list", {}),
  ...["/v1/runs/{run_id}", "/runs/{run_id}"].flatMap((one) => [
    runRow(`GET ${one}`, "GetRun", "get"),
    runRow(`PUT ${one}`, "UpdateRun", "update", { body: named, ...run }),
    runRow(`DELETE ${one}`, "DeleteRun", "delete"),
    runRow(`GET ${one}/result`, "GetRunResult", "get"),
  ]),
  runRow("GET /v1/runs/{run_id}/summary", "GetRunResult", "get"),
  ...["/v1/runs", "/runs"].map((root) =>
    runRow(`GET ${root}/{new_run_id}/compare-with/{old_run_id}`, "CompareRuns", "get"),
  ),
  runRow("GET /v1/runs/{new_run_id}/compare/{old_run_id}", "CompareRuns", "get"),
  runRow(
    "GET /v1/runs/compare/events?run_id_1={new_run_id}&run_id_2={old_run_id}",
    "CompareRunEvents",
    "get",
  ),
  runRow("GET /v1/runs/{run_id_1}/compare/{run_id_2}/events", "CompareRunEvents", "get"),
  runRow("GET /v1/runs/{run_id}/metrics", "ListRunMetrics", "get"),
  runRow("GET /v1/runs/{run_id}/progress", "GetRunProgress", "get"),
  runRow("GET /v1/runs/{run_id}/usage", "GetRunUsage", "get"),
  runRow("POST /v1/runs/{run_id}/execute", "ExecuteRun", "execute", {
    body: { configuration: "{configuration_id}" },
    need: "runnable",
  }),
  runRow("GET /v1/runs/{run_id}/execution", "GetExecution", "get", { need: "execution" }),
  runRow("POST /v1/runs/{run_id}/execution/cancel", "CancelExecution", "execute", {
    body: {},
    need: "execution",
  }),
  runRow("POST /v1/runs/{run_id}/execution/resume", "ResumeExecution", "execute", {
    body: {},
    need: "ended execution",
  }),
  runRow("GET /v1/runs/schema", "GetRunSchema", "get", {}),
  runRow("GET /v1/runs/{run_id}/schema", "GetRunSchema", "get"),
];

const queueRow = rowsOf("queue", { need: "queue" });
const oneQueue = "/v1/queues/{id}";
const theEvent = { event_id: "{event_id}" };

/** Returns the row of a call that a person makes to review an event. */
function queueReviewRow(verb: string, rpc: string, body: object = theEvent): Row {
  return queueRow(`POST ${oneQueue}/${verb}`, rpc, "review", { need: "queue", body });
}

const queueRows: readonly Row[] = [
  queueRow("POST /v1/queues", "CreateQueue", "create", { body: named, success: 201 }),
  queueRow("GET /v1/queues", "ListQueues", "list", {}),
  queueRow(`GET ${oneQueue}`, "GetQueue", "get"),
  queueRow(`PUT ${oneQueue}`, "UpdateQueue", "update", { body: named, need: "queue" }),
  queueRow(`DELETE ${oneQueue}`, "DeleteQueue", "delete"),
  queueRow(`GET ${oneQueue}/items`, "ListQueueItems", "list"),
  queueRow(`GET ${oneQueue}/items/{event_id}`, "GetQueueItem", "get"),
  queueReviewRow("claim", "ClaimQueueItem"),
  queueReviewRow("release", "ReleaseQueueItem"),
  queueReviewRow("complete", "CompleteQueueItem", {
    ...theEvent,
    scores: [{ metric: "{metric_id}", value: 1 }],
  }),
  queueRow(`GET ${oneQueue}/agreement`, "GetQueueAgreement", "get"),
];

const newChart = { body: { ...named, metric: "event_count" } };
const chart: Rest = { need: { post: "/v1/charts", ...newChart, id: "chart_id" } };
const chartRow = rowsOf("chart", chart);
const oneChart = "/v1/charts/{chart_id}";
const aQuestion = {
  filters: [{ field: "event_type", operator: "is not", value: "session" }],
  query: { kind: "scalar", measures: [{ metric: "event_count" }] },
};

const chartRows: readonly Row[] = [
  chartRow("POST /v1/charts", "CreateChart", "create", newChart),
  chartRow("GET /v1/charts", "ListCharts", "list", {}),
  chartRow(`GET ${oneChart}`, "GetChart", "get"),
  chartRow(`PATCH ${oneChart}`, "UpdateChart", "update", { body: named, ...chart }),
  chartRow(`PUT ${oneChart}`, "UpdateChart", "update", { body: named, ...chart }),
  chartRow(`DELETE ${oneChart}`, "DeleteChart", "delete"),
  chartRow(`GET ${oneChart}/data`, "GetChartData", "query"),
  chartRow("POST /v1/charts/query", "QueryChart", "query", { body: aQuestion }),
  chartRow("GET /v1/events/chart", "GetEventChart", "query", {}),
];

/** The rows of a resource whose paths and calls have the usual names. */
function usualRows(resource: string, rpc: string, body: object): readonly Row[] {
  const need = { post: `/v1/${resource}s`, body, id: `${resource}_id` };
  const resourceRow = rowsOf(resource, { need });
  const one = `/v1/${resource}s/{${resource}_id}`;
  const update = { body: named, need };
  return [
    resourceRow(`POST /v1/${resource}s`, `Create${rpc}`, "create", { body }),
    resourceRow(`GET /v1/${resource}s`, `List${rpc}s`, "list", {}),
    resourceRow(`GET ${one}`, `Get${rpc}`, "get"),
    resourceRow(`PATCH ${one}`, `Update${rpc}`, "update", update),
    resourceRow(`PUT ${one}`, `Update${rpc}`, "update", update),
    resourceRow(`DELETE ${one}`, `Delete${rpc}`, "delete"),
  ];
}

const aView = { ...named, page: "sessions", shared: true };

const alertRow = rowsOf("alert", { need: "alert" });
const oneAlert = "/v1/alerts/{alert_id}";
const newAlert = { body: { ...anAlert(nowhere), ...named } };

const alertRows: readonly Row[] = [
  alertRow("POST /v1/alerts", "CreateAlert", "create", newAlert),
  alertRow("GET /v1/alerts", "ListAlerts", "list", {}),
  alertRow(`GET ${oneAlert}`, "GetAlert", "get"),
  alertRow(`PATCH ${oneAlert}`, "UpdateAlert", "update", { body: named, need: "alert" }),
  alertRow(`PUT ${oneAlert}`, "UpdateAlert", "update", { body: named, need: "alert" }),
  alertRow(`DELETE ${oneAlert}`, "DeleteAlert", "delete"),
  alertRow(`POST ${oneAlert}/test`, "TestAlert", "test", { body: {}, need: "alert" }),
  alertRow(`GET ${oneAlert}/evaluations`, "ListAlertEvaluations", "get"),
  alertRow(`GET ${oneAlert}/notifications`, "ListAlertNotifications", "get"),
];

/** Rows by the part of the API; access-<part>.test.ts checks each part. */
export const contractParts = {
  tracing: [...tracingRows, ...feedbackRows],
  generation: [...generationRows, ...configurationRows, ...toolRows],
  metrics: [...metricRows, ...runRows, ...backfillRows, ...explanationRows],
  datasets: [...datasetRows, ...datapointRows],
  experiments: [...experimentRows, ...queueRows],
  monitoring: [
    ...chartRows,
    ...usualRows("view", "View", aView),
    ...usualRows("dashboard", "Dashboard", named),
    ...alertRows,
    ...budgetRows,
    ...retentionRows,
    ...maskingRows,
    ingestionRow,
  ],
  scopes: [
    row("GET /projects", "ListOldProjects", "project.scope.get", readers),
    ...scopeRows,
    ...memberRows,
    row(`GET ${org}/audit_log`, "ListAuditLog", "org.audit_log.list", controlPlane),
    ...["GET /v1/archivals/{scope_type}/{scope_id}", "GET /v1/archivals?org_id={org_id}"].map(
      (route) =>
        row(
          route,
          route.includes("?") ? "ListArchivals" : "GetArchival",
          "org.audit_log.list",
          controlPlane,
          { need: "archival" },
        ),
    ),
    row("GET /v1/me", "GetMe", "system.me.get", everyKind),
  ],
  keys: [
    ...apiKeyRows,
    ...[org, workspace, project].flatMap((root) => [
      ...credentialRows(root),
      ...aliasRows(root),
      ...priceRows(root),
    ]),
  ],
} satisfies Record<string, readonly Row[]>;

/** Calls that need no caller; deployment.test.ts makes them. */
export const openRows: readonly Row[] = [row("GET /v1/deployment", "GetDeployment", "", [])];

export type Part = keyof typeof contractParts;

export const contractRows: readonly Row[] = [...Object.values(contractParts).flat(), ...openRows];

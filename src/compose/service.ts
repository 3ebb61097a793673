// The service: the services of core.ts behind the transport, without logic. A new service is one
// line in one of the lists below.

import { AuditService } from "../../gen/waggle/v1/audit_pb.js";
import { AlertService } from "../../gen/waggle/v1/alert_pb.js";
import { ApiKeyService } from "../../gen/waggle/v1/api_key_pb.js";
import { ArchivalService } from "../../gen/waggle/v1/archival_pb.js";
import { BudgetService } from "../../gen/waggle/v1/budget_pb.js";
import { ChartService } from "../../gen/waggle/v1/chart_pb.js";
import { ConfigurationService } from "../../gen/waggle/v1/configuration_pb.js";
import { ConfigurationVersionService } from "../../gen/waggle/v1/configuration_version_pb.js";
import { DashboardService } from "../../gen/waggle/v1/dashboard_pb.js";
import { DataPlaneService } from "../../gen/waggle/v1/dataplane_pb.js";
import { DatapointService } from "../../gen/waggle/v1/datapoint_pb.js";
import {
  DatasetFileService,
  ExportDatasetResponseSchema,
} from "../../gen/waggle/v1/dataset_file_pb.js";
import { DatasetService } from "../../gen/waggle/v1/dataset_pb.js";
import { BackfillService } from "../../gen/waggle/v1/backfill_pb.js";
import { EvaluationService } from "../../gen/waggle/v1/evaluation_pb.js";
import { EvaluatorService } from "../../gen/waggle/v1/evaluator_pb.js";
import { ExecutionService } from "../../gen/waggle/v1/execution_pb.js";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { ExportService, StreamEventsResponseSchema } from "../../gen/waggle/v1/export_pb.js";
import { FeedbackService } from "../../gen/waggle/v1/feedback_pb.js";
import { GenerationService, StreamChatResponseSchema } from "../../gen/waggle/v1/generation_pb.js";
import { LlmProxyService } from "../../gen/waggle/v1/llm_proxy_pb.js";
import { MetricService } from "../../gen/waggle/v1/metric_pb.js";
import { MetricVersionService } from "../../gen/waggle/v1/metric_version_pb.js";
import { OldDatasetService } from "../../gen/waggle/compat/v0/dataset_pb.js";
import { OldConfigurationService } from "../../gen/waggle/compat/v0/configuration_pb.js";
import { OldProjectService } from "../../gen/waggle/compat/v0/project_pb.js";
import { ToolService } from "../../gen/waggle/compat/v0/tool_pb.js";
import { OldRunService } from "../../gen/waggle/compat/v0/run_pb.js";
import { OldMetricService } from "../../gen/waggle/compat/v0/metric_pb.js";
import { DeploymentService } from "../../gen/waggle/v1/deployment_pb.js";
import { MeService } from "../../gen/waggle/v1/me_pb.js";
import { MemberService } from "../../gen/waggle/v1/member_pb.js";
import { ModelAliasService } from "../../gen/waggle/v1/model_alias_pb.js";
import { ModelPriceService } from "../../gen/waggle/v1/model_price_pb.js";
import { OrganizationService } from "../../gen/waggle/v1/organization_pb.js";
import { ProjectService } from "../../gen/waggle/v1/project_pb.js";
import { IngestionService } from "../../gen/waggle/v1/ingestion_pb.js";
import { ProviderCredentialService } from "../../gen/waggle/v1/provider_credential_pb.js";
import { QueueService } from "../../gen/waggle/v1/queue_pb.js";
import { RunService } from "../../gen/waggle/v1/run_pb.js";
import { MaskingService } from "../../gen/waggle/v1/masking_pb.js";
import { RetentionService } from "../../gen/waggle/v1/retention_pb.js";
import { SessionService } from "../../gen/waggle/v1/session_pb.js";
import { ViewService } from "../../gen/waggle/v1/view_pb.js";
import { WorkspaceService } from "../../gen/waggle/v1/workspace_pb.js";
import { TracingService } from "../../gen/waggle/compat/v0/tracing_pb.js";
import { LogsService } from "../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { TraceService } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { auditHandlers } from "../access/audit/handlers.ts";
import { createAuthenticator } from "../access/authenticate.ts";
import { createIdempotency } from "../access/idempotency/idempotency.ts";
import { apiKeyHandlers } from "../access/keys/handlers.ts";
import { meHandlers } from "../access/me/handlers.ts";
import { memberHandlers } from "../access/members/handlers.ts";
import { applyManifest } from "../access/roles/apply-manifest.ts";
import { isProject } from "../access/scope.ts";
import { createEntrance } from "../access/sign-in/entrance.ts";
import { linkPath } from "../access/sign-in/links.ts";
import { createSignInPages, signInPath } from "../access/sign-in/pages.ts";
import type { Core } from "./core.ts";
import { parquetFile } from "../base/parquet-file.ts";
import { ingestionTimeoutMs, unaryTimeoutMs } from "../base/limits.ts";
import { packageVersion } from "../base/package-version.ts";
import type { Config } from "../config.ts";
import { archivalHandlers } from "../controlplane/archivals/handlers.ts";
import { deploymentHandlers } from "../controlplane/deployment/handlers.ts";
import {
  dataplaneHandlers,
  oldProjectHandlers,
  orgHandlers,
  projectHandlers,
  workspaceHandlers,
} from "../controlplane/scopes/handlers.ts";
import { backfillHandlers } from "../evaluation/backfills/handlers.ts";
import {
  datapointHandlers,
  datasetHandlers,
  oldDatasetHandlers,
} from "../evaluation/datasets/handlers.ts";
import { encodeCsv } from "../evaluation/datasets/files/csv-message.ts";
import { encodeDatasetParquet } from "../evaluation/datasets/files/dataset-parquet.ts";
import { csvFile } from "../evaluation/datasets/files/file-format.ts";
import { datasetFileHandlers } from "../evaluation/datasets/files/handlers.ts";
import type { Evaluation } from "../evaluation/evaluation.ts";
import { evaluationHandlers } from "../evaluation/evaluations/handlers.ts";
import { evaluatorHandlers } from "../evaluation/evaluator-handlers.ts";
import { executionHandlers } from "../evaluation/executions/handlers.ts";
import { metricHandlers, oldMetricHandlers } from "../evaluation/metrics/handlers.ts";
import { queueHandlers } from "../evaluation/queues/handlers.ts";
import { oldRunHandlers, runHandlers } from "../evaluation/runs/handlers.ts";
import { metricVersionHandlers } from "../evaluation/metrics/version-handlers.ts";
import { budgetHandlers } from "../generation/budgets/handlers.ts";
import {
  configurationHandlers,
  oldConfigurationHandlers,
} from "../generation/configurations/handlers.ts";
import { configurationVersionHandlers } from "../generation/configurations/version-handlers.ts";
import { toolHandlers } from "../generation/tools/handlers.ts";
import { modelAliasHandlers } from "../generation/connections/aliases/handlers.ts";
import { modelPriceHandlers } from "../generation/model-prices/handlers.ts";
import { generationHandlers } from "../generation/chat/handlers.ts";
import { providerCredentialHandlers } from "../generation/connections/credentials/handlers.ts";
import { llmProxyHandlers } from "../generation/proxy/handlers.ts";
import { createReadiness } from "../observability/readiness.ts";
import { findDatabaseFault } from "../postgres/faults.ts";
import { getMigrationState } from "../postgres/migrate.ts";
import { alertHandlers } from "../tracing/alerts/handlers.ts";
import { eventHandlers } from "../tracing/events/handlers.ts";
import { exportHandlers } from "../tracing/export/handlers.ts";
import { chartHandlers } from "../tracing/charts/handlers.ts";
import { dashboardHandlers } from "../tracing/dashboards/handlers.ts";
import { encodeParquet } from "../tracing/export/parquet.ts";
import { feedbackHandlers } from "../tracing/feedback/handlers.ts";
import { tracingHandlers } from "../tracing/model-events/handlers.ts";
import { ingestionHandlers } from "../tracing/ingestion/handlers.ts";
import { maskingHandlers } from "../tracing/masking/handlers.ts";
import { retentionHandlers } from "../tracing/retention/handlers.ts";
import { sessionHandlers } from "../tracing/sessions/handlers.ts";
import type { TracingOf } from "../tracing/tracing.ts";
import { viewHandlers } from "../tracing/views/handlers.ts";
import { logHandlers, traceHandlers } from "../transport/otlp/handlers.ts";
import { eventStreamEncoder } from "../transport/rest/server-sent-events.ts";
import { streamEncoder } from "../transport/rest/stream.ts";
import { createTransport, type ServiceRouter, type Transport } from "../transport/transport.ts";
import type { WebApp } from "../web/serve.ts";

export type AppOptions = {
  /** The web app; undefined for a service without one. */
  readonly web?: WebApp | undefined;
};

export type App = {
  listen(): Promise<{ url: string }>;
  /**
   * Ends the readiness at once and serves until `left` settles; then refuses new requests and
   * finishes running ones within the drain time.
   */
  close(left?: Promise<void>): Promise<void>;
};

/** Time for storing and answering a generation that took its maximum duration. */
const commitSlackMs = 35_000;

export async function createApp(core: Core, { web }: AppOptions = {}): Promise<App> {
  const { config, database, clusters, logger, metrics } = core;
  const { audit, keys, manifest, people, scopes, tracing, evaluation } = core;
  const publicOrigin = config.publicUrl;
  const signInPages = createSignInPages({
    ...people,
    logger,
    publicOrigin,
    entrance: createEntrance({ oidc: config.oidc, publicOrigin, database, people, logger }),
  });
  const idempotency = createIdempotency(database);
  const server: Transport = createTransport({
    services: (router) => {
      addAccessServices(router, core, () => server.permissions);
      router.service(DeploymentService, deploymentHandlers(deploymentOf(core)));
      addTracingServices(router, tracing.of);
      router.service(ChartService, chartHandlers(core.charts, tracing.of));
      router.service(ViewService, viewHandlers(core.views));
      router.service(DashboardService, dashboardHandlers(core.dashboards));
      router.service(AlertService, alertHandlers(core.alerts));
      router.service(IngestionService, ingestionHandlers(core.ingestion));
      router.service(MaskingService, maskingHandlers(core.masking));
      const isExported = config.retentionExport !== undefined;
      router.service(RetentionService, retentionHandlers(core.retention, isExported));
      addGenerationServices(router, core);
      addEvaluationServices(router, evaluation);
    },
    authenticate: createAuthenticator({ keys, signIns: people.signIns, publicOrigin }),
    isAssignmentAutomatic: config.dataplaneAssignment === "automatic",
    findScope: (level, id) => scopes.find(level, id),
    findAnyScope: (level, id) => scopes.findAny(level, id),
    idempotencyOf: (scope, isProjectData) =>
      isProjectData && isProject(scope) ? tracing.of(scope).idempotency : idempotency,
    readiness: createReadiness({
      readMigrations: () => getMigrationState(database),
      clusters,
    }),
    findDatabaseFault,
    observe: ({ rpc, protocol, reason, ms, ingestion }) => {
      metrics.observeRequest({ rpc, protocol, outcome: reason, durationMs: ms });
      if (ingestion) core.ingestion.note({ rpc, reason, ...ingestion });
    },
    logger,
    version: packageVersion(),
    pages: signInPages,
    web: web?.route,
    streamEncoders: [
      streamEncoder(parquetFile("events"), StreamEventsResponseSchema, encodeParquet),
      streamEncoder(parquetFile("dataset"), ExportDatasetResponseSchema, encodeDatasetParquet),
      streamEncoder(csvFile("dataset"), ExportDatasetResponseSchema, encodeCsv),
      eventStreamEncoder(StreamChatResponseSchema),
    ],
    ...transportSettings(config),
  });
  await applyManifest(manifest, {
    database,
    audit,
    logger,
    endSignIns: (userIds) => people.signIns.endOfUsers(userIds),
    permissions: server.permissions,
  });
  return {
    listen: () => server.listen({ host: config.host, port: config.port }),
    close: (left) => server.close(left),
  };
}

function deploymentOf({ config, temporalPage }: Core) {
  return {
    version: packageVersion(),
    publicOrigin: config.publicUrl,
    dataplaneAssignment: config.dataplaneAssignment,
    provider: config.oidc,
    paths: { provider: signInPath, link: linkPath },
    temporalPage,
  };
}

function transportSettings(config: Config) {
  return {
    corsOrigins: config.corsOrigins,
    bodyLimits: config.bodyBytesMax,
    bytesInFlightMax: config.bytesInFlightMax,
    bodyStallMs: config.bodyTimeoutMs,
    drainTimeoutMs: config.drainTimeoutMs,
    unaryTimeoutMs,
    ingestionTimeoutMs,
    generationTimeoutMs: config.generationTimeoutMs + commitSlackMs,
    isTracing: config.isTracing,
  };
}

function addAccessServices(
  router: ServiceRouter,
  core: Core,
  requiredPermissions: () => readonly string[],
): void {
  const { archives, orgs, dataplanes, workspaces, projects } = core.controlplane;
  router.service(OrganizationService, orgHandlers(orgs, archives));
  router.service(DataPlaneService, dataplaneHandlers(dataplanes));
  router.service(WorkspaceService, workspaceHandlers(workspaces, archives));
  router.service(ProjectService, projectHandlers(projects, archives));
  router.service(OldProjectService, oldProjectHandlers(projects));
  router.service(MemberService, memberHandlers(core.people.members, core.manifest));
  router.service(MeService, meHandlers());
  router.service(AuditService, auditHandlers(core.audit));
  router.service(ArchivalService, archivalHandlers(core.archivals));
  router.service(ApiKeyService, apiKeyHandlers(core.keys, core.policies, requiredPermissions));
}

function addTracingServices(router: ServiceRouter, tracingOf: TracingOf): void {
  router.service(EventService, eventHandlers(tracingOf));
  router.service(SessionService, sessionHandlers(tracingOf));
  router.service(ExportService, exportHandlers(tracingOf));
  router.service(TracingService, tracingHandlers(tracingOf));
  router.service(FeedbackService, feedbackHandlers(tracingOf));
  router.service(TraceService, traceHandlers(tracingOf));
  router.service(LogsService, logHandlers(tracingOf));
}

function addGenerationServices(
  router: ServiceRouter,
  { generation, modelPrices }: Pick<Core, "generation" | "modelPrices">,
): void {
  const { chat, proxy, models, credentials, aliases, configurations } = generation;
  router.service(GenerationService, generationHandlers(chat));
  router.service(LlmProxyService, llmProxyHandlers(proxy, models));
  router.service(ProviderCredentialService, providerCredentialHandlers(credentials));
  router.service(ModelAliasService, modelAliasHandlers(aliases));
  router.service(ModelPriceService, modelPriceHandlers(modelPrices));
  router.service(ConfigurationService, configurationHandlers(configurations));
  router.service(OldConfigurationService, oldConfigurationHandlers(configurations));
  router.service(BudgetService, budgetHandlers(generation.budgets));
  router.service(ToolService, toolHandlers(generation.tools));
  router.service(
    ConfigurationVersionService,
    configurationVersionHandlers(generation.configurationVersions),
  );
}

function addEvaluationServices(router: ServiceRouter, evaluation: Evaluation): void {
  const { metrics, versions, backfills, datasets, datapoints, runs } = evaluation;
  router.service(MetricService, metricHandlers(metrics));
  router.service(MetricVersionService, metricVersionHandlers(versions));
  router.service(OldMetricService, oldMetricHandlers(metrics));
  router.service(EvaluatorService, evaluatorHandlers(evaluation));
  router.service(BackfillService, backfillHandlers(backfills));
  router.service(DatasetService, datasetHandlers(datasets, datapoints));
  const { datasetExports, datasetImports } = evaluation;
  router.service(DatasetFileService, datasetFileHandlers(datasetExports, datasetImports));
  router.service(DatapointService, datapointHandlers(datapoints));
  router.service(RunService, runHandlers(evaluation));
  router.service(ExecutionService, executionHandlers(evaluation.executions));
  router.service(QueueService, queueHandlers(evaluation));
  router.service(EvaluationService, evaluationHandlers(evaluation.evaluations));
  router.service(OldRunService, oldRunHandlers(runs));
  router.service(OldDatasetService, oldDatasetHandlers(datasets, datapoints));
}

// Metrics in the whole service, for tests of their routes.

import { createUuid } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { callRoute, type RouteAnswer } from "./call-route.ts";
import { addKey, type Tenant } from "./tenants.ts";
import { givenAProject } from "./project.ts";
import type { TestService } from "./service.ts";

/** A project with a key for calls of the routes of metrics. */
export type MetricProject = Tenant & {
  readonly key: string;
  /** Address of the service. */
  readonly url: string;
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<RouteAnswer>;
  /** Sends a request that must succeed and returns its answer. */
  ok(route: string, body?: unknown): Promise<RouteAnswer["json"]>;
  /** Creates a metric, which must succeed, and returns its id. */
  make(body: Readonly<Record<string, unknown>>): Promise<string>;
};

/** Creates a project. The routes of its calls are method and path, such as `GET /v1/metrics`. */
export async function givenAMetricProject(service: TestService): Promise<MetricProject> {
  const tenant = await givenAProject(service.database);
  const options = { kind: "project", root: "project" } as const;
  const { secret: key } = await addKey(service.database, tenant, options);

  const call: MetricProject["call"] = (route, body, headers) => {
    const all = { authorization: `Bearer ${key}`, ...headers };
    return callRoute({ url: service.url, headers: all }, route, body);
  };

  async function ok(route: string, body?: unknown): Promise<RouteAnswer["json"]> {
    const { status, text, json } = await call(route, body);
    if (status !== 200) throw new Error(`${route}: ${status} ${text}`);
    return json;
  }

  const make = async (body: Readonly<Record<string, unknown>>): Promise<string> =>
    String((await ok("POST /v1/metrics", body))["metric_id"]);

  return { ...tenant, key, url: service.url, call, ok, make };
}

/** Code that scores every event. */
export const anEvaluator = {
  name: "length",
  type: "PYTHON",
  criteria: "def evaluate(event):\n    return len(outputs['content'])\n",
} as const;

/** Parses code once, so that no test waits for the sandbox's first start. */
export async function warmSandbox(service: TestService): Promise<void> {
  const project = await givenAMetricProject(service);
  await project.make(anEvaluator);
}

/** Adds a question for people, changed by `more`, to a tenant by SQL, and returns its id. */
export async function addMetric(
  database: Database,
  tenant: Tenant,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = createUuid();
  const content = {
    name: `stored-${id}`,
    type: "HUMAN",
    criteria: "Is it kind?",
    description: "",
    return_type: "float",
    enabled_in_prod: false,
    sampling_percentage: 10,
    model_provider: null,
    model_name: null,
    scale: null,
    threshold: null,
    categories: null,
    filters: { filterArray: [] },
    ...more,
  };
  await database.transaction(async (sql) => {
    await sql`
      insert into evaluators (
        evaluator_id, project_id, name, deployed_version, last_version, is_enabled, created_by
      )
      values (${id}, ${tenant.projectId}, ${content.name}, 1, 1, false, 'test')`;
    await sql`
      insert into evaluator_versions (
        evaluator_id, version, content, full_sha, message, reads_ground_truth, created_by
      )
      values (${id}, 1, ${JSON.stringify(content)}::text::jsonb, '', 'created', false, 'test')`;
  });
  return id;
}

/** Fields that make a metric a judge. */
export const aJudge = { type: "LLM", criteria: "Rate it: [[5]]", model_name: "m" } as const;

/** Adds a running backfill to a metric by SQL, and returns its id. */
export async function addBackfill(
  database: Database,
  tenant: Tenant,
  metricId: string,
): Promise<string> {
  const id = createUuid();
  await database.sql()`
    insert into evaluator_backfills (
      backfill_id, project_id, evaluator_id, version, filters, include_failed, state, workflow_id,
      matched, created_by
    )
    values (
      ${id}, ${tenant.projectId}, ${metricId}, 1, '[]', false, 'running', ${`backfill-${id}`}, 0,
      'test'
    )`;
  return id;
}

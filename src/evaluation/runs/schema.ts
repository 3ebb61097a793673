// Fields of the events of runs: which metrics stand on which kinds of events.
// Source: the published clients of this API.

import type { ProjectScope } from "../../access/scope.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Reading } from "../../tracing/events/sized-read.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import type { RunResults } from "./results.ts";
import type { Run, Runs } from "./runs.ts";

export type RunSchema = {
  readonly fields: { name: string; eventType: string }[];
  /** Ids of datasets. */
  readonly datasets: string[];
  /** Metrics by the name of the events. */
  readonly mappings: JsonObject;
};

export type SchemaRequest = {
  /** Empty for the newest runs of the project. */
  readonly runId: string;
  /** Filters that the events must all match. */
  readonly filters: readonly FilterInput[];
};

/** Returns the schema of the events of a run, or of the newest runs. */
export async function schemaOf(
  { runs, results }: { readonly runs: Runs; readonly results: RunResults },
  project: ProjectScope,
  { runId, filters }: SchemaRequest,
  reading: Reading,
): Promise<RunSchema> {
  const shown = runId === "" ? await newestRuns(runs, project) : [await runs.get(project, runId)];
  const kinds = new Map<string, { name: string; eventName: string; eventType: string }>();
  for (const run of shown) {
    for (const { eventName, eventType, metrics } of await results.events(
      project,
      run,
      filters,
      reading,
    )) {
      for (const [metric, score] of Object.entries(metrics)) {
        if (score === null) continue;
        const kind = { name: `metrics.${metric}`, eventName, eventType };
        kinds.set(JSON.stringify(kind), kind);
      }
    }
  }
  const datasets =
    runId === ""
      ? await runs.listDatasetIds(project)
      : shown.flatMap(({ datasetId }) => datasetId ?? []);
  const found = [...kinds.keys()].toSorted().flatMap((key) => kinds.get(key) ?? []);
  const fields = new Map(
    found.map(({ name, eventType }) => [`${eventType} ${name}`, { name, eventType }]),
  );
  const byName = Map.groupBy(found, ({ eventName }) => eventName);
  return {
    fields: [...fields.values()],
    datasets: [...datasets],
    mappings: Object.fromEntries(
      [...byName].map(([eventName, list]) => [
        eventName,
        list.map(({ name, eventType }) => ({ field_name: name, event_type: eventType })),
      ]),
    ),
  };
}

/** Newest runs whose events make the schema of the project. */
const runsOfSchema = 20;

async function newestRuns(runs: Runs, project: ProjectScope): Promise<readonly Run[]> {
  const page = await runs.list(project, {
    datasetId: "",
    runIds: [],
    name: "",
    status: "",
    page: 1,
    limit: runsOfSchema,
    sortBy: "",
    sortOrder: "",
    fromMs: [],
    toMs: [],
  });
  return page.runs;
}

// Fields of the events of runs: which metrics stand on which kinds of events.
// Source: the published clients of this API.

import type { ProjectScope } from "../../access/scope.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Reading } from "../../tracing/events/sized-read.ts";
import type { RunResults } from "./results.ts";
import type { Runs } from "./runs.ts";

export type RunSchema = {
  readonly fields: { name: string; eventType: string }[];
  /** Ids of datasets. */
  readonly datasets: string[];
  /** Metrics by the name of the events. */
  readonly mappings: JsonObject;
};

/** Returns the schema of a run, or of the newest runs of the project for an empty id. */
export async function schemaOf(
  { runs, results }: { readonly runs: Runs; readonly results: RunResults },
  project: ProjectScope,
  runId: string,
  reading: Reading,
): Promise<RunSchema> {
  const ids = runId === "" ? await newestIds(runs, project) : [runId];
  const kinds = new Map<string, { name: string; eventName: string; eventType: string }>();
  for (const id of ids) {
    for (const { eventName, eventType, metrics } of await results.events(
      project,
      id,
      [],
      reading,
    )) {
      for (const metric of Object.keys(metrics)) {
        const kind = { name: `metrics.${metric}`, eventName, eventType };
        kinds.set(JSON.stringify(kind), kind);
      }
    }
  }
  const found = [...kinds.keys()].toSorted().flatMap((key) => kinds.get(key) ?? []);
  const fields = new Map(
    found.map(({ name, eventType }) => [`${eventType} ${name}`, { name, eventType }]),
  );
  const byName = Map.groupBy(found, ({ eventName }) => eventName);
  return {
    fields: [...fields.values()],
    datasets: await datasetsOf(runs, project, runId),
    mappings: Object.fromEntries(
      [...byName].map(([eventName, list]) => [
        eventName,
        list.map(({ name, eventType }) => ({ field_name: name, event_type: eventType })),
      ]),
    ),
  };
}

async function datasetsOf(runs: Runs, project: ProjectScope, runId: string): Promise<string[]> {
  if (runId === "") return [...(await runs.listDatasetIds(project))];
  const { datasetId } = await runs.get(project, runId);
  return datasetId === null ? [] : [datasetId];
}

/** Newest runs whose events make the schema of the project. */
const runsOfSchema = 20;

async function newestIds(runs: Runs, project: ProjectScope): Promise<readonly string[]> {
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
  return page.runs.map((run) => run.runId);
}

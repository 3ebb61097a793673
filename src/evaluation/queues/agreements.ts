// How far the people who review a queue agree, by metric: read in pages, summed event by event.
// Source: docs/queues.md; docs/decisions.md, 45.4.

import type { ProjectRef } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { agreementScoresMax } from "../../base/tenant-limits.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Database } from "../../postgres/database.ts";
import { type Agreement, createAgreementSum, type Level, type Rating } from "./agreement.ts";
import type { HumanMetric, HumanMetrics } from "./human-metrics.ts";
import type { QueueKey } from "./item-store.ts";
import * as store from "./review-store.ts";
import type { ComparedRow } from "./review-store.ts";

export type MetricAgreement = Agreement & {
  readonly metric: HumanMetric;
  readonly level: Level;
};

/** Acts on a queue that the project has. */
export type Agreements = {
  /**
   * Returns the agreement on the metrics that have scores in a queue, or on one metric by id or
   * name. Throws ANSWER_TOO_LARGE if the scores are too many, and INVALID_ARGUMENT for a metric
   * that the project does not have.
   */
  get(
    project: ProjectRef,
    queueId: string,
    metric: string | undefined,
  ): Promise<readonly MetricAgreement[]>;
};

export type AgreementsOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly humanMetrics: HumanMetrics;
  /** Maximum scores to read. */
  readonly scoresMax?: number;
};

const pageRows = 5_000;

export function createAgreements(options: AgreementsOptions): Agreements {
  const { clusters, humanMetrics, scoresMax = agreementScoresMax } = options;
  return {
    async get({ projectId, clusterId }, queueId, named) {
      const all = await humanMetrics.list(projectId);
      const asked = all.filter(({ id, name }) => named === undefined || [id, name].includes(named));
      if (named !== undefined && asked.length === 0) {
        refuse("metric", "the project has no such metric of type HUMAN");
      }
      const database = clusters.database(clusterId).on("reads");
      const found: MetricAgreement[] = [];
      let left = scoresMax;
      for (const metric of asked) {
        const level: Level = metric.returnType === "float" ? "interval" : "nominal";
        const sum = createAgreementSum(level);
        left -= await readRatings(database, { projectId, queueId }, { metric, left, add: sum.add });
        const agreement = sum.get();
        if (agreement.scores > 0 || named !== undefined)
          found.push({ ...agreement, metric, level });
      }
      return found;
    },
  };
}

type Reading = {
  readonly metric: HumanMetric;
  /** Maximum scores to read. */
  readonly left: number;
  /** Called with the scores of each event. */
  readonly add: (ratings: readonly Rating[]) => void;
};

/** Reads the scores of a metric, and returns their number. */
async function readRatings(
  database: Database,
  key: QueueKey,
  { metric: { id: evaluatorId, returnType }, left, add }: Reading,
): Promise<number> {
  let read = 0;
  let event: ComparedRow[] = [];
  for (;;) {
    const after = event.at(-1);
    const page = { evaluatorId, returnType, after, limit: pageRows };
    const rows = await database.inTurn((sql) => store.listScores(sql, key, page));
    read += rows.length;
    if (read > left) {
      const message = "the queue has too many scores for one answer; ask for one metric";
      throw new ServiceError("ANSWER_TOO_LARGE", message);
    }
    for (const row of rows) {
      if (event.length > 0 && event[0]?.eventId !== row.eventId) {
        add(event);
        event = [];
      }
      event.push(row);
    }
    if (rows.length < pageRows) break;
  }
  add(event);
  return read;
}

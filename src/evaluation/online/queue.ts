// The evaluation queue: written events to route. Filled in the commit of the events, so that none
// is lost. Costs ingestion one small statement per commit, and nothing if no evaluator may run.
// Source: docs/evaluators.md; docs/decisions.md, 22.

import { createUuid } from "../../base/ids.ts";
import type { OnWritten, WrittenEvent } from "../../tracing/events/write-set.ts";
import { excludedSources } from "./conditions.ts";
import * as queueStore from "./queue-store.ts";

export type EvaluationQueueOptions = {
  readonly metrics: {
    /** Returns false only if certainly no evaluator of the project runs online. */
    mayHaveEnabled(projectId: string): boolean;
  };
};

/** Maximum events of one row; a router takes whole rows. */
const eventsPerRowMax = 1_000;

/** Returns the recorder's callback for commits. */
export function createEvaluationQueue({ metrics }: EvaluationQueueOptions): {
  readonly onWritten: OnWritten;
} {
  return {
    async onWritten(sql, written) {
      const rows: queueStore.QueueRow[] = [];
      for (const [projectId, events] of Map.groupBy(written, (event) => event.projectId)) {
        if (!metrics.mayHaveEnabled(projectId)) continue;
        const eventIds = events.filter(isLookedAt).map(({ after }) => after.event_id);
        for (let at = 0; at < eventIds.length; at += eventsPerRowMax) {
          const ids = eventIds.slice(at, at + eventsPerRowMax);
          rows.push({ projectId, queueId: createUuid(), eventIds: ids });
        }
      }
      if (rows.length > 0) await queueStore.insertQueueRows(sql, rows);
    },
  };
}

function isLookedAt({ after }: WrittenEvent): boolean {
  return !excludedSources.includes(after.source);
}

// The evaluation queue: which events were written and have to be looked at. Filled in the commit of
// the events, so that none is lost; that costs ingestion one small statement a commit, and nothing
// where no evaluator may run. Called by tracing's recorder. Source: docs/evaluators.md;
// docs/decisions.md, 22.

import { createUuid } from "../../base/ids.ts";
import type { OnWritten, WrittenEvent } from "../../tracing/events/write-set.ts";
import { excludedSources } from "./conditions.ts";
import * as queueStore from "./queue-store.ts";

export type EvaluationQueueOptions = {
  readonly evaluators: {
    /** False only where it is known that no evaluator of the project runs by itself. */
    mayHaveEnabled(projectId: string): boolean;
  };
};

/** Events of one row: a router takes rows whole. */
const eventsPerRowMax = 1_000;

/** Returns what the recorder tells of each commit. */
export function createEvaluationQueue({ evaluators }: EvaluationQueueOptions): {
  readonly onWritten: OnWritten;
} {
  return {
    async onWritten(sql, written) {
      const rows: queueStore.QueueRow[] = [];
      for (const [projectId, events] of Map.groupBy(written, (event) => event.projectId)) {
        if (!evaluators.mayHaveEnabled(projectId)) continue;
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

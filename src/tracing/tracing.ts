// The services of tracing, composed once for each cluster that holds events, each with its own
// commit queue and field cache. Source: docs/decisions.md, 30.

import { createIdempotency, type Idempotency } from "../access/idempotency/idempotency.ts";
import type { ProjectScope } from "../access/scope.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { type QueueSize, sumSizes } from "./events/commit-queue.ts";
import { type Charts, createCharts } from "./charts/charts.ts";
import { createEvents, type Events } from "./events/events.ts";
import { createEventMetrics, type EventMetrics } from "./events/metrics.ts";
import { createRecorder, type Recorder, type RecorderOptions } from "./events/record.ts";
import type { WrittenListener } from "./events/write-set.ts";
import { createExports, type Exports } from "./export/export.ts";
import { createFieldValueLists, type FieldValueLists } from "./export/field-values.ts";
import { createFeedback, type Feedback } from "./feedback/feedback.ts";
import { createFieldCatalogue } from "./fields/fields.ts";
import { createMaskedRecorder, type MaskOf } from "./masking/masked-recorder.ts";
import { createRunEvents, type RunEvents } from "./run-events/run-events.ts";
import { createSelection, type Selection } from "./selection/selection.ts";
import { createSessions, type Sessions } from "./sessions/sessions.ts";
import { createSkeletons, type Skeletons } from "./sessions/skeletons.ts";
import { createSpanLogs, type SpanLogs } from "./spans/record-logs.ts";
import { createTraces, type Traces } from "./spans/record-spans.ts";

/** Services over the events of one cluster. */
export type Tracing = {
  readonly events: Events;
  readonly sessions: Sessions;
  readonly skeletons: Skeletons;
  readonly exports: Exports;
  readonly fieldValues: FieldValueLists;
  readonly charts: Charts;
  readonly traces: Traces;
  readonly spanLogs: SpanLogs;
  readonly feedback: Feedback;
  readonly selection: Selection;
  readonly runEvents: RunEvents;
  /** The service's own scores on events. */
  readonly metrics: EventMetrics;
  /** Returns the mask of texts about events in other tables, such as scores. */
  readonly maskOf: MaskOf;
  /** Stores answers in the cluster, in the same transaction as the call's change. */
  readonly idempotency: Idempotency;
};

/**
 * Returns the services of a project's cluster. Throws DATABASE_UNAVAILABLE while the cluster is
 * down.
 */
export type TracingOf = (project: Pick<ProjectScope, "clusterId">) => Tracing;

export type TracingOptions = Omit<RecorderOptions, "database" | "fields" | "turns"> & {
  readonly clusters: Pick<Clusters, "database">;
  /** Absent: events are stored as they come. */
  readonly maskOf?: MaskOf;
};

export type TracingOfClusters = {
  readonly of: TracingOf;
  /**
   * Sets the listener to the events that each commit creates or changes. To be called before the
   * first use of a cluster.
   */
  listen(listener: WrittenListener): void;
  /** Returns the size of the commit queues of all clusters. */
  queueSize(): QueueSize;
  /** Resolves when no cluster has a waiting write or a running call whose answer it stores. */
  drain(): Promise<void>;
};

export function createTracing(options: TracingOptions): TracingOfClusters {
  const { clusters, onStored, pricingOf, logger } = options;
  const { maskOf = () => Promise.resolve(undefined) } = options;
  let { listener } = options;
  const composed = new Map<Database, Tracing>();
  const recorders: Recorder[] = [];

  function compose(database: Database): Tracing {
    const fields = createFieldCatalogue({ database });
    const unmasked = createRecorder({
      database,
      fields,
      pricingOf,
      listener,
      logger,
      ...(onStored && { onStored }),
    });
    const recorder = createMaskedRecorder(unmasked, maskOf);
    recorders.push(recorder);
    const selection = createSelection({ database, fields });
    return {
      events: createEvents(database, recorder),
      sessions: createSessions({ database, recorder, fields }),
      skeletons: createSkeletons({ database }),
      exports: createExports({ database, fields }),
      fieldValues: createFieldValueLists({ database, fields }),
      charts: createCharts({ database, fields }),
      traces: createTraces({ recorder }),
      spanLogs: createSpanLogs({ database, recorder }),
      feedback: createFeedback(database, recorder, { maskOf }),
      selection,
      runEvents: createRunEvents(database, selection),
      metrics: createEventMetrics({ database, fields }),
      maskOf,
      idempotency: createIdempotency(database),
    };
  }

  return {
    of({ clusterId }) {
      // Looked up on each call: calls to a cluster that is down fail before anything waits for it.
      const database = clusters.database(clusterId);
      const known = composed.get(database);
      if (known) return known;
      const tracing = compose(database);
      composed.set(database, tracing);
      return tracing;
    },
    listen(given) {
      listener = given;
    },
    queueSize: () => sumSizes(recorders.map((recorder) => recorder.queueSize())),
    async drain() {
      await Promise.all([...composed.values()].map(({ idempotency }) => idempotency.drain()));
      await Promise.all(recorders.map((recorder) => recorder.drain()));
    },
  };
}

// Unbounded streams of events, read in chunks by place: a slow client holds no transaction and no
// connection. Source: docs/decisions.md, 15.2.

import { ServiceError } from "../../base/errors.ts";
import { streamsMax, streamsOfProjectMax } from "../../base/limits.ts";
import { streamChunkBytesMax, streamChunkEventsMax } from "../../base/tenant-limits.ts";
import type { Projections, SelectedEvent } from "../events/event-row.ts";
import { findRows, type Found, type ReadContext } from "../events/sized-read.ts";
import type { RowSource } from "../events/sized-store.ts";
import { hasOwnIndex } from "./filter-sql.ts";
import {
  type EventPlace,
  type EventQuery,
  eventsIn,
  findPlace,
  toPlace,
  walkedMaxDefault,
} from "./place-store.ts";
import { countFew, fewEvents, pageOf } from "./store.ts";

/** Consecutive events. */
export type Group = readonly SelectedEvent[];

export type Streams = {
  /**
   * Yields the events of a query in groups, newest first. An event that is stored before and does
   * not change meanwhile comes once. An event that is stored, deleted or given another start time
   * meanwhile may come or not; one whose start time moves back may come twice. Throws OVERLOADED at
   * the first group if the maximum number of streams is running.
   */
  open(
    context: ReadContext,
    query: EventQuery,
    projections: Projections,
  ): AsyncGenerator<Group, void, undefined>;
};

export type StreamsOptions = {
  readonly streamsOfProjectMax?: number;
  readonly streamsMax?: number;
  /** Maximum events that one statement scans. */
  readonly walkedMax?: number;
};

export function createStreams(options: StreamsOptions): Streams {
  const { walkedMax = walkedMaxDefault } = options;
  const quota = createQuota(
    options.streamsOfProjectMax ?? streamsOfProjectMax,
    options.streamsMax ?? streamsMax,
  );
  return {
    async *open(context, query, projections) {
      quota.enter(context.projectId);
      try {
        for await (const chunk of readChunks(context, query, projections, walkedMax)) {
          yield* readGroups(context, chunk);
        }
      } finally {
        quota.leave(context.projectId);
      }
    },
  };
}

/** Limits the running streams, by project and in total. */
function createQuota(ofProjectMax: number, max: number) {
  const running = new Map<string, number>();
  let total = 0;
  return {
    enter(projectId: string): void {
      const own = running.get(projectId) ?? 0;
      if (own >= ofProjectMax) throw tooMany(`${ofProjectMax} event streams of the project`);
      if (total >= max) throw tooMany(`${max} event streams`);
      running.set(projectId, own + 1);
      total += 1;
    },
    leave(projectId: string): void {
      const own = (running.get(projectId) ?? 0) - 1;
      if (own > 0) running.set(projectId, own);
      else running.delete(projectId);
      total -= 1;
    },
  };
}

function tooMany(what: string): ServiceError {
  return new ServiceError("OVERLOADED", `the maximum of ${what} is running; try again`);
}

/**
 * Yields the parts of a chunk. Requesting the next part releases the memory of the previous one.
 */
async function* readGroups(
  { memory }: ReadContext,
  { parts }: Found,
): AsyncGenerator<Group, void, undefined> {
  for await (const { events, heldBytes } of parts) {
    try {
      yield events;
    } finally {
      memory.shrink(heldBytes);
    }
  }
}

/**
 * Yields chunks. Few events are found by their own index and sorted, others by walking back in
 * time, a bounded number of events per statement.
 */
async function* readChunks(
  context: ReadContext,
  query: EventQuery,
  projections: Projections,
  walkedMax: number,
): AsyncGenerator<Found, void, undefined> {
  const find = (source: RowSource, rowsMax: number): Promise<Found> => {
    const bounds = { rowsMax, bytesMax: streamChunkBytesMax, admit: () => undefined };
    return findRows(context, { source, projections, ...bounds });
  };
  if (hasOwnIndex(query.conditions)) {
    const count = await countFew(context.read, query, fewEvents + 1);
    if (count <= fewEvents) {
      const page = { limit: fewEvents, offset: 0, after: undefined, sortsAll: true };
      yield await find(pageOf(query, page), fewEvents);
      return;
    }
  }
  let after: EventPlace | undefined;
  do {
    const end = await findPlace(context.read, query, { after, walked: walkedMax });
    for (let isFull = true; isFull;) {
      const chunk = await find(
        eventsIn(query, { after, end, limit: streamChunkEventsMax }),
        streamChunkEventsMax,
      );
      const last = chunk.rows.at(-1);
      isFull = chunk.rows.length === streamChunkEventsMax;
      after = isFull && last ? toPlace(last) : end;
      yield chunk;
    }
  } while (after !== undefined);
}

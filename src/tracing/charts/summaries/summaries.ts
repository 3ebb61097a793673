// Charts from summaries of past hours: a chart over a long range adds summaries up and reads only
// the events at the ends of its range and of the hours that were changed since. Exact.
// Source: docs/decisions.md, 47.4; docs/charts.md.

import { LRUCache } from "lru-cache";
import { chartCellsMax } from "../../../base/tenant-limits.ts";
import { startPacer } from "../../../base/pacer.ts";
import type { Read } from "../../../postgres/database.ts";
import type { EventQuery } from "../../export/place-store.ts";
import type { ChartQuestion } from "../chart-query.ts";
import type { CellRow } from "../store.ts";
import { toCells, type Part } from "./aggregate.ts";
import { createLoads } from "./loads.ts";
import { planSummaries, type SummaryPlan } from "./plan.ts";
import { createShelves } from "./shelves.ts";
import { listSummaries } from "./store.ts";
import { cutRange, type Stretch } from "./stretches.ts";
import { type Book, createBook, keepHour, type KeptHour, readSummary } from "./summary.ts";

export type Summaries = {
  /**
   * Returns the cells of a chart; undefined if summaries cannot answer the question. `starts` are
   * the starts of its buckets in Unix milliseconds.
   */
  listCells(
    read: Read,
    query: EventQuery,
    question: ChartQuestion,
    starts: readonly number[],
  ): Promise<readonly CellRow[] | undefined>;
};

/** Time for which a question with too many cells is answered from its events. */
const tooLargeMs = 600_000;
const tooLargeMax = 10_000;

export function createSummaries(): Summaries {
  const shelves = createShelves();
  const runLoad = createLoads();
  const tooLarge = new LRUCache<string, true>({ max: tooLargeMax, ttl: tooLargeMs });

  return {
    async listCells(read, query, question, starts) {
      const plan = planSummaries(question, query.conditions);
      const stretches = plan && cutRange(question.range, starts, Date.now());
      if (plan === undefined || !stretches?.some(({ hour }) => hour !== null)) return undefined;
      const key = `${query.projectId} ${plan.key}`;
      if (tooLarge.has(key)) return undefined;
      const { projectId } = query;
      const find = (): Book | undefined => shelves.find(projectId, plan.key);
      const load = async () => {
        const book = find() ?? createBook();
        const parts = await partsOf(read, query, { plan, stretches, book });
        if (parts !== undefined) shelves.keep(projectId, plan.key, book);
        if (find() === undefined) tooLarge.set(key, true);
        return parts && { parts, splits: book.splits };
      };
      // Others may find meanwhile that there are too many cells: these read nothing either way.
      const isLoaded = (): boolean => tooLarge.has(key) || hasHours(find(), stretches);
      const loaded = await runLoad(key, isLoaded, async () =>
        tooLarge.has(key) ? undefined : load(),
      );
      if (loaded === undefined) return undefined;
      const pacer = await startPacer(projectId);
      return toCells(question, { plan, ...loaded, starts }, pacer);
    },
  };
}

/** Returns whether a book has all hours that can be kept, whatever their versions. */
function hasHours(book: Book | undefined, stretches: readonly Stretch[]): boolean {
  return stretches.every(({ hour }) => hour === null || book?.hours.has(hour) === true);
}

type PartsQuestion = {
  readonly plan: SummaryPlan;
  readonly stretches: readonly Stretch[];
  readonly book: Book;
};

/** Returns the summaries of stretches, and keeps those of hours; undefined if too large. */
async function partsOf(
  read: Read,
  query: EventQuery,
  { plan, stretches, book }: PartsQuestion,
): Promise<readonly Part[] | undefined> {
  // Other questions may change the book until the statement ends.
  const known = stretches.map(({ hour }) => (hour === null ? undefined : book.hours.get(hour)));
  const rows = await listSummaries(read, query, {
    plan,
    stretches: stretches.map((one, at) => ({ ...one, version: known[at]?.version ?? null })),
    cellsMax: chartCellsMax,
  });
  if ((rows[0]?.cells ?? 0) > chartCellsMax) return undefined;
  const pacer = await startPacer(query.projectId);
  const made = new Map<number, KeptHour>();
  for (const { at, version, isSettled, summary: json } of rows) {
    const summary = readSummary(book, plan, json);
    const hour = stretches[at]?.hour ?? null;
    if (hour !== null && isSettled) keepHour(book, hour, { version, summary });
    made.set(at, { version, summary });
    if (pacer.due()) await pacer.rest();
  }
  return stretches.flatMap(({ bucket }, at) => {
    const summary = (made.get(at) ?? known[at])?.summary;
    return summary === undefined ? [] : [{ bucket, summary }];
  });
}

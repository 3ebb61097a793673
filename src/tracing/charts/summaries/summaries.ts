// Charts from summaries of past hours: a chart over a long range adds summaries up and reads only
// the events at the ends of its range and of the hours that were changed since. Exact.
// Source: docs/decisions.md, 47.4; docs/charts.md.

import { LRUCache } from "lru-cache";
import type { Reservation } from "../../../base/byte-budget.ts";
import { chartCellBytes } from "../../../base/tenant-limits.ts";
import { startPacer } from "../../../base/pacer.ts";
import type { Read } from "../../../postgres/database.ts";
import type { EventQuery } from "../../export/place-store.ts";
import type { ChartQuestion } from "../chart-query.ts";
import type { CellRow } from "../store.ts";
import { toCells } from "./aggregate.ts";
import { type Book, createBook, findKept, keepSummary, type KeptHour, numberOf } from "./book.ts";
import { pacerUntil } from "./deadline.ts";
import {
  cellsMaxOf,
  createLoadPlaces,
  expectedCells,
  type Hold,
  holdIn,
  type Places,
} from "./load-memory.ts";
import { createLoads } from "./loads.ts";
import { planSummaries, type SummaryPlan } from "./plan.ts";
import { createShelves } from "./shelves.ts";
import { hasDue, listSummaries, type SummaryRow } from "./store.ts";
import { cutRange, type Stretch } from "./stretches.ts";
import type { Part } from "./sums.ts";
import { readSummary, type Summary } from "./summary.ts";

export type Summaries = {
  /** Returns the cells of a chart; undefined if summaries cannot answer the question. */
  listCells(asking: Asking): Promise<readonly CellRow[] | undefined>;
};

/** A question, and the call that asks it. */
export type Asking = {
  readonly read: Read;
  readonly query: EventQuery;
  readonly question: ChartQuestion;
  /** Starts of the buckets in Unix milliseconds. */
  readonly starts: readonly number[];
  readonly organization: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly memory: Reservation;
  /** Time of the process' clock by which the answer is due. */
  readonly endsAtMs: number;
};

/** Hours that may have ended since the last such chart; one that lacks more reads everything. */
const newHoursMax = 3;

/** Time for which a question with too many cells is answered from its events. */
const tooLargeMs = 600_000;
const tooLargeMax = 10_000;

export function createSummaries(): Summaries {
  const shelves = createShelves();
  const runLoad = createLoads();
  const places = createLoadPlaces();
  const tooLarge = new LRUCache<string, true>({ max: tooLargeMax, ttl: tooLargeMs });

  async function load(asking: Asking, { plan, stretches, hold }: Planned) {
    const { projectId } = asking.query;
    const find = (): Book | undefined => shelves.find(projectId, plan.key);
    const key = `${projectId} ${plan.key}`;
    // Others may find meanwhile that there are too many cells: these read nothing either way.
    const isLoaded = (): boolean => tooLarge.has(key) || hasHours(find(), stretches);
    return runLoad({ key, isLoaded, endsAtMs: asking.endsAtMs }, async () => {
      if (tooLarge.has(key)) return undefined;
      const book = find() ?? createBook();
      const keep = (): void => shelves.keep(projectId, plan.key, book);
      const parts = await partsOf(asking, { plan, stretches, book, places, hold, keep });
      if (parts !== undefined) keep();
      if (parts === undefined || find() === undefined) tooLarge.set(key, true);
      return parts && { parts, book, splits: book.splits };
    });
  }

  return {
    async listCells(asking) {
      const { query, question, starts, memory } = asking;
      const { projectId, conditions } = query;
      const plan = planSummaries(question, conditions);
      const stretches = plan && cutRange(question.range, starts, Date.now());
      if (plan === undefined || !stretches?.some(({ isWhole }) => isWhole)) return undefined;
      if (tooLarge.has(`${projectId} ${plan.key}`)) return undefined;
      const hold = holdIn(memory);
      try {
        const loaded = await load(asking, { plan, stretches, hold });
        if (loaded === undefined) return undefined;
        const pacer = pacerUntil(await startPacer(projectId), asking);
        const cells = await toCells(question, { plan, ...loaded, starts }, { pacer, hold });
        // It may have grown by sums.
        const { book } = loaded;
        if (shelves.find(projectId, plan.key) === book) shelves.keep(projectId, plan.key, book);
        return cells;
      } finally {
        hold.release();
      }
    },
  };
}

function hasKept(book: Book | undefined, stretch: Stretch): boolean {
  return book !== undefined && findKept(book, stretch) !== undefined;
}

/** Returns whether a book has all hours that can be kept, whatever their versions. */
function hasHours(book: Book | undefined, stretches: readonly Stretch[]): boolean {
  return stretches.every((one) => !one.isWhole || hasKept(book, one));
}

type Planned = {
  readonly plan: SummaryPlan;
  readonly stretches: readonly Stretch[];
  readonly hold: Hold;
};

type PartsQuestion = Planned & { readonly book: Book; readonly places: Places };

/** Hours that one statement reads for the first time, at most. */
const portionHours = 168;

/**
 * Returns the summaries of stretches, and keeps those of hours; undefined if too large. Hours that
 * the book lacks are read in portions, and `keep` is called after each: a chart that is cut off
 * goes on there when it is asked for again.
 */
async function partsOf(
  asking: Asking,
  { keep, ...question }: PartsQuestion & { readonly keep: () => void },
): Promise<readonly Part[] | undefined> {
  const { book, stretches } = question;
  const lacking = stretches.filter((one) => one.isWhole && !hasKept(book, one));
  let most = cellsMaxOf(asking.memory);
  while (lacking.length > portionHours) {
    const portion = lacking.splice(0, portionHours);
    const parts = await readParts(asking, { ...question, stretches: portion }, most);
    if (parts === undefined) return undefined;
    most -= book.lastCells;
    keep();
  }
  const missing = lacking.length;
  const held = missing === 0 && (await heldParts(asking, question));
  if (held) return held;
  const expected = missing > newHoursMax ? most : expectedCells(book.lastCells);
  const parts = await readParts(asking, question, Math.min(expected, most));
  // More hours changed than usually do.
  return parts ?? (expected < most ? readParts(asking, question, most) : undefined);
}

/** Returns the parts if the book has all of them and none has changed; else undefined. */
async function heldParts(
  { query, read }: Asking,
  { book, stretches }: PartsQuestion,
): Promise<readonly Part[] | undefined> {
  // Their versions and summaries, since other questions may change the book meanwhile.
  const known = stretches.map((one) => findKept(book, one));
  if (known.includes(undefined)) return undefined;
  const versions = stretches.map((one, at) => ({ ...one, version: known[at]?.version ?? null }));
  if (await hasDue(read, query, versions)) return undefined;
  return toParts(book, stretches, (at) => known[at]?.summary);
}

function toParts(
  book: Book,
  stretches: readonly Stretch[],
  summaryAt: (at: number) => Summary | undefined,
): readonly Part[] {
  return stretches.flatMap((stretch, at) => {
    const summary = summaryAt(at);
    if (summary === undefined) return [];
    const isKept = stretch.isWhole && findKept(book, stretch)?.summary === summary;
    return [{ bucket: stretch.bucket, summary, isKept }];
  });
}

/** Returns the parts; undefined if they have more than `cellsMax` cells. */
async function readParts(
  asking: Asking,
  { plan, stretches, book, places, hold }: PartsQuestion,
  cellsMax: number,
): Promise<readonly Part[] | undefined> {
  const { query, organization, signal } = asking;
  const { projectId } = query;
  const leave = await places.enter({ projectId, organization, signal }, cellsMax);
  let reserved = 0;
  try {
    // Other questions may change the book until the statement ends.
    const known = stretches.map((one) => findKept(book, one));
    const read: Read = (statement) =>
      asking.read((sql) => {
        // Reserved only when it runs, and once, even if the statement is tried again.
        if (reserved === 0) hold.grow(cellsMax * chartCellBytes);
        reserved = cellsMax * chartCellBytes;
        return statement(sql);
      });
    const rows = await listSummaries(read, query, {
      plan,
      stretches: stretches.map((one, at) => ({ ...one, version: known[at]?.version ?? null })),
      cellsMax,
    });
    book.lastCells = rows[0]?.cells ?? 0;
    if (book.lastCells > cellsMax) return undefined;
    hold.giveBack(reserved - book.lastCells * chartCellBytes);
    reserved = 0;
    const made = await readSummaries(book, { plan, stretches, projectId }, rows);
    return toParts(book, stretches, (at) => (made.get(at) ?? known[at])?.summary);
  } finally {
    hold.giveBack(reserved);
    leave();
  }
}

type ReadOptions = {
  readonly plan: SummaryPlan;
  readonly stretches: readonly Stretch[];
  readonly projectId: string;
};

/** Reads summaries, by the places of their stretches, and keeps those of hours. */
async function readSummaries(
  book: Book,
  { plan, stretches, projectId }: ReadOptions,
  rows: readonly SummaryRow[],
): Promise<ReadonlyMap<number, KeptHour>> {
  const pacer = await startPacer(projectId);
  const made = new Map<number, KeptHour>();
  for (const { at, version, isSettled, summary: json } of rows) {
    const summary = readSummary(plan, json, (split) => numberOf(book, split));
    const stretch = stretches[at];
    if (stretch && isSettled) keepSummary(book, stretch, { version, summary });
    made.set(at, { version, summary });
    if (pacer.due()) await pacer.rest();
  }
  return made;
}

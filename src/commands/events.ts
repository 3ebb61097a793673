// `waggle events search | export | tail`: reads events of a running service as lines of JSON.

import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { type JsonValue, tryParseJson } from "../base/json.ts";
import { OperatorError } from "../base/operator-error.ts";
import type { Flags } from "../config.ts";
import { type CommandContext, outputEnd, print, printBody } from "./command.ts";
import { interruptibly, orAborted } from "./interruption.ts";
import { countFlag, readCallOptions, textFlag } from "./service-call.ts";
import { createServiceClient, PassingFault, type ServiceClient } from "./service-client.ts";
import { filterOperators } from "../tracing/export/filter.ts";

export const usage = `usage:
  waggle events search [--from TIME] [--to TIME] [--fields A,B] [--limit N] [FILTER…]
  waggle events export [--from TIME] [--to TIME] [--fields A,B] [FILTER…]
  waggle events tail [--fields A,B] [FILTER…]
      FILTER is "FIELD OPERATOR VALUE" with is, is not, contains, not contains, exists, not exists,
      greater than, less than, after or before. A FIELD with a space, or a " at its start, is
      written as a JSON text: '"metadata.user name" is ada'. VALUE is JSON where it can be: 12 is a
      number, "12" a text. TIME is RFC 3339, such as 2026-11-01T00:00:00Z, or a day in UTC, all of
      which counts: --from 2026-11-01 --to 2026-11-01 is one day. tail sees an event when it is
      among the 200 that start last: one that comes late with an older start is not printed. While
      the service is away tail waits, ten minutes at most, and then goes on where it was.
      --url, and --key-file or WAGGLE_API_KEY, say where and with which key.`;

/** Longest first, since one may begin another. */
const operators = filterOperators.toSorted((a, b) => b.length - a.length);

type Filter = { readonly field: string; readonly operator: string; readonly value?: JsonValue };

type Question = {
  readonly filters: readonly Filter[];
  readonly dateRange: { readonly $gte: number | undefined; readonly $lte: number | undefined };
  readonly projections: readonly string[] | undefined;
};

type PageRequest = Question & {
  readonly limit: number;
  readonly total?: "estimate";
  readonly cursor?: string | undefined;
};

const eventPage = z.object({
  events: z.array(z.object({ event_id: z.string() })),
  count: z.number(),
  next_cursor: z.string().optional(),
});
type Page = z.infer<typeof eventPage>;
type Event = Page["events"][number];

const acts: Readonly<Record<string, typeof search>> = { search, export: exportAll, tail };

/** Runs the command; the exit code is 0 unless the service refuses. */
export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  const [name = "", ...filters] = operands;
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
  if (act === undefined) throw new OperatorError(usage);
  const client = createServiceClient(await readCallOptions(config, flags));
  await act(client, toQuestion(filters, flags), flags);
  return 0;
}

/** Prints the newest events that match, and on standard error how many there are in all. */
async function search(client: ServiceClient, question: Question, flags: Flags): Promise<void> {
  const limit = countFlag(flags, "limit") ?? 20;
  const { events, count } = await readPage(client, { ...question, limit });
  for (const event of events) print(JSON.stringify(event));
  process.stderr.write(`${events.length} of ${count} events\n`);
}

/** Prints every event that matches; fails if the stream breaks off. */
async function exportAll(client: ServiceClient, question: Question): Promise<void> {
  const call = { method: "POST", path: "/v1/events/stream", timeoutMs: 0 } as const;
  const headers = { accept: "application/x-ndjson" };
  await printBody(await client.open({ ...call, headers, body: question }));
}

/**
 * Prints events as they are stored, until it is stopped. The API orders events by their start
 * alone, so a late event is seen only while it is among the newest `tailPage.limit` by start.
 * A service that is away after the first look is asked again: nothing is marked as seen before it
 * is printed, so the next answer goes on where the last one ended.
 */
async function tail(client: ServiceClient, question: Question): Promise<void> {
  const seen = new LRUCache<string, true>({ max: tailMemory });
  await interruptibly(async (signal) => {
    const { events } = await readPage(client, { ...question, ...tailPage });
    for (const { event_id } of events) seen.set(event_id, true);
    const over = AbortSignal.any([signal, outputEnd]);
    const look = awaitService(() => listUnseen(client, question, seen), over);
    while (!over.aborted) {
      await pause(tailMs, over);
      for (const event of await look()) {
        print(JSON.stringify(event));
        seen.set(event.event_id, true);
      }
    }
  });
}

/**
 * Returns `look` with its passing faults waited out: as long as the service asks for, else longer
 * from one to the next. Each wait is told on standard error. Throws the fault where the service has
 * been away for `awayMsMax`; the list is empty if it is over meanwhile.
 */
function awaitService(
  look: () => Promise<readonly Event[]>,
  over: AbortSignal,
): () => Promise<readonly Event[]> {
  return async () => {
    const startMs = Date.now();
    for (let waitMs = tailMs; !over.aborted; waitMs = Math.min(2 * waitMs, waitMsMax)) {
      try {
        const events = await orAborted(look(), over);
        if (waitMs > tailMs) process.stderr.write("the service answers again\n");
        return events;
      } catch (error) {
        if (over.aborted) break;
        if (!(error instanceof PassingFault)) throw error;
        const leftMs = startMs + awayMsMax - Date.now();
        if (leftMs <= 0) throw error;
        const wantedMs = Math.min(Math.max(error.retryAfterMs ?? waitMs, tailMs), leftMs);
        const seconds = Math.ceil(wantedMs / 1_000);
        process.stderr.write(`${error.message}; tail goes on in ${seconds} s…\n`);
        await pause(wantedMs, over);
      }
    }
    return [];
  };
}

/** Waits, or returns at once when it is over. */
async function pause(ms: number, over: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: over }).catch(() => undefined);
}

/** Reads pages back to one that has a seen event; returns the unseen ones, oldest first. */
async function listUnseen(
  client: ServiceClient,
  question: Question,
  seen: LRUCache<string, true>,
): Promise<readonly Event[]> {
  const unseen: Event[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(client, { ...question, ...tailPage, cursor });
    const isNew = page.events.filter(({ event_id }) => !seen.has(event_id));
    unseen.push(...isNew);
    cursor = isNew.length === page.events.length ? page.next_cursor : undefined;
  } while (cursor !== undefined);
  return unseen.toReversed();
}

const tailMs = 1_000;
/** Maximum wait that `tail` chooses itself. */
const waitMsMax = 30_000;
/** Time after which `tail` gives up a service that does not answer: longer than a restart takes. */
const awayMsMax = 600_000;
const tailPage = { limit: 200, total: "estimate" } as const;
/** Ids that `tail` remembers, so that no event comes twice. */
const tailMemory = 10_000;

async function readPage(client: ServiceClient, body: PageRequest): Promise<Page> {
  return client.readAs({ method: "POST", path: "/v1/events/search", body }, eventPage);
}

function toQuestion(filters: readonly string[], flags: Flags): Question {
  return {
    filters: filters.map(parseFilter),
    dateRange: { $gte: readTime(flags, "from", 0), $lte: readTime(flags, "to", lastOfDayMs) },
    projections: textFlag(flags, "fields")?.split(","),
  };
}

/** Milliseconds from a day's beginning to its last microsecond. */
const lastOfDayMs = 86_400_000 - 0.001;

/** Returns the Unix milliseconds of a flag, later by `ofDayMs` for a day; undefined without it. */
function readTime(flags: Flags, name: string, ofDayMs: number): number | undefined {
  const text = textFlag(flags, name);
  if (text === undefined) return undefined;
  if (z.iso.date().safeParse(text).success) return Date.parse(text) + ofDayMs;
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return Date.parse(text);
  throw new OperatorError(`--${name} must be a time such as 2026-11-01T00:00:00Z or 2026-11-01`);
}

const filterPattern = /^("(?:[^"\\]|\\.)*"|\S+)\s+(.+)$/s;

/**
 * Reads `metadata.user is ada`; a value that is JSON, such as 12 or true, is taken as JSON, and so
 * is a field that begins with a quotation mark, which no field's name does.
 */
function parseFilter(text: string): Filter {
  const [, name = "", rest = ""] = filterPattern.exec(text.trim()) ?? [];
  const quoted = name.startsWith('"') ? tryParseJson(name) : undefined;
  const field = typeof quoted === "string" ? quoted : name;
  const operator = operators.find((one) => rest === one || rest.startsWith(`${one} `));
  if (operator === undefined) throw new OperatorError(`no filter: ${text}\n${usage}`);
  const value = rest.slice(operator.length).trim();
  if (value === "") return { field, operator };
  if (operator.endsWith("exists")) throw new OperatorError(`${operator} takes no value: ${text}`);
  const json = tryParseJson(value);
  return { field, operator, value: json === undefined ? value : json };
}

// `waggle events search | export | tail`: reads events of a running service as lines of JSON.

import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "../base/json.ts";
import { OperatorError } from "../base/operator-error.ts";
import type { Flags } from "../config.ts";
import type { CommandContext } from "./command.ts";
import { print, printBody } from "./command.ts";
import { interruptibly } from "./interruption.ts";
import { readCallOptions, textFlag } from "./service-call.ts";
import { createServiceClient, type ServiceClient } from "./service-client.ts";

const usage = `usage:
  waggle events search [--from TIME] [--to TIME] [--fields A,B] [--limit N] [FILTER…]
  waggle events export [--from TIME] [--to TIME] [--fields A,B] [FILTER…]
  waggle events tail [--fields A,B] [FILTER…]
      FILTER is "FIELD OPERATOR VALUE" with is, is not, contains, not contains, exists, not exists,
      greater than, less than, after or before. TIME is RFC 3339. --url, and --key-file or
      WAGGLE_API_KEY, say where and with which key.`;

const operators = [
  ...["is not", "is", "not contains", "contains", "not exists", "exists"],
  ...["greater than", "less than", "after", "before"],
];

type Filter = { readonly field: string; readonly operator: string; readonly value?: JsonValue };

type Question = {
  readonly filters: readonly Filter[];
  readonly dateRange?: { readonly $gte?: number; readonly $lte?: number };
  readonly projections?: readonly string[];
};

type Page = { readonly events: readonly { readonly event_id: string }[]; readonly count: number };

const acts: Readonly<Record<string, typeof search>> = { search, export: exportAll, tail };

/** Runs the command; the exit code is 0 unless the service refuses. */
export async function runEvents({ config, flags, operands }: CommandContext): Promise<number> {
  const [name = "", ...filters] = operands;
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
  if (act === undefined) throw new OperatorError(usage);
  const client = createServiceClient(await readCallOptions(config, flags));
  await act(client, toQuestion(filters, flags), flags);
  return 0;
}

/** Prints the newest events that match, and on standard error how many there are in all. */
async function search(client: ServiceClient, question: Question, flags: Flags): Promise<void> {
  const limit = Number(textFlag(flags, "limit") ?? 20);
  const { events, count } = await readPage(client, question, limit);
  for (const event of events) print(JSON.stringify(event));
  process.stderr.write(`${events.length} of ${count} events\n`);
}

/** Prints every event that matches; fails if the stream breaks off. */
async function exportAll(client: ServiceClient, question: Question): Promise<void> {
  const call = { method: "POST", path: "/v1/events/stream", timeoutMs: 0 } as const;
  await printBody(await client.open({ ...call, body: question }));
}

/** Prints events as they are stored, until it is stopped. */
async function tail(client: ServiceClient, question: Question): Promise<void> {
  const seen = new Set<string>();
  let isFirst = true;
  await interruptibly(async (signal) => {
    while (!signal.aborted) {
      const { events } = await readPage(client, question, tailPage);
      for (const event of events.toReversed()) {
        if (!isFirst && !seen.has(event.event_id)) print(JSON.stringify(event));
        seen.add(event.event_id);
      }
      for (const id of seen) if (seen.size > tailMemory) seen.delete(id);
      isFirst = false;
      await delay(tailMs, undefined, { signal }).catch(() => undefined);
    }
  });
}

const tailMs = 1_000;
const tailPage = 200;
/** Ids that `tail` remembers, so that no event comes twice. */
const tailMemory = 10_000;

async function readPage(client: ServiceClient, question: Question, limit: number): Promise<Page> {
  const body = { ...question, limit };
  const text = await client.read({ method: "POST", path: "/v1/events/search", body });
  return JSON.parse(text) as Page;
}

function toQuestion(filters: readonly string[], flags: Flags): Question {
  const [from, to, fields] = ["from", "to", "fields"].map((name) => textFlag(flags, name));
  const bounds = {
    ...(from !== undefined && { $gte: toMs("from", from) }),
    ...(to !== undefined && { $lte: toMs("to", to) }),
  };
  return {
    filters: filters.map(parseFilter),
    ...(from === undefined && to === undefined ? {} : { dateRange: bounds }),
    ...(fields !== undefined && { projections: fields.split(",") }),
  };
}

function toMs(name: string, text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms))
    throw new OperatorError(`--${name} must be a time such as 2026-11-01T00:00Z`);
  return ms;
}

/** Reads `metadata.user is ada`; a value that is JSON, such as 12 or true, is taken as JSON. */
function parseFilter(text: string): Filter {
  const [, field = "", rest = ""] = /^(\S+)\s+(.+)$/.exec(text.trim()) ?? [];
  const operator = operators.find((one) => rest === one || rest.startsWith(`${one} `));
  if (operator === undefined) throw new OperatorError(`no filter: ${text}\n${usage}`);
  const value = rest.slice(operator.length).trim();
  return { field, operator, ...(value !== "" && { value: parseValue(value) }) };
}

function parseValue(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

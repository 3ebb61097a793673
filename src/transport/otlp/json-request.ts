// Reads what the export requests of every signal have in OTLP JSON: the list of a request, and the
// items of a scope. A malformed item is left out; a malformed object around items fails the
// request.
// Source: OpenTelemetry protocol, "JSON Protobuf Encoding".

import type { DescMessage } from "@bufbuild/protobuf";
import type { Reservation } from "../../base/byte-budget.ts";
import { reserveDecoded } from "../../base/decode/tally.ts";
import { ServiceError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import { quoteText } from "../../base/quote-text.ts";
import type { Rejected } from "../../tracing/spans/span.ts";
import { messageBytesOf } from "../decode/json-message.ts";
import { asObject, FieldError, pick, readList } from "./json-fields.ts";

/** Name of a field in camelCase and in snake_case. */
export type FieldNames = readonly [camel: string, snake: string];

/** State of the reading of one request. */
export type Reading = {
  /** Items that are left out. */
  readonly rejected: Rejected[];
  readonly pacer: Pacer;
  readonly memory: Reservation;
};

/**
 * Reads the list of a request, and returns its items and those that were left out inside them.
 * Fails with MALFORMED_BODY if the body is not an object of that form, and with BODY_TOO_LARGE or
 * OVERLOADED if there is no memory for its items.
 */
export async function readRequest<Part>(
  root: unknown,
  memory: Reservation,
  [camel, snake]: FieldNames,
  read: (source: JsonObject, reading: Reading) => Promise<Part>,
): Promise<{ readonly parts: Part[]; readonly rejected: readonly Rejected[] }> {
  if (!isJsonObject(root)) {
    throw new ServiceError("MALFORMED_BODY", "the body is not a JSON object");
  }
  const rejected: Rejected[] = [];
  const reading: Reading = { rejected, pacer: createPacer(memory.holder), memory };
  try {
    const parts: Part[] = [];
    for (const item of readList(pick(root, camel, snake), camel)) {
      parts.push(await read(asObject(item, camel), reading));
    }
    return { parts, rejected };
  } catch (cause) {
    if (!(cause instanceof FieldError)) throw cause;
    throw new ServiceError("MALFORMED_BODY", cause.message, { cause });
  }
}

export type ItemsOptions<Item> = {
  /** Field of the list. */
  readonly list: FieldNames;
  /** Word for an item in messages. */
  readonly what: string;
  /** Field of an item's name. */
  readonly name: FieldNames;
  readonly schema: DescMessage;
  readonly read: (source: JsonObject) => Item;
};

/** Reads the items of a scope; those that are malformed are left out with their reasons. */
export async function readItems<Item>(
  scope: JsonObject,
  { rejected, pacer, memory }: Reading,
  { list: [camel, snake], what, name, schema, read }: ItemsOptions<Item>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (const item of readList(pick(scope, camel, snake), camel)) {
    if (pacer.due()) await pacer.rest();
    reserveDecoded(messageBytesOf(schema, item), memory);
    try {
      items.push(read(asObject(item, what)));
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      rejected.push({ reason: `${what} ${nameOf(item, name)}: ${error.message}` });
    }
  }
  return items;
}

function nameOf(item: JsonValue, [camel, snake]: FieldNames): string {
  const name = isJsonObject(item) ? pick(item, camel, snake) : undefined;
  return quoteText(typeof name === "string" ? name : "");
}

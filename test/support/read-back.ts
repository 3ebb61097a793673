// Reads a client's data back over REST, as a program that knows only the API would.

import { callRoute } from "./call-route.ts";

/** An event of /v1/events/export, with times in Unix milliseconds. */
export type ReadEvent = {
  readonly event_id: string;
  readonly session_id: string;
  readonly parent_id: string | null;
  readonly event_type: string;
  readonly event_name: string;
  readonly source: string;
  readonly error: string | null;
  readonly start_time: number;
  readonly end_time?: number;
  readonly duration?: number;
  readonly children_ids: readonly string[];
} & Readonly<Record<Bucket, Readonly<Record<string, unknown>>>>;

type Bucket =
  | "config"
  | "inputs"
  | "outputs"
  | "metadata"
  | "metrics"
  | "feedback"
  | "user_properties";

export type Filter = { readonly field: string; readonly operator: string; readonly value: unknown };

export type ReadAccess = { readonly url: string; readonly key: string };

/**
 * Sends JSON and returns the JSON answer. Throws an error with the answer unless the status is 200.
 */
export async function callRest<T>(
  { url, key }: ReadAccess,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const by = { url, headers: { authorization: `Bearer ${key}` } };
  const { status, text, json } = await callRoute(by, `${method} ${path}`, body);
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
  return json as T;
}

/**
 * Returns the matching events, oldest first, including sessions unless the filters exclude them.
 */
export async function readEvents(
  access: ReadAccess,
  filters: readonly Filter[],
): Promise<readonly ReadEvent[]> {
  const page = { filters, limit: 1_000 };
  type Answer = { readonly events: readonly ReadEvent[] };
  const { events } = await callRest<Answer>(access, "POST", "/v1/events/export", page);
  return events.toReversed();
}

/** Returns an equality filter. */
export function is(field: string, value: unknown): Filter {
  return { field, operator: "is", value };
}

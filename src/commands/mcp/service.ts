// Reads from a running service with the key that the command was given.

import type { JsonObject } from "../../base/json.ts";
import { messageOf } from "../import/client.ts";
import { isJsonObject, tryParseJson } from "../../base/json.ts";

/** What one call asks for. */
export type ServiceCall = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Query parameters; absent values are left out, a list is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly body?: unknown;
};

export type Service = {
  /** Returns the answer's JSON text. Throws an error with the service's own words. */
  read(call: ServiceCall): Promise<string>;
};

const callTimeoutMs = 60_000;

export function createService(url: string, key: string): Service {
  return {
    async read({ method, path, query = {}, body }) {
      const target = new URL(path, url);
      for (const [name, value] of Object.entries(query)) {
        for (const one of [value ?? []].flat()) target.searchParams.append(name, String(one));
      }
      const response = await fetch(target, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(callTimeoutMs),
      });
      const text = await response.text();
      if (response.ok) return text;
      const value = tryParseJson(text);
      const answer: JsonObject = isJsonObject(value) ? value : {};
      throw new Error(`${method} ${path}: ${response.status}: ${messageOf(answer)}`);
    },
  };
}

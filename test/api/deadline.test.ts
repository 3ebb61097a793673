// Calls whose work never ends: how long they hang, and what their callers are told.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { keyOf, startTransport } from "../support/transport.ts";

const transport = givenStarted(() =>
  startTransport({
    ingestionTimeoutMs: 50,
    unaryTimeoutMs: 100,
    events: { createEvent: () => never, getEvent: () => never },
  }),
);

const never = new Promise<never>(() => undefined);

test.each([
  {
    method: "POST",
    path: "/events",
    status: 503,
    reason: "DATABASE_UNAVAILABLE",
    retry: "1",
    told: {},
  },
  {
    method: "GET",
    path: "/v1/events/e",
    status: 504,
    reason: "DEADLINE_EXCEEDED",
    retry: null,
    told: { message: "no answer in 100 ms" },
  },
])("$method $path ends with $reason", async ({ method, path, status, reason, retry, told }) => {
  const response = await fetch(transport.url + path, {
    method,
    headers: { authorization: keyOf("project"), "content-type": "application/json" },
    body: method === "POST" ? JSON.stringify({ event: { event_type: "tool", inputs: {} } }) : null,
  });

  expect(response.status).toBe(status);
  expect(response.headers.get("retry-after")).toBe(retry);
  const errorCode = reason;
  expect(await response.json()).toEqual({ success: false, statusCode: status, errorCode, ...told });
});

// Server streams over REST on both HTTP versions: a slow client slows the source, one that goes
// ends it, and compressed streams still arrive piece by piece.

import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { ServiceError } from "../../src/base/errors.ts";
import { givenStarted } from "../support/given.ts";
import { keyOf, startTransport } from "../support/transport.ts";

const service = givenStarted(() =>
  startTransport({
    async *streamEvents({ projections: [pause] }) {
      try {
        for (;;) {
          produced += 1;
          const inputs = { text: "x".repeat(10_000), produced };
          yield { item: { case: "event", value: { eventId: "e", inputs } } };
          await delay(pause === "pause" ? 50 : 0);
          if (pause === "fail" && produced === 3) throw new ServiceError("INTERNAL", "bug");
        }
      } finally {
        isEnded = true;
      }
    },
  }),
);
let produced = 0;
let isEnded = false;
beforeEach(() => {
  produced = 0;
  isEnded = false;
});
const headers = { authorization: keyOf("project") };
type Opened = { readonly body: Readable; readonly cut: () => void };

function openHttp1(body: string, extra: Record<string, string> = {}): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers: { ...headers, ...extra } };
    const request = httpRequest(`${service.url}/v1/events/stream`, options, (response) => {
      resolve({ body: response, cut: () => request.destroy() });
    });
    request.on("error", reject).end(body);
  });
}

function openHttp2(body: string, extra: Record<string, string> = {}): Promise<Opened> {
  const session = connectHttp2(service.url);
  const request = session.request({
    ":method": "POST",
    ":path": "/v1/events/stream",
    ...headers,
    ...extra,
  });
  request.end(body);
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", () => resolve({ body: request, cut: () => session.destroy() }));
  });
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !isTrue(); round += 1) await delay(20);
  expect(isTrue()).toBe(true);
}

describe.each([
  { name: "HTTP/1.1", open: openHttp1 },
  { name: "HTTP/2", open: openHttp2 },
])("a stream over $name", ({ open }) => {
  test("stops at a client that does not read, and ends when it goes", async () => {
    const { cut } = await open("{}");
    let before = -1;
    while (before !== produced) {
      before = produced;
      await delay(200);
    }
    // Some megabytes stand in the kernel's buffers; the source must not run ahead of them.
    expect(produced).toBeLessThan(3_000);
    expect(isEnded).toBe(false);

    cut();
    await until(() => isEnded);
  });

  test("ends when the client goes while it reads", async () => {
    const { body, cut } = await open('{"projections":["pause"]}');
    body.on("error", () => undefined);
    body.once("data", cut);
    await until(() => isEnded);
  });

  test("arrives piece by piece when compressed", async () => {
    const { body, cut } = await open('{"projections":["pause"]}', { "accept-encoding": "gzip" });
    const inflated = body.pipe(createGunzip());
    let text = "";
    inflated.on("data", (chunk: Buffer) => (text += chunk.toString()));
    inflated.on("error", () => undefined);
    await until(() => text.includes('"produced":3'));
    // The source has only just made what has already arrived.
    expect(produced).toBeLessThan(30);
    cut();
    await until(() => isEnded);
  });

  test("that fails ends with an error line and no clean end", async () => {
    const { body, cut } = await open('{"projections":["fail"]}');
    let text = "";
    const isClean = await new Promise<boolean>((resolve) => {
      body.on("data", (chunk: Buffer) => (text += chunk.toString()));
      body.on("error", () => resolve(false));
      body.on("end", () => resolve(true));
    });
    cut();
    expect(text.trimEnd().split("\n").at(-1)).toBe('{"success":false,"errorCode":"INTERNAL"}');
    expect(isClean).toBe(false);
  });

  test("is refused with a body unread", async () => {
    const { body, cut } = await open(" ".repeat(100_000), { authorization: "Bearer nobody" });
    let text = "";
    for await (const chunk of body) text += String(chunk);
    cut();
    expect(text).toContain("NOT_FOUND");
  });
});

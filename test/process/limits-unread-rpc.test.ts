// Answers of gRPC, gRPC-Web and Connect that their client does not read: they stay within the
// project's memory, and a second tenant does not notice. Source: docs/limits.md.

import { setTimeout as delay } from "node:timers/promises";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { beforeAll, expect, test, vi } from "vitest";
import { ExportService } from "../../gen/waggle/v1/export_pb.js";
import { givenStarted } from "../support/given.ts";
import { protocols, rpcProtocols, toHttp } from "../support/attack/protocols.ts";
import { startAttackedService } from "../support/attack/service.ts";
import { openUnreadStreams } from "../support/attack/unread.ts";
import { underAttack } from "../support/attack/watch.ts";
import { patience } from "../support/patience.ts";

const timeoutMs = 300_000;
const eventsOfPage = 60;

const service = givenStarted(startAttackedService);

beforeAll(async () => {
  await storePage();
}, timeoutMs);

/** Stores a page under the limit of answers: 60 errors of 900 kB. */
async function storePage(): Promise<void> {
  const error = "e".repeat(900_000);
  const event = { event_type: "tool", source: "attack", inputs: {}, error };
  const response = await fetch(`${service.url}/events/batch`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.attacker.projectKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ events: Array.from({ length: eventsOfPage }, () => event) }),
  });
  expect(response.status, await response.text()).toBe(200);
}

const method = ExportService.method.exportEvents;
const page = {
  filters: [{ field: "error", operator: "exists" }],
  projections: ["error"],
  limit: eventsOfPage,
};
const bodies = {
  json: Buffer.from(JSON.stringify(page)),
  proto: Buffer.from(toBinary(method.input, fromJson(method.input, page))),
};

const count = 14;

test.each(rpcProtocols)(
  "unread answers over %s stay within the project's memory",
  { timeout: timeoutMs },
  async (protocol) => {
    const body = bodies[protocols[protocol].codec];
    const key = service.attacker.projectKey;
    const request = await toHttp({ protocol, method, rest: "", body, key });
    const headers = { ...request.headers, ":path": request.path };
    const attack = { method: "POST", headers, body: request.body };

    const statuses = await underAttack(service, async () => {
      const unread = openUnreadStreams(service.url, attack, count);
      await vi.waitUntil(() => unread.statuses().length === count, patience);
      await delay(2_000);
      unread.close();
      return unread.statuses();
    });

    // A refusal of gRPC has the status 200 too.
    for (const status of statuses) expect([200, 503]).toContain(status);
  },
);

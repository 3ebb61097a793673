// An organization whose evaluators never end, in several projects: the code of another organization
// runs and is checked all the same, over every protocol. Source: docs/sandbox.md.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { EvaluatorService } from "../../gen/waggle/v1/evaluator_pb.js";
import { givenStarted } from "../support/given.ts";
import { givenAProject, givenASibling } from "../support/project.ts";
import { startService } from "../support/service.ts";
import { addKey, type Tenant } from "../support/tenants.ts";

// Places: two of an organization, and one of a project.
const service = givenStarted(() =>
  startService({ "evaluator-processes": "3", "evaluator-time-limit-ms": "600000" }),
);
let victimKey: string;
let attackers: readonly string[];

beforeAll(async () => {
  victimKey = await keyOf(await givenAProject(service.database, "victim"));
  const attacker = await givenAProject(service.database, "attacker");
  const sibling = await givenASibling(service.database, attacker);
  attackers = [await keyOf(attacker), await keyOf(sibling)];
  // The first run ever on a machine makes what later ones start from.
  await run(victimKey, "result = 1");
}, 300_000);

async function keyOf(tenant: Tenant): Promise<string> {
  return (await addKey(service.database, tenant, { kind: "project", root: "project" })).secret;
}

async function post(key: string, path: string, body: object, signal?: AbortSignal) {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const retryAfter = response.headers.get("retry-after");
  return { status: response.status, retryAfter, text: await response.text() };
}

const endlessCode = "def evaluate(event):\n    while True: pass";
const event = { event_type: "tool", inputs: {} };

function run(key: string, definition: string, signal?: AbortSignal) {
  const metric = { type: "PYTHON", definition };
  return post(key, "/v1/metrics/run", { metric, event }, signal);
}

describe("an organization that fills every place it may have", () => {
  const options = { timeout: 120_000 };
  test(
    "leaves one to others, and is refused where too much of its own waits",
    options,
    async () => {
      const leaving = new AbortController();
      // As many as run and wait, and some more.
      const endless = attackers
        .flatMap((key) => Array.from({ length: 15 }, () => key))
        .map((key) => run(key, endlessCode, leaving.signal));
      const refused = Promise.any(
        endless.map(async (one) => {
          const answer = await one;
          expect(answer.status).toBe(503);
          return answer;
        }),
      );

      expect(await refused).toMatchObject({ status: 503, retryAfter: "1" });

      for (let count = 0; count < 3; count += 1) {
        const answer = await run(victimKey, `result = ${count}`);
        expect(answer).toMatchObject({ status: 200 });
      }
      const metric = { name: "checked", type: "PYTHON", criteria: "result = 1" };
      expect(await post(victimKey, "/v1/metrics", metric)).toMatchObject({ status: 200 });
      const overGrpc = createClient(
        EvaluatorService,
        createGrpcTransport({ baseUrl: service.url }),
      );
      const answer = await overGrpc.runMetric(
        { metric: { type: "PYTHON", definition: "result = 7" }, event },
        { headers: { authorization: `Bearer ${victimKey}` } },
      );
      expect(answer.success).toBe(true);

      leaving.abort();
      await Promise.allSettled(endless);
    },
  );
});

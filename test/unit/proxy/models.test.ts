// Lists of models of providers that answer what is none, over real sockets.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { ProjectScope } from "../../../src/access/scope.ts";
import { createAddressGuard } from "../../../src/base/address-guard.ts";
import { createAnswerMemory } from "../../../src/generation/calls/answer-memory.ts";
import { createOutbound } from "../../../src/generation/providers/outbound.ts";
import { createModels } from "../../../src/generation/proxy/models.ts";
import { connectionOf } from "../generation/connections.ts";

type Given = { readonly answer: string; readonly providers?: number; readonly bytesMax?: number };

/** Starts a server that answers so, and returns what lists the models of providers at it. */
async function givenModels({ answer, providers = 1, bytesMax = 100_000_000 }: Given) {
  const seen = { running: 0, most: 0 };
  const server = createServer((_, response) => {
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    // A turn of the loop, in which others may come.
    setImmediate(() => {
      seen.running -= 1;
      response.end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const timeouts = { firstByteTimeoutMs: 20_000, idleTimeoutMs: 20_000 };
  const addressGuard = createAddressGuard({ privateHosts: [] });
  const outbound = createOutbound({ addressGuard, ...timeouts });
  onTestFinished(() => outbound.close());
  const { port } = server.address() as AddressInfo;
  const connections = Array.from({ length: providers }, (_, index) => {
    const name = index === 0 ? "up" : `up${index}`;
    return connectionOf({ id: name, name, baseUrl: `http://127.0.0.1:${port}/v1` });
  });
  const routing = { list: () => Promise.resolve({ connections, aliases: [] }) };
  const answerMemory = createAnswerMemory(bytesMax);
  const models = createModels({ routing, outbound, answerMemory });
  const project = { orgId: "o", projectId: "p" } as ProjectScope;
  return { list: () => models.list(project), seen, answerMemory, project };
}

async function listOf(answer: string) {
  return (await givenModels({ answer })).list();
}

const toList = (...ids: readonly string[]) => JSON.stringify({ data: ids.map((id) => ({ id })) });

test("a list names what a request can name, and nothing else", async () => {
  const list = await listOf(toList("m", "a\r\nx-header: b", "ü", "x".repeat(600), "models/n"));

  expect(list.models.map(({ id }) => id)).toEqual(["up/m", "up/n"]);
});

test.each([
  { what: "too long", answer: toList("x".repeat(2_000_000)) },
  { what: "of too many parts", answer: `{"data":[${"[],".repeat(200_000)}[]]}` },
  { what: "no JSON", answer: "<html>" },
  { what: "another thing", answer: "[]" },
])("a provider whose list is $what is unavailable", async ({ answer }) => {
  expect(await listOf(answer)).toEqual({ models: [], unavailable: ["up"] });
});

test("lists are asked for sixteen at a time, and once while they are remembered", async () => {
  const { list, seen } = await givenModels({ answer: toList("m"), providers: 50 });

  const [first, same] = await Promise.all([list(), list()]);

  expect(first.models).toHaveLength(50);
  expect(first.unavailable).toEqual([]);
  expect(same).toEqual(first);
  expect(seen.most).toBeLessThanOrEqual(16);
});

test("an answer holds 20,000 models, and names the providers whose lists it does not", async () => {
  const answer = toList(...Array.from({ length: 4_900 }, (_, index) => `m${index}`));
  const { list } = await givenModels({ answer, providers: 6 });

  const { models, unavailable } = await list();

  expect(models).toHaveLength(4 * 4_900);
  expect(unavailable).toEqual(["up4", "up5"]);
});

test("lists count in the memory of calls while they come in", async () => {
  const answer = toList("x".repeat(500), "y".repeat(500));
  const { list } = await givenModels({ answer, bytesMax: 1_000 });

  expect(await list()).toEqual({ models: [], unavailable: ["up"] });
});

test("a list that was refused for lack of memory is asked for again at once", async () => {
  const answer = toList("x".repeat(500));
  const { list, answerMemory, project } = await givenModels({ answer, bytesMax: 10_000 });
  const others = answerMemory.open(project);
  others.grow(4_900);

  const refused = await list();
  others.release();
  const answered = await list();

  expect(refused).toEqual({ models: [], unavailable: ["up"] });
  expect(answered.unavailable).toEqual([]);
});

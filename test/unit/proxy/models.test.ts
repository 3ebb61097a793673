// Lists of models of providers that answer what is none, over real sockets.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { ProjectScope } from "../../../src/access/scope.ts";
import { createAddressGuard } from "../../../src/generation/calls/address-guard.ts";
import { createOutbound } from "../../../src/generation/calls/outbound.ts";
import { createModels } from "../../../src/generation/proxy/models.ts";
import { connectionOf } from "../generation/connections.ts";

/** Returns what the list of a project says whose one provider answers so. */
async function listOf(answer: string) {
  const server = createServer((_, response) => response.end(answer));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const timeouts = { firstByteTimeoutMs: 20_000, idleTimeoutMs: 20_000 };
  const addressGuard = createAddressGuard({ privateHosts: [] });
  const outbound = createOutbound({ addressGuard, ...timeouts });
  onTestFinished(() => outbound.close());
  const { port } = server.address() as AddressInfo;
  const connections = [connectionOf({ name: "up", baseUrl: `http://127.0.0.1:${port}/v1` })];
  const routing = { list: () => Promise.resolve({ connections, aliases: [] }) };
  return createModels({ routing, outbound }).list({} as ProjectScope);
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

// Sends calls to a provider one after another, and prints how many bytes of each the collections of
// new objects leave. A separate process, since Vitest keeps objects of its own. Run with
// --expose-gc, and --min-semi-space-size so that no other collection comes in between.

import { getHeapSpaceStatistics } from "node:v8";
import { createAddressGuard } from "../../src/base/address-guard.ts";
import { createOutbound } from "../../src/generation/providers/outbound.ts";
import { sendNative } from "../../src/generation/providers/native-api.ts";
import type { Connection } from "../../src/generation/provider.ts";
import { startStandIn } from "../bench/gateway-processes.ts";

const standIn = await startStandIn();
const outbound = createOutbound({
  addressGuard: createAddressGuard({ privateHosts: ["127.0.0.1"] }),
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
});
const connection = {
  id: "c",
  name: "c",
  type: "openai",
  baseUrl: standIn.url,
  secrets: { api_key: "k" },
} as unknown as Connection;
const body = { model: "m", messages: [{ role: "user", content: "hello" }] };
const bytes = Buffer.from(JSON.stringify(body));

async function send(calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) {
    const request = { operation: "chat" as const, isStream: false, body, bytes };
    const { signal } = new AbortController();
    await sendNative(outbound, { connection, model: "m" }, request, signal);
  }
}

function usedBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) =>
    /^(new|old)_/.test(name),
  );
  return spaces.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

const calls = 200;
await send(calls);
globalThis.gc?.();
globalThis.gc?.();
const before = usedBytes();
await send(calls);
globalThis.gc?.({ type: "minor" });
globalThis.gc?.({ type: "minor" });
console.log(Math.round((usedBytes() - before) / calls));
await outbound.close();
await standIn.stop();

// Reports how a call and a stream end whose time-outs are a month, or Infinity.
// Run by test/clients/typescript-client.test.ts: waggle-timeouts.mjs FOLDER URL KEY

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url, key] = process.argv.slice(2);
const { resolve } = createRequire(`${folder}/`);
const from = (name) => import(pathToFileURL(resolve(name)).href);
const { connect, createClient } = await from("waggle-client");
const { ExportService } = await from("waggle-client/export");

const outcomes = [];
for (const timeoutMs of [30 * 86_400_000, Infinity]) {
  const reader = createClient(ExportService, connect({ url, key, timeoutMs }));
  for (const call of [
    () => reader.exportEvents({}),
    () => Array.fromAsync(reader.streamEvents({}, { timeoutMs })),
  ]) {
    outcomes.push(await call().then(() => "ok", String));
  }
}
console.log(JSON.stringify(outcomes));

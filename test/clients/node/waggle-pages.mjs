// Sends a session of three events and reports the ids of all four, as pages from the first and from
// the second, and by filters for null, show them.
// Run by test/clients/typescript-client.test.ts: waggle-pages.mjs FOLDER URL KEY

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url, key] = process.argv.slice(2);
const { resolve } = createRequire(`${folder}/`);
const from = (name) => import(pathToFileURL(resolve(name)).href);
const { connect, createClient, pages, where } = await from("waggle-client");
const { EventService } = await from("waggle-client/event");
const { ExportService } = await from("waggle-client/export");

const waggle = connect({ url, key });
const step = { eventType: "tool", source: "test", sessionId: "visit", inputs: {} };
const events = [1, 2, 3].map((startTime) => ({ ...step, startTime }));
await createClient(EventService, waggle).createEventBatch({ events });
const reader = createClient(ExportService, waggle);

async function idsOf(request) {
  const found = await Array.fromAsync(pages(reader.exportEvents, { limit: 1, ...request }));
  return found.flatMap((page) => page.events.map(({ eventId }) => eventId));
}

const report = {
  all: await idsOf({}),
  secondAndLater: await idsOf({ page: 2 }),
  withoutError: await idsOf({ filters: [where("error", "is", null)] }),
  withError: await idsOf({ filters: [where("error", "is not", null)] }),
};
console.log(JSON.stringify(report));

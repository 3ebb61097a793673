// Sends an event whose inputs are 128 levels deep, and reports how deep they are as it is read.
// Run by test/clients/typescript-client.test.ts: waggle-deep.mjs FOLDER URL KEY

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url, key] = process.argv.slice(2);
const { resolve } = createRequire(`${folder}/`);
const from = (name) => import(pathToFileURL(resolve(name)).href);
const { connect, createClient } = await from("waggle-client");
const { EventService } = await from("waggle-client/event");
const { ExportService } = await from("waggle-client/export");
const { SessionService } = await from("waggle-client/session");

const nest = (levels) => (levels === 0 ? {} : { deeper: nest(levels - 1) });
const levelsOf = ({ deeper }) => (deeper === undefined ? 1 : 1 + levelsOf(deeper));

const waggle = connect({ url, key });
const ids = { eventId: "deep", sessionId: "visit" };
const events = createClient(EventService, waggle);
await events.createEvent({ event: { ...ids, eventType: "tool", inputs: nest(127) } });

const { event } = await events.getEvent(ids);
const page = await createClient(ExportService, waggle).exportEvents({});
const tree = await createClient(SessionService, waggle).getSessionTree(ids);
console.log(
  JSON.stringify({
    event: levelsOf(event.inputs),
    page: levelsOf(page.events.find(({ eventId }) => eventId === ids.eventId).inputs),
    tree: levelsOf(tree.children[0].inputs),
  }),
);

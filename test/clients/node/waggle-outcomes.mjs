// Sends events that the stand-in refuses and reports how each call ended.
// Run by test/clients/typescript-client.test.ts: waggle-outcomes.mjs FOLDER URL CUT_URL KEY ID…

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url, cutUrl, key, ...ids] = process.argv.slice(2);
const { resolve } = createRequire(`${folder}/`);
const from = (name) => import(pathToFileURL(resolve(name)).href);
const { Code, ConnectError, connect, createClient, reasonOf } = await from("waggle-client");
const { EventService } = await from("waggle-client/event");
const { ExportService } = await from("waggle-client/export");

const waggle = connect({ url, key });
const events = createClient(EventService, waggle);
const cutEvents = createClient(EventService, connect({ url: cutUrl, key }));
const keys = { "own-key": "mine", "no-key": "" };

async function send(eventId) {
  if (eventId === "read") return events.getEvent({ eventId });
  if (eventId === "stream") {
    return Array.fromAsync(createClient(ExportService, waggle).streamEvents({}));
  }
  const client = eventId === "cut" ? cutEvents : events;
  const options = {
    ...(eventId in keys && { headers: { "idempotency-key": keys[eventId] } }),
    ...(eventId === "slow" && { timeoutMs: 500 }),
  };
  const request = { event: { eventId, eventType: "tool", inputs: {} } };
  if (eventId === "again") await client.createEvent(request, options);
  return client.createEvent(request, options);
}

async function outcomeOf(eventId) {
  try {
    await send(eventId);
    return "ok";
  } catch (error) {
    const isLate = ConnectError.from(error).code === Code.DeadlineExceeded;
    return isLate ? "deadline" : (reasonOf(error) ?? String(error));
  }
}

const outcomes = await Promise.all(ids.map(async (id) => [id, await outcomeOf(id)]));
console.log(JSON.stringify(Object.fromEntries(outcomes)));

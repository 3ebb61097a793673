// honeyhive 1.0.42 exports events while the service cannot answer for a time.
// Run by test/clients/honeyhive-retries.test.ts: honeyhive-retries.mjs FOLDER URL API_KEY SESSION_ID

import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, url, apiKey, sessionId] = process.argv.slice(2);
const require = createRequire(join(folder, "package.json"));
const { HoneyHive } = require("honeyhive");
const client = new HoneyHive({ bearerAuth: apiKey, serverURL: url });
const filters = [{ field: "session_id", operator: "is", value: sessionId, type: "string" }];
const backoff = { initialInterval: 500, maxInterval: 4_000, exponent: 2, maxElapsedTime: 60_000 };
const { events, totalEvents } = await client.events.getEvents(
  { project: "demo", filters },
  { retries: { strategy: "backoff", backoff } },
);
console.log(JSON.stringify({ total: totalEvents, events: events.length }));
process.exit(0);

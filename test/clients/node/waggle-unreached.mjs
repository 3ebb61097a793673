// Calls an address where nothing listens, and a server that breaks off its answers, and reports
// each error and how often the call was tried.
// Run by test/clients/typescript-client.test.ts: waggle-unreached.mjs FOLDER URL

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url] = process.argv.slice(2);
const { resolve } = createRequire(`${folder}/`);
const from = (name) => import(pathToFileURL(resolve(name)).href);
const { Code, ConnectError, connect, createClient } = await from("waggle-client");
const { EventService } = await from("waggle-client/event");
const { ExportService } = await from("waggle-client/export");

const { fetch } = globalThis;
let tries = 0;
globalThis.fetch = (...request) => {
  tries += 1;
  return fetch(...request);
};

async function outcomeOf(send, to = url) {
  tries = 0;
  try {
    await send(connect({ url: to, key: "hh_secret", retries: 1 }));
    return { message: "ok" };
  } catch (error) {
    const { code, message, cause } = ConnectError.from(error);
    return { code: Code[code], message, cause: cause?.name, tries };
  }
}

const read = (waggle) => createClient(EventService, waggle).getEvent({ eventId: "absent" });
const write = (waggle) => createClient(EventService, waggle).createEvent({ event: {} });
const stream = (waggle) => Array.fromAsync(createClient(ExportService, waggle).streamEvents({}));
const leave = (waggle) =>
  createClient(EventService, waggle).getEvent({}, { signal: AbortSignal.abort() });
// A field that cannot be sent is no fault of the network.
const wrong = (waggle) => createClient(ExportService, waggle).exportEvents({ limit: "many" });

/** A server that breaks off each answer after its first byte. */
const breaking = createServer((request, response) => {
  // A request that is not read to its end makes the kernel reset the connection.
  request.resume().once("end", () => {
    response.writeHead(200, { "content-type": request.headers["content-type"] });
    response.write("\0", () => response.destroy());
  });
});
await new Promise((resolve) => breaking.listen(0, "127.0.0.1", resolve));
const breakingUrl = `http://127.0.0.1:${breaking.address().port}`;

/** What Node's fetch throws where a name has two addresses. */
function failTwice() {
  const errors = ["::1:1", "127.0.0.1:1"].map((to) => new Error(`connect ECONNREFUSED ${to}`));
  tries += 1;
  throw new TypeError("fetch failed", { cause: new AggregateError(errors) });
}
/** What a browser's fetch throws. */
function failBriefly() {
  tries += 1;
  throw new TypeError("Failed to fetch");
}
function over(fetchOnce) {
  return async (waggle) => {
    const counting = globalThis.fetch;
    globalThis.fetch = fetchOnce;
    try {
      return await stream(waggle);
    } finally {
      globalThis.fetch = counting;
    }
  };
}

const report = {
  read: await outcomeOf(read),
  write: await outcomeOf(write),
  stream: await outcomeOf(stream),
  twoAddresses: await outcomeOf(over(failTwice)),
  browser: await outcomeOf(over(failBriefly)),
  brokenRead: await outcomeOf(read, breakingUrl),
  brokenStream: await outcomeOf(stream, breakingUrl),
  leave: await outcomeOf(leave),
  wrong: await outcomeOf(wrong),
};
breaking.close();
console.log(JSON.stringify(report));

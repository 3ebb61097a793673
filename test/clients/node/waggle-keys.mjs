// Connects with keys and reports which of them read an event, or why one is refused.
// Run by test/clients/typescript-client.test.ts: waggle-keys.mjs FOLDER URL KEY…

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url, ...keys] = process.argv.slice(2);
const { resolve } = createRequire(`${folder}/`);
const from = (name) => import(pathToFileURL(resolve(name)).href);
const { connect, createClient } = await from("waggle-client");
const { EventService } = await from("waggle-client/event");

async function outcomeOf(key) {
  let waggle;
  try {
    waggle = connect({ url, key });
  } catch (error) {
    return error instanceof TypeError ? error.message : String(error);
  }
  await createClient(EventService, waggle).getEvent({ eventId: "stored" });
  return "ok";
}

// undefined: what process.env holds for a variable that is not set.
console.log(JSON.stringify(await Promise.all([...keys, undefined].map(outcomeOf))));

// Connects to addresses and reports which are taken, or why one is refused.
// Run by test/clients/typescript-client.test.ts: waggle-addresses.mjs FOLDER ADDRESS…

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, ...urls] = process.argv.slice(2);
const { resolve } = createRequire(`${folder}/`);
const { connect } = await import(pathToFileURL(resolve("waggle-client")).href);

function outcomeOf(url) {
  try {
    connect({ url, key: "key" });
    return "ok";
  } catch (error) {
    return error.message;
  }
}

console.log(JSON.stringify(urls.map(outcomeOf)));

// A program that reads from the database of a URL, like a service, until it can: `node reading.ts
// URL`. It prints how each attempt ended. For faults.test.ts.

import { setTimeout as delay } from "node:timers/promises";
import { createLogger } from "../../src/base/logger.ts";
import { watchForEnd } from "../../src/commands/end.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { codeOf } from "../../src/base/error-code.ts";

const [url = ""] = process.argv.slice(2);
const end = watchForEnd(createLogger("silent"));
void end.code.then((code) => process.exit(code));
const database = openDatabase({ url, connectionsMax: 3 });

for (let isRead = false; !isRead;) {
  try {
    await database.sql()`select 1`;
    isRead = true;
    console.log("read");
  } catch (error) {
    console.log(codeOf(error));
  }
  await delay(50);
}
await database.close();

// A supervisor with pauses of its own: `node supervise.ts MS SCRIPT WORDS…`. A program of
// supervisor.test.ts.

import { supervise } from "../../src/commands/supervisor.ts";

const [firstMs = "", script = "", ...words] = process.argv.slice(2);
const longestMs = 2 * Number(firstMs);
const pauses = { firstMs: Number(firstMs), longestMs, forgetAfterMs: 60_000, failuresMax: 3 };

process.exit(await supervise({ script, words, pauses }));

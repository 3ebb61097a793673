// The keys that every typed client takes, and what it says of the others, without repeating them.
// Used by the tests of clients/.

import { startStandIn } from "./repeating.ts";

/** What clients say of a key that is empty or not given. */
export const noKey = "key is empty: give an API key of Waggle";

const notAscii = (position: number) =>
  `key: character ${position} is not visible ASCII (0x21 to 0x7e): give one key and nothing ` +
  "beside it";

/** Keys, each with what a client's program reports: `ok` for one that the service knows. */
function keyOutcomes(key: string): Readonly<Record<string, string>> {
  return {
    [key]: "ok",
    [`${key}\n`]: "ok",
    [` \t\r\n\v\f${key}\r\n`]: "ok",
    "": noKey,
    " \n": noKey,
    "hh_first\nhh_second": notAscii(9),
    "\nhh_first\r\nhh_second\n": notAscii(9),
    "hh first": notAscii(3),
    "hh_\u007f": notAscii(4),
    "hh_\u0001": notAscii(4),
    "Bearer hh_first": notAscii(7),
    hh_schlüssel: notAscii(8),
    "hh_🐝": notAscii(4),
    "\u00a0hh_first": notAscii(1),
    "hh_first\ufeff": notAscii(9),
    "hh_first\u0085": notAscii(9),
    "hh_first\u001c": notAscii(9),
  };
}

/**
 * Runs a client's program with the address of a stand-in and each key. Returns its report, and the
 * outcomes that it must have, in the order of the keys.
 */
export async function tryKeys<Report>(
  runProgram: (words: readonly string[]) => Promise<Report>,
): Promise<{ readonly report: Report; readonly outcomes: readonly string[] }> {
  const standIn = await startStandIn();
  const [url = "", , key = ""] = standIn.words;
  const expected = keyOutcomes(key);
  const report = await runProgram([url, ...Object.keys(expected)]);
  await standIn.stop();
  return { report, outcomes: Object.values(expected) };
}

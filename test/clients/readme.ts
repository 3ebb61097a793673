// The code of a client's page in clients/, which the tests run, and what it must print.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { projectFolder } from "./environment.ts";

/** Returns all code of a language on a client's page, as one program. */
export async function readmeCode(client: string, language: string): Promise<string> {
  const text = await readFile(join(projectFolder, "clients", client, "README.md"), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, of, code = ""]) => (of === language ? [code] : [])).join("\n");
}

/** Checks what a page's program printed. Events of the same time may come in any order. */
export function checkPrinted(text: string): void {
  expect(text.trimEnd().split("\n").toSorted()).toEqual(
    [
      "sent 3 rejected 0",
      "page How?",
      "page Why?",
      "streamed 2",
      "INVALID_ARGUMENT",
      "event.event_type - is required",
    ].toSorted(),
  );
}

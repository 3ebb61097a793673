// Comments of our protos by full name, from gen/comments.json, which comments-plugin.ts writes.

import { readFileSync } from "node:fs";

const file = new URL("../../../gen/comments.json", import.meta.url);
let comments: Readonly<Record<string, string>> | undefined;

/** Returns the comment of a service, rpc, message or field; undefined if it has none. */
export function commentOf(fullName: string): string | undefined {
  comments ??= JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  return comments[fullName];
}

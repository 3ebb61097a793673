// Comments of our protos by full name. Called by openapi.ts and schemas.ts.
// Written to gen/comments.json by comments-plugin.ts.

import { readFileSync } from "node:fs";

const file = new URL("../../../gen/comments.json", import.meta.url);
let comments: Readonly<Record<string, string>> | undefined;

/** Returns the comment above a service, rpc, message or field, or undefined where it has none. */
export function commentOf(fullName: string): string | undefined {
  comments ??= JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  return comments[fullName];
}

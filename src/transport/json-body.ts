// Bytes of a body to a JSON value, for REST and for OTLP in JSON: UTF-8 only, and bounded in
// objects and arrays, each of which costs many times its bytes once it is parsed.

import { isUtf8 } from "node:buffer";
import { ServiceError } from "../base/errors.ts";
import { jsonContainersMax } from "../base/limits.ts";
import { describeJsonFault } from "./json-fault.ts";

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** Returns the value of a JSON text. Fails with MALFORMED_BODY. */
export function parseJsonBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new ServiceError("MALFORMED_BODY", "the body must be UTF-8");
  if (hasMoreContainers(body, jsonContainersMax)) {
    throw new ServiceError(
      "MALFORMED_BODY",
      `the body has more than ${jsonContainersMax} objects and arrays; send it in parts`,
    );
  }
  const text = body.toString("utf8");
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `the body must be JSON: ${describeJsonFault(text)}`;
    throw new ServiceError("MALFORMED_BODY", message, { cause });
  }
}

/** Counts what opens outside of strings; a body too short to hold that many is not looked at. */
function hasMoreContainers(body: Buffer, max: number): boolean {
  if (body.length <= 2 * max) return false;
  let count = 0;
  let isInString = false;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (isInString) {
      if (byte === backslash) index += 1;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if ((byte === openBrace || byte === openBracket) && (count += 1) > max) return true;
  }
  return false;
}

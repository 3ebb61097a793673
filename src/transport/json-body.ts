// Bytes of a body to a JSON value, for REST and for OTLP in JSON: UTF-8 only, and bounded in
// objects and arrays, each of which costs many times its bytes once it is parsed.

import { isUtf8 } from "node:buffer";
import { ServiceError } from "../base/errors.ts";
import { hasMoreContainers } from "../base/json-containers.ts";
import { jsonContainersMax } from "../base/limits.ts";
import { describeJsonFault } from "./json-fault.ts";

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

// What callers are told of a failure.

import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/base/errors.ts";
import { createLogger } from "../../../src/base/logger.ts";
import { createErrorMapper, publicMessageOf } from "../../../src/transport/interceptors/errors.ts";

describe("publicMessageOf", () => {
  test("says what was wrong, and nothing of a failure of ours or of what is absent", () => {
    expect(publicMessageOf(new ServiceError("INVALID_ARGUMENT", "name: …"))).toBe("name: …");
    expect(publicMessageOf(new ServiceError("INTERNAL", "the cause"))).toBe("");
    expect(publicMessageOf(new ServiceError("NOT_FOUND", "no such key"))).toBe("Not found");
  });

  test("cuts what repeats megabytes, between characters", () => {
    const told = publicMessageOf(new ServiceError("INVALID_ARGUMENT", `a${"😀".repeat(9_999)}`));

    expect(told).toHaveLength(2_049);
    expect(told.isWellFormed()).toBe(true);
    expect(told.endsWith("…")).toBe(true);
  });
});

test("a caller who leaves in the middle of a stream is no failure", async () => {
  const stream = new PassThrough();
  const cut = finished(stream).catch((error: unknown) => error);
  stream.destroy();
  const logged: string[] = [];
  const logger = createLogger("silent");
  logger.error = (_: unknown, text?: string) => void logged.push(text ?? "");
  const map = createErrorMapper({ logger, findDatabaseFault: () => undefined });
  const gone = Object.assign(new Error("destroyed"), { code: "ERR_HTTP2_INVALID_STREAM" });
  const reset = "http/2 stream closed with error code INTERNAL_ERROR (0x2)";

  expect(map(gone).code).toBe(Code.Canceled);
  expect(map(new ConnectError(reset, Code.Internal)).code).toBe(Code.Canceled);
  expect(map(await cut).code).toBe(Code.Canceled);
  expect(map(new Error("broken")).code).toBe(Code.Internal);
  expect(logged).toEqual(["a call failed for an unknown cause"]);
});

test("a message of a stream that is no Protobuf is the caller's fault", () => {
  const logger = createLogger("silent");
  const map = createErrorMapper({ logger, findDatabaseFault: () => undefined });
  const unreadable = "parse binary: illegal tag: field no 0 wire type 0";

  const got = map(new ConnectError(unreadable, Code.Internal));

  expect([got.code, got.rawMessage]).toEqual([Code.InvalidArgument, unreadable]);
});

// The outcome under which a finished call is counted.

import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { EventService } from "../../../gen/waggle/v1/event_pb.js";
import { ServiceError } from "../../../src/base/errors.ts";
import { createLogger } from "../../../src/base/logger.ts";
import { createCallLog, reasonOf, watchStream } from "../../../src/transport/interceptors/log.ts";

test.each([
  { name: "no error", error: undefined, want: "OK" },
  { name: "a client that went away", error: new ConnectError("", Code.Canceled), want: "CANCELED" },
  {
    name: "a known failure",
    error: new ServiceError("INVALID_FILTER", "x"),
    want: "INVALID_FILTER",
  },
  { name: "an unknown failure", error: new Error("x"), want: "INTERNAL" },
])("$name is $want, once", ({ error, want }) => {
  const reasons: string[] = [];
  const log = createCallLog(createLogger("silent"), ({ reason }) => reasons.push(reason));
  const values = createContextValues();
  const call = { method: EventService.method.getEvent, protocol: "rest", values, startedAtMs: 0 };

  log.end({ ...call, error });
  log.end({ ...call, error });

  expect(reasons).toEqual([want]);
});

describe("watchStream", () => {
  const gone = new DOMException("the client went away", "AbortError");
  const late = new ConnectError("the operation timed out", Code.DeadlineExceeded);
  const broken = new ConnectError("aborted", Code.Aborted, undefined, undefined, new Error("read"));
  const stopping = new ServiceError("SHUTTING_DOWN", "x");

  /** A stream of two messages with the reasons that it was counted for. */
  function givenAStream(failure?: Error) {
    const call = new AbortController();
    const reasons: string[] = [];
    async function* messages() {
      yield await Promise.resolve(1);
      if (failure) throw failure;
      yield 2;
    }
    const watched = watchStream(messages(), call.signal, (error) => reasons.push(reasonOf(error)));
    return { call, reasons, stream: watched[Symbol.asyncIterator]() };
  }

  test("counts a stream that ended by itself as OK, once, before its call ends", async () => {
    const { call, reasons, stream } = givenAStream();
    for (let next = await stream.next(); !next.done; next = await stream.next());

    call.abort(gone);
    await stream.return?.();

    expect(reasons).toEqual(["OK"]);
  });

  test("counts a failure by its reason", async () => {
    const { reasons, stream } = givenAStream(new ServiceError("DATABASE_UNAVAILABLE", "x"));
    await stream.next();

    await expect(stream.next()).rejects.toThrow("x");

    expect(reasons).toEqual(["DATABASE_UNAVAILABLE"]);
  });

  test("counts a stream that was given up as CANCELED", async () => {
    const { reasons, stream } = givenAStream();
    await stream.next();

    await stream.return?.();

    expect(reasons).toEqual(["CANCELED"]);
  });

  test.each([
    { name: "the client went away", reason: gone, want: "CANCELED" },
    { name: "the connection broke", reason: broken, want: "CANCELED" },
    { name: "the signal has no reason", reason: undefined, want: "CANCELED" },
    { name: "its deadline passed", reason: late, want: "DEADLINE_EXCEEDED" },
    { name: "the service stops", reason: stopping, want: "SHUTTING_DOWN" },
  ])("counts a stream at once as $want when $name", async ({ reason, want }) => {
    for (const isBegun of [false, true]) {
      const { call, reasons, stream } = givenAStream();
      if (isBegun) await stream.next();

      call.abort(reason);
      const atOnce = [...reasons];
      for (let next = await stream.next(); !next.done; next = await stream.next());

      expect([atOnce, reasons]).toEqual([[want], [want]]);
    }
  });
});

// What a finished call is counted as.

import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { EventService } from "../../../gen/waggle/v1/event_pb.js";
import { ServiceError } from "../../../src/base/errors.ts";
import { createLogger } from "../../../src/base/logger.ts";
import { createCallLog } from "../../../src/transport/interceptors/log.ts";

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

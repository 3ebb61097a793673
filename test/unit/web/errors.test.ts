// Errors of calls in the words that pages show.

import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { toApiError } from "../../../src/web/app/api/errors.ts";

/** An error of the service, with its own code. */
function refusal(reason: string, message: string, code: Code): ConnectError {
  const info = { desc: ErrorInfoSchema, value: { reason } };
  return new ConnectError(message, code, undefined, [info]);
}

describe("toApiError", () => {
  test.each([
    {
      name: "the page of a proxy",
      error: new ConnectError("unsupported content type text/html", Code.Unknown),
      message: "A proxy in front of the service answered in its place, with a page of its own.",
      advice: "Check the connection and that the service runs, then try again.",
    },
    {
      name: "the status of a proxy",
      error: new ConnectError("HTTP 502", Code.Unavailable),
      message: "A proxy in front of the service answered in its place, with status 502.",
      advice: "Check the connection and that the service runs, then try again.",
    },
    {
      name: "a proxy that limits the rate",
      error: new ConnectError("HTTP 429", Code.Unavailable),
      message: "There were too many requests at once.",
      advice: "Try again in a moment; nothing was lost.",
    },
    {
      name: "a proxy that limits the size",
      error: new ConnectError("HTTP 413", Code.Unknown),
      message: "A proxy refused so large a request.",
      advice: "Send less at once.",
    },
    {
      name: "the service itself",
      error: new ConnectError("The database is away.", Code.Unavailable),
      message: "The database is away.",
      advice: "Try again in a moment; nothing was lost.",
    },
    {
      name: "a spent budget",
      error: refusal("BUDGET_EXHAUSTED", "the budget is spent", Code.ResourceExhausted),
      message: "the budget is spent",
      advice: "Wait until it renews, or have its amount raised in the project's settings.",
    },
    {
      name: "a revoked key",
      error: refusal("KEY_REVOKED", "the key was revoked", Code.FailedPrecondition),
      message: "the key was revoked",
      advice: "Create another key in its place: a revoked one cannot be brought back.",
    },
  ])("says in words what $name answers", ({ error, message, advice }) => {
    const got = toApiError(error);

    expect(got).toMatchObject({ message, advice });
  });
});

// Errors of calls in the words that pages show.

import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { toApiError } from "../../../src/web/app/api/errors.ts";

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
  ])("says in words what $name answers", ({ error, message, advice }) => {
    const got = toApiError(error);

    expect(got).toMatchObject({ message, advice });
  });
});

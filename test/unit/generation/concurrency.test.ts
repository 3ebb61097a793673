// The cap on calls of models that run at a time.

import { describe, expect, test } from "vitest";
import { createConcurrency } from "../../../src/generation/calls/concurrency.ts";

describe("createConcurrency", () => {
  test("refuses what is over the cap with OVERLOADED until a call ends", () => {
    const concurrency = createConcurrency({ max: 2 });
    const release = concurrency.enter("p");
    concurrency.enter("p");

    expect(() => concurrency.enter("p")).toThrow(
      expect.objectContaining({ reason: "OVERLOADED", retryAfterSeconds: 1 }),
    );

    release();
    expect(() => concurrency.enter("p")).not.toThrow();
  });

  test("counts each project alone", () => {
    const concurrency = createConcurrency({ max: 1 });
    concurrency.enter("p");

    expect(() => concurrency.enter("q")).not.toThrow();
  });

  test("counts a call that ends twice once", () => {
    const concurrency = createConcurrency({ max: 2 });
    const release = concurrency.enter("p");
    concurrency.enter("p");
    release();
    release();
    concurrency.enter("p");

    expect(() => concurrency.enter("p")).toThrow("2 calls of models running");
  });
});

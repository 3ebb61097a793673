// The caps on calls of models that run at a time.

import { describe, expect, test } from "vitest";
import { inBackground } from "../../../src/base/background.ts";
import { createConcurrency } from "../../../src/generation/calls/concurrency.ts";

/** `a1` is project 1 of organization a. */
const ownerOf = (name: string) => ({ orgId: name.charAt(0), projectId: name });

describe("createConcurrency", () => {
  test("refuses what is over the cap with OVERLOADED until a call ends", () => {
    const concurrency = createConcurrency({ max: 2 });
    const release = concurrency.enter(ownerOf("a1"));
    concurrency.enter(ownerOf("a1"));

    expect(() => concurrency.enter(ownerOf("a1"))).toThrow(
      expect.objectContaining({ reason: "OVERLOADED", retryAfterSeconds: 1 }),
    );

    release();
    expect(() => concurrency.enter(ownerOf("a1"))).not.toThrow();
  });

  test("counts background work apart from requests", () => {
    const concurrency = createConcurrency({ max: 1 });
    const release = inBackground(() => concurrency.enter(ownerOf("a1")));
    concurrency.enter(ownerOf("a1"));

    expect(() => concurrency.enter(ownerOf("a1"))).toThrow("the project has 1 calls");
    expect(() => inBackground(() => concurrency.enter(ownerOf("a1")))).toThrow(
      "the project has 1 calls",
    );

    release();
    expect(() => concurrency.enter(ownerOf("a1"))).toThrow("the project has 1 calls");
    expect(() => inBackground(() => concurrency.enter(ownerOf("a1")))).not.toThrow();
  });

  test("counts each project alone", () => {
    const concurrency = createConcurrency({ max: 1 });
    concurrency.enter(ownerOf("a1"));

    expect(() => concurrency.enter(ownerOf("a2"))).not.toThrow();
  });

  test("gives an organization three times the calls of a project, and all of them four", () => {
    const concurrency = createConcurrency({ max: 1 });
    const [release] = ["a1", "a2", "a3"].map((name) => concurrency.enter(ownerOf(name)));

    expect(() => concurrency.enter(ownerOf("a4"))).toThrow("the organization has 3 calls");
    concurrency.enter(ownerOf("b1"));
    expect(() => concurrency.enter(ownerOf("c1"))).toThrow("the service has 4 calls");

    release?.();
    expect(() => concurrency.enter(ownerOf("c1"))).not.toThrow();
  });

  test("counts as many calls as a generation makes at a time, up to the cap", () => {
    const concurrency = createConcurrency({ max: 3 });
    const release = concurrency.enter(ownerOf("a1"), 2);

    expect(() => concurrency.enter(ownerOf("a1"), 2)).toThrow("the project has 3 calls");

    release();
    expect(() => concurrency.enter(ownerOf("a1"), 16)).not.toThrow();
  });

  test("counts a call that ends twice once", () => {
    const concurrency = createConcurrency({ max: 2 });
    const release = concurrency.enter(ownerOf("a1"));
    concurrency.enter(ownerOf("a1"));
    release();
    release();
    concurrency.enter(ownerOf("a1"));

    expect(() => concurrency.enter(ownerOf("a1"))).toThrow("2 calls of models running");
  });
});

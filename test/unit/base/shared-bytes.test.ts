// Bytes in memory that organizations and projects share.

import { describe, expect, test } from "vitest";
import type { ServiceError } from "../../../src/base/errors.ts";
import { createSharedBytes } from "../../../src/base/shared-bytes.ts";

const overloaded = expect.objectContaining({
  reason: "OVERLOADED",
  retryAfterSeconds: 1,
}) as ServiceError;

/** Opens the bytes of owners: `a1` is project 1 of organization a. */
function givenBytes() {
  const bytes = createSharedBytes(100, "answers");
  return (name: string) => bytes.open({ orgId: name.charAt(0), projectId: name });
}

describe("createSharedBytes", () => {
  test("refuses more than all have room for, until a work ends", () => {
    const open = givenBytes();
    const first = open("a1");
    const third = open("c1");
    first.grow(50);
    open("b1").grow(50);

    expect(() => third.grow(1)).toThrow(overloaded);

    first.release();
    expect(() => third.grow(50)).not.toThrow();
  });

  test("gives a project half of them, also when its first works have ended", () => {
    const open = givenBytes();
    const first = open("a1");
    const second = open("a1");
    first.grow(30);
    second.grow(20);

    expect(() => second.grow(1)).toThrow("answers take more than 50 bytes of memory");
    expect(() => open("b1").grow(50)).not.toThrow();

    first.release();
    first.release();
    expect(() => second.grow(31)).toThrow(overloaded);
  });

  test("gives an organization three fourths of them, however many projects it has", () => {
    const open = givenBytes();
    open("a1").grow(50);
    open("a2").grow(25);

    expect(() => open("a3").grow(1)).toThrow("more than 75 bytes");
    expect(() => open("b1").grow(25)).not.toThrow();
  });

  test("holds nothing of what it refuses", () => {
    const open = givenBytes();
    const refused = open("a1");
    expect(() => refused.grow(51)).toThrow(overloaded);

    expect(refused.bytes()).toBe(0);
    expect(() => refused.grow(50)).not.toThrow();
  });

  test("counts a work once, however often it is released", () => {
    const open = givenBytes();
    const stale = open("a1");
    stale.grow(10);
    stale.release();
    open("a1").grow(50);
    stale.release();
    stale.grow(0);

    expect(() => open("a1").grow(1)).toThrow(overloaded);
  });

  test("gives back what a work has dropped, and no more than it has", () => {
    const open = givenBytes();
    const dropped = open("a1");
    dropped.grow(50);
    dropped.shrink(80);

    expect(dropped.bytes()).toBe(0);
    expect(() => open("a1").grow(50)).not.toThrow();
    expect(() => open("a1").grow(1)).toThrow(overloaded);
  });
});

// What callers are told of a failure.

import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/base/errors.ts";
import { publicMessageOf } from "../../../src/transport/interceptors/errors.ts";

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

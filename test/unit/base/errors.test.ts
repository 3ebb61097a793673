// What errors carry besides their words.

import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/base/errors.ts";
import { FieldFault } from "../../../src/transport/rest/field-fault.ts";

const frames = /\n\s+at /;

describe("ServiceError", () => {
  // A batch may have 100,000 of them, and a stack takes ten times as long as all else.
  test("has no stack where it is a refusal", () => {
    expect(new ServiceError("INVALID_ARGUMENT", "name: is required").stack).not.toMatch(frames);
    expect(new FieldFault("is required").stack).not.toMatch(frames);
  });

  test("has a stack where it is a fault of the service, also after a refusal", () => {
    new ServiceError("INVALID_ARGUMENT", "name: is required");

    expect(new ServiceError("INTERNAL", "the cause").stack).toMatch(frames);
    expect(new Error("the cause").stack).toMatch(frames);
  });
});

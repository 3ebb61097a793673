// The address that signs in and comes back, read as the service reads it.

import { expect, test } from "vitest";
import { parseReturnPath } from "../../../src/access/sign-in/return-path.ts";
import { signInAddress } from "../../../src/web/app/session/sign-in-address.ts";

/** Returns the path that the service comes back to. */
function returnPathOf(address: string): string {
  return parseReturnPath(new URL(address, "http://waggle.test").searchParams.get("return_to"));
}

test("a sign-in comes back to the path with its search parameters", () => {
  expect(returnPathOf(signInAddress("/app/p/traces?q=bees%20dance"))).toBe(
    "/app/p/traces?q=bees%20dance",
  );
});

test("a sign-in from an address that is too long to come back to leaves its parameters out", () => {
  const q = encodeURIComponent("蜂".repeat(300));

  expect(returnPathOf(signInAddress(`/app/p/traces?q=${q}`))).toBe("/app/p/traces");
});

// Bodies that are no JSON, or that would cost far more memory than their bytes.

import { describe, expect, test } from "vitest";
import { jsonContainersMax } from "../../../src/base/limits.ts";
import { parseJsonBody } from "../../../src/transport/json-body.ts";

const refused = { reason: "MALFORMED_BODY" };

describe("parseJsonBody", () => {
  test.each([
    { name: "cut short", body: Buffer.from('{"a":') },
    { name: "not UTF-8", body: Buffer.from([0x22, 0xff, 0x22]) },
    {
      name: "empty objects without end",
      body: Buffer.from(`[${"{},".repeat(jsonContainersMax)}1]`),
    },
  ])("refuses a body that is $name", ({ body }) => {
    expect(() => parseJsonBody(body)).toThrow(expect.objectContaining(refused));
  });

  test("does not count brackets inside strings", () => {
    const text = '{"code":"' + '[{\\"'.repeat(jsonContainersMax) + '"}';

    expect(parseJsonBody(Buffer.from(text))).toHaveProperty("code");
  });
});

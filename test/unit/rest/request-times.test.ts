// Times of request fields and of filters: one grammar.

import { describe, expect, test } from "vitest";
import { parseInstant } from "../../../src/tracing/export/instant.ts";
import { FieldFault } from "../../../src/transport/rest/field-fault.ts";
import { parseTime, parseUnixMs } from "../../../src/transport/rest/json-values.ts";

describe("parseTime", () => {
  test.each([
    "2024-01-02T03:04:05z",
    "2024-01-02 03:04:05 +01:00",
    "2024-01-02t03:04:05,123456789Z",
    "2024-01-02T03:04-1530",
    "9999-12-31T23:59:59.999Z",
    " 1704164645000. ",
    -1.5,
  ])("reads %s as filters do", (value) => {
    const timeMs = parseTime(value);

    expect(parseInstant(value)?.fromUs).toBe(Math.round(timeMs * 1000));
  });

  test.each(["2024-02-30", "2023-02-29T00:00Z", "0000-01-01", "2024-01-02T24:00", 8.64e15 + 1])(
    "refuses %s as filters do",
    (value) => {
      expect(() => parseTime(value)).toThrow(FieldFault);
      expect(parseInstant(value)).toBeUndefined();
    },
  );
});

describe("parseUnixMs", () => {
  test("leaves the range of numbers to the service, which names it over every protocol", () => {
    expect(parseUnixMs(1e18)).toBe(1e18);
    expect(parseUnixMs("2024-01-02T03:04:05Z")).toBe(1_704_164_645_000);
  });

  test.each(["tomorrow", NaN, Infinity, null, true])("refuses %s", (value) => {
    expect(() => parseUnixMs(value)).toThrow(FieldFault);
  });
});

// The setting with the operator's prices of models.

import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";

describe("prices", () => {
  test("are read by model", () => {
    const text = '{"mine": {"input_mtok": 0.5, "output_mtok": 0}, "ft:*": {"input_mtok": 1}}';

    expect(readConfig({}, { WAGGLE_PRICES: text }).prices).toEqual([
      { name: "mine", rates: { input_mtok: 0.5, output_mtok: 0 } },
      { name: "ft:*", rates: { input_mtok: 1 } },
    ]);
    expect(readConfig({}, {}).prices).toEqual([]);
  });

  test.each([
    { value: '{"mine": ', want: "must be a JSON object such as" },
    { value: '{"mine": 2}', want: "of mine must be a JSON object" },
    { value: '{"mine": {}}', want: "of mine must be a JSON object" },
    { value: '{"mine": {"input": 2}}', want: "of mine input: must be one of input_mtok," },
    { value: '{"mine": {"input_mtok": "2"}}', want: "of mine input_mtok: must be a number" },
    { value: '{"mine": {"input_mtok": -1}}', want: "of mine input_mtok: must be a number" },
    { value: '{"mine": {"input_mtok": 1e999}}', want: "of mine input_mtok: must be a number" },
    { value: '{"a*b": {"input_mtok": 1}}', want: "must name models by 1 to 256 characters" },
    { value: '{"": {"input_mtok": 1}}', want: "must name models by 1 to 256 characters" },
  ])("refuses $value", ({ value, want }) => {
    const read = () => readConfig({}, { WAGGLE_PRICES: value });

    expect(read).toThrow(`WAGGLE_PRICES (--prices) ${want}`);
  });

  test("are bounded in number", () => {
    const many = Array.from({ length: 1_001 }, (_, index) => [`m${index}`, { input_mtok: 1 }]);

    const read = () => readConfig({ prices: JSON.stringify(Object.fromEntries(many)) }, {});

    expect(read).toThrow("must name at most 1000");
  });
});

// Columns of an imported file: doubled ones are refused, in time that grows with their number.
// Source: docs/datasets.md, "Files".

import { expect, test } from "vitest";
import { assertColumns } from "../../../src/evaluation/datasets/files/file-format.ts";

test("the second of two equal columns is found among 400,000", { timeout: 5_000 }, () => {
  const names = Array.from({ length: 400_000 }, (_, index) => `c${index}`);

  expect(() => assertColumns(names, false)).not.toThrow();
  expect(() => assertColumns([...names, "c7"], false)).toThrow('has two columns "c7"');
});

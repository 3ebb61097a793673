// The line about a value in a cell of a table.

import { expect, test } from "vitest";
import { previewOf } from "../../../src/web/app/design/preview.ts";

const image = Buffer.alloc(12_000, 7).toString("base64");

test.each([
  { name: "text", value: "Where is my order?", want: "Where is my order?" },
  { name: "nothing", value: null, want: "–" },
  { name: "a data URL", value: `data:image/png;base64,${image}`, want: "[image/png, 12 kB]" },
  { name: "bare base64", value: { image }, want: "image: [base64, 12 kB]" },
  {
    name: "an image deep inside",
    value: {
      content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${image}` } }],
    },
    want: 'content: [{type: "image_url", image_url: {url: "[image/png, 12 kB]"}}]',
  },
  { name: "a long word", value: "a".repeat(100), want: "a".repeat(100) },
  { name: "long prose", value: "so it is. ".repeat(50), want: `${"so it is. ".repeat(30)}…` },
])("$name", ({ value, want }) => {
  expect(previewOf(value)).toBe(want);
});

// JSON bodies: the limits that hold before they are parsed, and parsing in pieces, which must give
// what parsing at once gives.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createByteBudget } from "../../../src/base/byte-budget.ts";
import {
  bodyDepthMax,
  containersMax,
  listItemsMax,
  memberNameBytesMax,
  valuesMax,
} from "../../../src/base/limits.ts";
import { decodeJson } from "../../../src/base/decode/json.ts";

const refused = { reason: "MALFORMED_BODY" };

function memoryOf(bytesMax = Infinity) {
  return createByteBudget(bytesMax).open();
}

describe("decodeJson", () => {
  test.each([
    { name: "cut short", body: Buffer.from('{"a":'), says: "end at position 5" },
    { name: "not UTF-8", body: Buffer.from([0x22, 0xff, 0x22]), says: "UTF-8" },
    {
      name: "full of empty objects",
      body: Buffer.from(`[${"{},".repeat(containersMax)}1]`),
      says: `${containersMax} objects and arrays`,
    },
    {
      name: "full of numbers",
      body: Buffer.from(`[${"0,".repeat(valuesMax)}0]`),
      says: `${valuesMax} values`,
    },
    {
      name: "one object of too many members",
      body: Buffer.from(`[{${'"a":0,'.repeat(listItemsMax)}"a":[0,0]}]`),
      says: `more than ${listItemsMax} members`,
    },
    {
      name: "one object with a long name",
      body: Buffer.from(`[{ "a": "b", "${"n".repeat(memberNameBytesMax + 1)}" : 1 }]`),
      says: `a name of more than ${memberNameBytesMax} bytes`,
    },
    {
      name: "too deep",
      body: Buffer.from("[".repeat(bodyDepthMax + 1) + "]".repeat(bodyDepthMax + 1)),
      says: `${bodyDepthMax} levels`,
    },
  ])("refuses a body that is $name", async ({ body, says }) => {
    const message = expect.stringContaining(says) as string;
    await expect(decodeJson(body, memoryOf())).rejects.toMatchObject({ ...refused, message });
  });

  test("takes a long text, and the longest name", async () => {
    const value = { ["n".repeat(memberNameBytesMax)]: "t".repeat(2 * memberNameBytesMax) };

    const got = await decodeJson(Buffer.from(JSON.stringify(value)), memoryOf());

    expect(got).toEqual(value);
  });

  test("says where a bracket of a large text does not fit", async () => {
    const sizes = { wholeBytes: 4 };
    for (const [text, says] of [
      ["[1,2,3}", "unexpected character at byte 6"],
      ["[1,2,3]]", "unexpected character at byte 7"],
      ['[1,2,{"a":1}', "unexpected end at byte 12"],
    ] as const) {
      const message = expect.stringContaining(says) as string;
      const got = decodeJson(Buffer.from(text), memoryOf(), sizes);
      await expect(got).rejects.toMatchObject({ ...refused, message });
    }
  });

  test("does not count what stands inside of texts", async () => {
    const text = '{"code":"' + '[{,\\"\\\\'.repeat(containersMax) + '"}';

    expect(await decodeJson(Buffer.from(text), memoryOf())).toHaveProperty("code");
  });

  test("takes the memory of the decoded value, and says where it can never be had", async () => {
    const memory = memoryOf(10_000);

    await decodeJson(Buffer.from('[{"a":1},{"b":2}]'), memory);

    expect(memory.bytes()).toBeGreaterThan(200);
    const large = decodeJson(Buffer.from(`[${"{},".repeat(200)}1]`), memory);
    const message = expect.stringMatching(/takes \d+ bytes .* may hold 10000;/) as string;
    await expect(large).rejects.toMatchObject({ reason: "BODY_TOO_LARGE", message });
  });
});

describe("decodeJson in pieces", () => {
  const sizes = { wholeBytes: 4, sizes: { pieceBytes: 8, stepBytes: 3 } };
  const inPieces = (text: string) => decodeJson(Buffer.from(text), memoryOf(), sizes);

  test("gives what JSON.parse gives", async () => {
    const spaces = fc.constantFrom("", " ", "\n\t");
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), spaces, async (json, space) => {
        const text = space + JSON.stringify(JSON.parse(json), undefined, space) + space;
        expect(await inPieces(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test("refuses what JSON.parse refuses", async () => {
    const parts = ["{", "}", "[", "]", ",", ":", '"a"', '"b\\""', "12345", "null", " ", "[1,2,3]"];
    parts.push("-", "1", "0.5e", '"abcdefghijkl"', '"\\u0061bcdefgh"', '"a\tbcdefghi"');
    const texts = fc.array(fc.constantFrom(...parts), { maxLength: 24 }).map((all) => all.join(""));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        let want: unknown;
        try {
          want = JSON.parse(text);
        } catch {
          await expect(inPieces(text)).rejects.toMatchObject(refused);
          return;
        }
        expect(await inPieces(text)).toEqual(want);
      }),
      { numRuns: 5_000 },
    );
  });

  test("finds the end of texts wherever a step ends", async () => {
    const parts = fc.constantFrom("\\\\", '\\"', "a", "\\u00e9", "é", "x".repeat(47));
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 12 }), async (all) => {
        const text = `{"${all.join("")}":["${all.join("")}",[]]}`;
        expect(await inPieces(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    '{"x":1,"5":{"long":"0123456789"},"x":2}',
    '{"a":1,"b":2,"a":{"long":"0123456789"}}',
    '{"__proto__":{"long":"0123456789"},"b":{"__proto__":[1,2,3,4,5,6,7]}}',
    '{"a":[[[[[["0123456789"]]]]]],"é":"ü","\\u0061b":["0123456789"]}',
  ])("keeps names and their order: %s", async (text) => {
    const got = await inPieces(text);

    expect(JSON.stringify(got)).toBe(JSON.stringify(JSON.parse(text)));
  });
});

// The model's name in a request's bytes.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withModel } from "../../../src/generation/openai/model-name.ts";

function replaced(text: string, model = "new"): string {
  return Buffer.from(withModel(Buffer.from(text), model)).toString("utf8");
}

describe("withModel", () => {
  test.each([
    { name: "replaces the name", text: '{"model":"old"}', want: '{"model":"new"}' },
    {
      name: "keeps spaces, order and the forms of numbers",
      text: '{ "n" : 1.0 ,\n\t"model" :\r\n "old" , "seed":1e2 }',
      want: '{ "n" : 1.0 ,\n\t"model" :\r\n "new" , "seed":1e2 }',
    },
    {
      name: "leaves a model further inside as it is",
      text: '{"a":{"model":"x"},"b":[{"model":"y"},"model"],"model":"old"}',
      want: '{"a":{"model":"x"},"b":[{"model":"y"},"model"],"model":"new"}',
    },
    {
      // Servers differ in which of the two they take.
      name: "replaces a name that is there twice",
      text: '{"model":"one","model":"two"}',
      want: '{"model":"new","model":"new"}',
    },
    {
      name: "knows a key that is written with escapes",
      text: String.raw`{"mod\u0065l":"old"}`,
      want: String.raw`{"mod\u0065l":"new"}`,
    },
    {
      name: "is not led astray by texts that look like JSON",
      text: String.raw`{"a":"\",\"model\":\"x\\","b":"\\\\\"{","model":"o\"ld"}`,
      want: String.raw`{"a":"\",\"model\":\"x\\","b":"\\\\\"{","model":"new"}`,
    },
    {
      name: "takes a text `model` that is a value for no key",
      text: '{"a":"model","b":"old","model":"old"}',
      want: '{"a":"model","b":"old","model":"new"}',
    },
    {
      name: "finds no other key",
      text: '{"Model":"a","models":"b"}',
      want: '{"Model":"a","models":"b"}',
    },
  ])("$name", ({ text, want }) => {
    expect(replaced(text)).toBe(want);
  });

  test("returns the very bytes where the name is the provider's already", () => {
    const bytes = Buffer.from('{"model":"same","n":1}');

    expect(withModel(bytes, "same")).toBe(bytes);
  });

  test("writes a name as JSON", () => {
    expect(replaced('{"model":"old"}', 'a"\u0007é')).toBe('{"model":"a\\"\\u0007é"}');
  });

  test("changes nothing but the model of any object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (rest, model) => {
        const { model: _, ...others } = rest;
        const body = { ...others, model: "old" };
        const want = { ...others, model };

        expect(JSON.parse(replaced(JSON.stringify(body), model))).toEqual(
          JSON.parse(JSON.stringify(want)),
        );
        expect(replaced(JSON.stringify(body, null, 2), model)).toBe(JSON.stringify(want, null, 2));
      }),
    );
  });
});

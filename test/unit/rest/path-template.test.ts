// Path templates and the trie that finds them.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatPathTemplate,
  parsePathTemplate,
  type PathTemplate,
  type PlainSegment,
} from "../../../src/transport/rest/path-template.ts";
import { createRouteTrie } from "../../../src/transport/rest/route-trie.ts";

const literal = fc
  .stringMatching(/^[a-z0-9_.~-]{1,8}$/)
  .map((text): PlainSegment => ({ kind: "literal", text }));
const plain = fc.oneof(literal, fc.constant<PlainSegment>({ kind: "any" }));
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,6}$/);
const variable = fc.record({
  kind: fc.constant("variable" as const),
  fieldPath: fc.array(name, { minLength: 1, maxLength: 3 }),
  segments: fc.array(plain, { minLength: 1, maxLength: 3 }),
});
const template: fc.Arbitrary<PathTemplate> = fc.record({
  segments: fc.array(fc.oneof(plain, variable), { minLength: 1, maxLength: 5 }),
  verb: fc.option(fc.stringMatching(/^[a-z]{1,8}$/), { nil: undefined }),
});

describe("parsePathTemplate", () => {
  test("reads back every template that formatPathTemplate writes", () => {
    fc.assert(
      fc.property(template, (one) => {
        expect(parsePathTemplate(formatPathTemplate(one))).toEqual(one);
      }),
    );
  });

  test.each([
    { name: "a literal path", text: "/events/batch" },
    { name: "a variable", text: "/v1/events/{event_id}" },
    { name: "a variable over several segments", text: "/v1/{name=projects/*/events/*}" },
    { name: "an open end", text: "/files/{path=**}" },
    { name: "a verb", text: "/v1/events/{event_id}:cancel" },
    { name: "a nested field", text: "/v1/{event.session_id}/x" },
  ])("keeps the text of $name", ({ text }) => {
    expect(formatPathTemplate(parsePathTemplate(text))).toBe(text);
  });

  test.each([
    { name: "no leading slash", text: "events", column: 1 },
    { name: "an empty segment", text: "/a//b", column: 4 },
    { name: "an open variable", text: "/a/{id", column: 7 },
    { name: "a variable without a name", text: "/a/{}", column: 5 },
    { name: "text after a variable", text: "/a/{id}x", column: 8 },
    { name: "an empty verb", text: "/a:", column: 4 },
    { name: "** before the end", text: "/**/a", column: 2 },
  ])("refuses $name, naming the column", ({ text, column }) => {
    expect(() => parsePathTemplate(text)).toThrow(new RegExp(`at column ${column}$`));
  });
});

function trieOf(...routes: readonly string[]) {
  const trie = createRouteTrie<string>();
  for (const route of routes) {
    const [httpMethod = "", path = ""] = route.split(" ");
    trie.add(httpMethod, parsePathTemplate(path), route);
  }
  return trie;
}

describe("createRouteTrie", () => {
  const trie = trieOf(
    "GET /v1/events/{event_id}",
    "PUT /v1/events/{event_id}",
    "GET /v1/events/schema",
    "POST /v1/events/{event_id}/events/batch",
    "POST /v1/{name=things/*/parts/*}",
    "GET /files/{path=**}",
    "POST /v1/events/{event_id}:cancel",
  );

  test.each([
    { name: "a variable", request: "GET /v1/events/abc", want: { event_id: "abc" } },
    { name: "an encoded slash", request: "GET /v1/events/a%2Fb", want: { event_id: "a/b" } },
    { name: "a colon that is no verb", request: "GET /v1/events/a:b", want: { event_id: "a:b" } },
    { name: "a verb", request: "POST /v1/events/a:b:cancel", want: { event_id: "a:b" } },
    {
      name: "a variable over segments",
      request: "POST /v1/things/1/parts/2",
      want: { name: "things/1/parts/2" },
    },
    { name: "an open end", request: "GET /files/a/b%2Fc/d", want: { path: "a/b%2Fc/d" } },
  ])("captures $name", ({ request, want }) => {
    const [httpMethod = "", path = ""] = request.split(" ");
    const found = trie.find(httpMethod, path);
    const got = Object.fromEntries(
      (found?.variables ?? []).map((one) => [one.fieldPath.join("."), one.value]),
    );
    expect(got).toEqual(want);
  });

  test("prefers a literal to a variable", () => {
    expect(trie.find("GET", "/v1/events/schema")?.target).toBe("GET /v1/events/schema");
  });

  test("goes back to a variable where the literal leads nowhere", () => {
    expect(trie.find("PUT", "/v1/events/schema")?.target).toBe("PUT /v1/events/{event_id}");
    expect(trie.find("POST", "/v1/events/schema/events/batch")?.variables[0]?.value).toBe("schema");
  });

  test.each([
    "GET /v1/events",
    "GET /v1/events/",
    "GET /v1/events/a/b",
    "DELETE /v1/events/a",
    "GET /v1/events/%zz",
    "GET /",
    "GET *",
  ])("finds nothing for %s", (request) => {
    const [httpMethod = "", path = ""] = request.split(" ");
    expect(trie.find(httpMethod, path)).toBeUndefined();
  });

  test("refuses two routes of one shape", () => {
    expect(() => trieOf("GET /a/{x}", "GET /a/{y}")).toThrow("two routes for GET /a/{y}");
  });

  test("gives every variable back as it was encoded", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (id) => {
        const found = trie.find("GET", `/v1/events/${encodeURIComponent(id)}`);
        fc.pre(id !== "schema");
        expect(found?.variables[0]?.value).toBe(id);
      }),
    );
  });
});

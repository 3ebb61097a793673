// References of an OpenAPI document, resolved within a part of it.

import { describe, expect, test } from "vitest";
import { resolvePart } from "../../../src/web/app/pages/reference/resolve-part.ts";

const document = {
  paths: { "/v1/nodes": { get: { schema: { $ref: "#/components/schemas/Node" } } } },
  components: {
    schemas: {
      Node: {
        type: "object",
        properties: {
          name: { $ref: "#/components/schemas/of~1name~0", description: "Its name." },
          children: { type: "array", items: { $ref: "#/components/schemas/Node" } },
        },
      },
      "of/name~": { type: "string" },
    },
  },
};

describe("resolvePart", () => {
  test("puts the targets of references in their place, but not inside of themselves", () => {
    const got = resolvePart(document, ["paths", "/v1/nodes", "get"]);

    expect(got).toEqual({
      schema: {
        $$ref: "#/components/schemas/Node",
        type: "object",
        properties: {
          name: {
            type: "string",
            description: "Its name.",
            $$ref: "#/components/schemas/of~1name~0",
          },
          children: { type: "array", items: { $ref: "#/components/schemas/Node" } },
        },
      },
    });
  });

  test("leaves a reference to another document, and returns undefined for an absent part", () => {
    const other = { $ref: "https://example.com/schema.json" };

    expect(resolvePart({ other }, ["other"])).toEqual(other);
    expect(resolvePart({ other }, ["absent", "part"])).toBeUndefined();
  });
});

// How many parts of a streamed answer are kept for what follows them.

import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import type { Target } from "../../../src/generation/provider.ts";
import { createChoiceDeltas } from "../../../src/generation/providers/ai-sdk/choice-deltas.ts";

const target: Target = {
  model: "m",
  connection: {
    id: "1",
    name: "mine",
    type: "anthropic",
    secrets: {},
    isOperators: false,
    baseUrl: null,
    resourceName: null,
    apiVersion: null,
    region: null,
  },
};

const parts: readonly {
  readonly name: string;
  readonly toPart: (id: string) => LanguageModelV4StreamPart;
}[] = [
  { name: "calls of tools", toPart: (id) => ({ type: "tool-input-start", id, toolName: "t" }) },
  { name: "blocks of reasoning", toPart: (id) => ({ type: "reasoning-start", id }) },
];

describe("createChoiceDeltas", () => {
  test.each(parts)("takes no more than 1,024 $name", ({ toPart }) => {
    const deltas = createChoiceDeltas(target);
    for (let index = 0; index < 1_024; index += 1) deltas.of(toPart(String(index)));

    expect(() => deltas.of(toPart("0"))).not.toThrow();
    expect(() => deltas.of(toPart("more"))).toThrow(
      expect.objectContaining({ failure: "malformed", provider: "mine" }),
    );
  });
});

// Model calls of older clients, turned into model events.

import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { ModelEventSchema } from "../../../gen/waggle/compat/v0/tracing_pb.js";
import { toModelEvent } from "../../../src/tracing/model-events/model-event.ts";

function configOf(toolChoice: JsonValue): unknown {
  const call = create(ModelEventSchema, {
    model: "m",
    provider: "p",
    response: {},
    duration: 1,
    toolChoice: fromJson(ValueSchema, toolChoice),
  });
  return toModelEvent(call, "").config;
}

describe("toModelEvent", () => {
  test.each([{ choice: "auto" }, { choice: { type: "function" } }])(
    "keeps the tool choice $choice",
    ({ choice }) => {
      expect(configOf(choice)).toHaveProperty("tool_choice", choice);
    },
  );

  test("takes a null tool choice as absent", () => {
    expect(configOf(null)).toEqual({ model: "m", provider: "p" });
  });

  test.each([
    { name: "of no kind", toolChoice: create(ValueSchema) },
    { name: "that is NaN", toolChoice: create(ValueSchema, { kind: aNumber(NaN) }) },
  ])("refuses by name a tool choice $name, which JSON has not", ({ toolChoice }) => {
    const call = create(ModelEventSchema, {
      model: "m",
      provider: "p",
      response: {},
      duration: 1,
      toolChoice,
    });

    expect(() => toModelEvent(call, "model_events[0].")).toThrow(
      "model_events[0].tool_choice: must be a value of JSON",
    );
  });
});

function aNumber(value: number) {
  return { case: "numberValue" as const, value };
}

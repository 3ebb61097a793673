// Instructions to a judge about the form of its answer, in addition to its prompt.
// Source: docs/evaluators.md; the OpenAI API reference, "Structured outputs".

import type { JsonObject } from "../../../base/json.ts";
import type { RunnableDefinition } from "../runner.ts";

export type AskedForm = {
  /** Text of the system message. */
  readonly system: string;
  /** `response_format` of the OpenAI API; undefined if the prompt itself asks for `[[x]]`. */
  readonly responseFormat: JsonObject | undefined;
};

/** Returns the form for the return type: `[[x]]` if the prompt contains `[[`, else JSON. */
export function askedForm(definition: RunnableDefinition): AskedForm {
  const { criteria, return_type: type = "float" } = definition;
  const { words, example, schema } = kinds[type](definition);
  const role = "You are a judge. Judge what you are shown as the user asks.";
  const must = `The score must be ${words}.`;
  if (criteria.includes("[[")) {
    const form = `End your answer with the score in double square brackets, as in [[${example}]].`;
    return { system: `${role} ${form} ${must}`, responseFormat: undefined };
  }
  const form = `Answer with a JSON object that has "explanation", a short text, and "score".`;
  return {
    system: `${role} ${form} ${must}`,
    responseFormat: {
      type: "json_schema",
      json_schema: { name: "score", strict: true, schema: schemaOf(schema) },
    },
  };
}

type Kind = {
  /** Continues the sentence "The score must be". */
  readonly words: string;
  readonly example: string;
  readonly schema: JsonObject;
};

const kinds: {
  readonly [Type in NonNullable<RunnableDefinition["return_type"]>]: (
    definition: RunnableDefinition,
  ) => Kind;
} = {
  float: ({ scale }) => ({
    words: scale === null ? "a number" : `a number from 0 to ${scale}`,
    example: scale === null ? "0.5" : String(Math.min(scale, 3)),
    schema: { type: "number" },
  }),
  boolean: () => ({ words: "true or false", example: "true", schema: { type: "boolean" } }),
  string: () => ({ words: "a short text", example: "text", schema: { type: "string" } }),
  categorical({ categories }) {
    const names = (categories ?? []).map(({ category }) => category);
    return {
      words: `one of these, word for word: ${names.map((name) => `"${name}"`).join(", ")}`,
      example: names[0] ?? "category",
      schema: { type: "string", enum: names },
    };
  },
};

/**
 * Returns the schema of an answer. The explanation comes first, so that the score follows from it.
 */
function schemaOf(score: JsonObject): JsonObject {
  return {
    type: "object",
    properties: { explanation: { type: "string" }, score },
    required: ["explanation", "score"],
    additionalProperties: false,
  };
}

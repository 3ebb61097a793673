// Tells the definition from the texts that older clients send beside it: `criteria`, `code_snippet`
// and `prompt`. The type says which one is the definition; the others are kept. Pure.
// Source: docs/decisions.md, 22.9.

import { refuse } from "../../base/errors.ts";
import type { Definition, MetricType, OlderTexts } from "./definition.ts";
import { criteriaOf, type DefinitionFields, type GivenText } from "./fields.ts";

/** Older name of the definition, by type. */
export const olderNames = { PYTHON: "code_snippet", LLM: "prompt", HUMAN: "criteria" } as const;

/** Older names of texts; a new metric without a text under its own name takes the first given. */
export const olderTextNames = ["criteria", "code_snippet", "prompt"] as const;

export type SplitTexts = {
  /** The definition; undefined if none is given. */
  readonly given: GivenText | undefined;
  /** Other texts of the request and of the previous definition; undefined without any. */
  readonly kept: OlderTexts | undefined;
};

/**
 * Returns the definition and the other texts of a request. An empty text takes a kept one away.
 * Throws INVALID_ARGUMENT if the definition is given under two names, with different texts.
 */
export function splitTexts(
  fields: DefinitionFields,
  type: MetricType,
  before: Definition | undefined,
): SplitTexts {
  const given = definitionOf(fields, type, before);
  const definition = given?.text ?? before?.criteria;
  const held = fields.older_texts === null ? undefined : before?.older_texts;
  const kept = olderTextNames.flatMap((name) => {
    const text = fields.older_texts?.[name] ?? held?.[name];
    const isDefinition = name === olderNames[type] || text === definition;
    return text && !isDefinition ? [[name, text] as const] : [];
  });
  return { given, kept: kept.length === 0 ? undefined : Object.fromEntries(kept) };
}

function definitionOf(
  fields: DefinitionFields,
  type: MetricType,
  before: Definition | undefined,
): GivenText | undefined {
  const named = criteriaOf(fields);
  const texts = fields.older_texts ?? {};
  const own = olderNames[type];
  if (named && texts[own] && texts[own] !== named.text) {
    refuse(own, `says something else than ${named.field}, which is the same; give one`);
  }
  if (named) return named;
  const order = [own, ...otherNamesOf(before)];
  const field = order.find((name) => texts[name]);
  return field && { field, text: texts[field] ?? "" };
}

/**
 * Returns names under which the definition may come in place of its own: `criteria`, unless the
 * metric keeps another text there, and for a new metric any.
 */
function otherNamesOf(before: Definition | undefined): readonly (keyof OlderTexts)[] {
  if (before === undefined) return olderTextNames;
  return before.older_texts?.criteria === undefined ? ["criteria"] : [];
}

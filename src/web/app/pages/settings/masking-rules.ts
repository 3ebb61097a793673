// Masking rules as the form has them: what the service finds by itself, and texts with a name or a
// pattern a line.

import type { JsonValue } from "@bufbuild/protobuf";
import type { MaskingRule } from "../../../../../gen/waggle/v1/masking_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { faultOf } from "../charts/faults.ts";
import { fromValue, type Value } from "../datasets/to-value.ts";

export type RuleDraft = {
  readonly detectors: readonly string[];
  readonly keys: string;
  readonly patterns: string;
};

/** Part of a rule that says what it finds. */
export type RulePart = "detector" | "key" | "pattern";

export type RuleInput = Partial<Pick<MaskingRule, RulePart | "replacement">>;

export function toDraft(rules: readonly RuleInput[]): RuleDraft {
  const all = (part: RulePart): string[] => rules.flatMap((rule) => rule[part] ?? []);
  return {
    detectors: all("detector"),
    keys: all("key").join("\n"),
    patterns: all("pattern").join("\n"),
  };
}

/** Stored rules that the draft still has keep their place and their replacement. */
export function toRules(draft: RuleDraft, stored: readonly RuleInput[]): RuleInput[] {
  const wanted: readonly (readonly [RulePart, readonly string[]])[] = [
    ["detector", draft.detectors],
    ["pattern", linesOf(draft.patterns)],
    ["key", linesOf(draft.keys)],
  ];
  const isWanted = (rule: RuleInput): boolean =>
    wanted.some(([part, values]) => values.includes(rule[part] ?? ""));
  const kept = stored.filter(isWanted);
  const added = wanted.flatMap(([part, values]) =>
    values
      .filter((value) => !kept.some((rule) => rule[part] === value))
      .map((value) => ({ [part]: value })),
  );
  return [...kept.map(toInput), ...added];
}

function toInput({ detector, key, pattern, replacement }: RuleInput): RuleInput {
  return {
    ...(detector !== undefined && { detector }),
    ...(key !== undefined && { key }),
    ...(pattern !== undefined && { pattern }),
    ...(replacement !== undefined && { replacement }),
  };
}

/** A pattern may begin or end with a blank; a name of a field does, too. */
function linesOf(text: string): readonly string[] {
  return [...new Set(text.split("\n").filter((line) => line.trim() !== ""))];
}

/** Returns what the service says about one of the rules of a part. */
export function faultInRules(
  error: ApiError | null,
  part: RulePart,
  count: number,
): string | undefined {
  for (let index = 0; index < count; index += 1) {
    const fault = faultOf(error, `rules[${index}].${part}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns typed text as JSON if it is an object or a list, otherwise as it is. */
export function toSample(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}

export function toText(sample: Value | undefined): string {
  const value = fromValue(sample);
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

// Masking rules as the form has them: what the service finds by itself, and texts with a name or a
// pattern a line.

import type { JsonValue } from "@bufbuild/protobuf";
import type { MaskingRule } from "../../../../../gen/waggle/v1/masking_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { faultOf } from "../../api/faults.ts";

export type RuleDraft = {
  readonly detectors: readonly string[];
  readonly keys: string;
  readonly patterns: string;
  /** Texts that stand in place by `nameOf` a rule; absent: the default does. */
  readonly replacements: Readonly<Record<string, string>>;
};

/** Part of a rule that says what it finds. */
export type RulePart = "detector" | "key" | "pattern";

export type RuleInput = Partial<Pick<MaskingRule, RulePart | "replacement">>;

/** Returns what a rule finds, as a text; equal for rules that differ in the replacement alone. */
export function nameOf({ detector, key, pattern }: RuleInput): string {
  return JSON.stringify({ detector, key, pattern });
}

export function toDraft(rules: readonly RuleInput[]): RuleDraft {
  const all = (part: RulePart): string[] => rules.flatMap((rule) => rule[part] ?? []);
  // The first of rules that find the same replaces.
  const replaced = rules.toReversed().filter(({ replacement }) => replacement !== undefined);
  return {
    detectors: all("detector"),
    keys: all("key").join("\n"),
    patterns: all("pattern").join("\n"),
    replacements: Object.fromEntries(
      replaced.map((rule) => [nameOf(rule), rule.replacement ?? ""]),
    ),
  };
}

/** Returns rules of an answer without what the message has besides. */
export function toStored(rules: readonly RuleInput[]): RuleInput[] {
  return rules.map((rule) => toInput(rule, rule.replacement));
}

/** Stored rules that the draft still has keep their place. */
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
  return [...kept, ...added].map((rule) => toInput(rule, draft.replacements[nameOf(rule)]));
}

/**
 * Returns the stored rules with what a person changed, who began with `before` and left `after`:
 * rules that another person set or took away meanwhile stay so.
 */
export function mergeRules(
  before: readonly RuleInput[],
  after: readonly RuleInput[],
  stored: readonly RuleInput[],
): RuleInput[] {
  const find = (rules: readonly RuleInput[], rule: RuleInput): RuleInput | undefined =>
    rules.find((one) => nameOf(one) === nameOf(rule));
  const isChanged = (rule: RuleInput): boolean => {
    const was = find(before, rule);
    return was === undefined || was.replacement !== rule.replacement;
  };
  const kept = stored.flatMap((rule) => {
    const left = find(after, rule);
    if (!left) return find(before, rule) ? [] : [rule];
    return [left.replacement !== find(before, rule)?.replacement ? left : rule];
  });
  return [...kept, ...after.filter((rule) => !find(stored, rule) && isChanged(rule))];
}

function toInput(
  { detector, key, pattern }: RuleInput,
  replacement: string | undefined,
): RuleInput {
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

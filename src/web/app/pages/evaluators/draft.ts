// An evaluator as its form holds it, and as the API takes it.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../../../gen/google/rpc/error_details_pb.js";
import type { CreateMetricRequestSchema, Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import type { RunnableMetricSchema } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import type { ApiError } from "../../api/errors.ts";
import type { CodeFault } from "../../design/code-fault.ts";
import { type FilterRow, toMessage } from "../../design/filters.ts";
import { toNumber } from "../../design/format.ts";
import { fromFilter } from "../charts/chart-messages.ts";

export const typeNames: Readonly<Record<string, string>> = {
  PYTHON: "Python",
  LLM: "Judge",
  HUMAN: "People",
};

export type Draft = {
  readonly name: string;
  readonly type: string;
  readonly criteria: string;
  readonly description: string;
  readonly returnType: string;
  readonly isEnabled: boolean;
  readonly sampling: string;
  readonly provider: string;
  readonly model: string;
  readonly scale: string;
  readonly least: string;
  readonly greatest: string;
  /** The number that passes alone, which the API takes too; empty for none. */
  readonly passAt: string;
  /** `true`, `false` or empty. */
  readonly passWhen: string;
  /** Lines of `name` or `name: score`; those that pass end with `*`. */
  readonly categories: string;
  readonly filters: readonly FilterRow[];
};

export const starters: Readonly<Record<string, string>> = {
  PYTHON: `def evaluate(event):
    answer = event["outputs"].get("content") or ""
    return len(answer) < 400
`,
  LLM: `Rate how well the answer helps, from 1 to 5.

Question: {{inputs.chat_history}}
Answer: {{outputs.content}}
`,
  HUMAN: "Is the answer right?\n",
};

export const draftDefault: Draft = {
  name: "",
  type: "PYTHON",
  criteria: starters["PYTHON"] ?? "",
  description: "",
  returnType: "boolean",
  isEnabled: false,
  sampling: "10",
  provider: "",
  model: "",
  scale: "5",
  least: "",
  greatest: "",
  passAt: "",
  passWhen: "true",
  categories: "",
  filters: [{ field: "event_type", operator: "is", value: "model", type: "string" }],
};

export function fromMetric(metric: Metric): Draft {
  const { threshold } = metric;
  const passing = new Set(threshold?.passingCategories);
  const pass = threshold?.passWhen?.kind;
  return {
    name: metric.name,
    type: metric.type,
    criteria: metric.criteria,
    description: metric.description,
    returnType: metric.returnType,
    isEnabled: metric.enabledInProd,
    sampling: String(metric.samplingPercentage),
    provider: metric.modelProvider ?? "",
    model: metric.modelName ?? "",
    scale: String(metric.scale ?? ""),
    least: String(threshold?.min ?? ""),
    greatest: String(threshold?.max ?? ""),
    passAt: pass?.case === "numberValue" ? String(pass.value) : "",
    passWhen: pass?.case === "boolValue" ? String(pass.value) : "",
    categories: metric.categories
      .map(({ category, score }) => {
        const scored = score === undefined ? category : `${category}: ${score}`;
        return passing.has(category) ? `${scored} *` : scored;
      })
      .join("\n"),
    filters: (metric.filters?.filterArray ?? []).map(fromFilter),
  };
}

type Category = { readonly category: string; readonly score?: number; readonly isPassing: boolean };

/** Reads a category a line, such as `good: 1 *`. */
function parseCategories(text: string): readonly Category[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const isPassing = line.endsWith("*");
      const plain = isPassing ? line.slice(0, -1).trim() : line;
      const at = plain.lastIndexOf(":");
      const score = at < 0 ? undefined : toNumber(plain.slice(at + 1));
      return score === undefined
        ? { category: plain, isPassing }
        : { category: plain.slice(0, at).trim(), score, isPassing };
    });
}

function toThreshold(draft: Draft) {
  const { returnType, passWhen } = draft;
  if (returnType === "boolean") {
    if (passWhen === "") return {};
    const value = passWhen === "true";
    return { passWhen: { kind: { case: "boolValue" as const, value } } };
  }
  if (returnType === "categorical") {
    const passing = parseCategories(draft.categories).filter(({ isPassing }) => isPassing);
    return { passingCategories: passing.map(({ category }) => category) };
  }
  if (returnType === "string") return {};
  const [min, max, value] = [draft.least, draft.greatest, draft.passAt].map(toNumber);
  return {
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(value !== undefined && { passWhen: { kind: { case: "numberValue" as const, value } } }),
  };
}

/** Returns the model and the scale of a judge, and the categories of a score that is one. */
function toParts({ type, returnType, provider, model, scale: given, categories }: Draft) {
  const scale = type === "LLM" && returnType === "float" ? toNumber(given) : undefined;
  return {
    ...(type === "LLM" && { modelProvider: provider, modelName: model }),
    ...(scale !== undefined && { scale }),
    categories:
      returnType === "categorical"
        ? parseCategories(categories).map(({ category, score }) => ({
            category,
            ...(score !== undefined && { score }),
          }))
        : [],
  };
}

export function toMetric(draft: Draft): MessageInitShape<typeof CreateMetricRequestSchema> {
  return {
    name: draft.name.trim(),
    type: draft.type,
    criteria: draft.criteria,
    description: draft.description,
    returnType: draft.returnType,
    enabledInProd: draft.type !== "HUMAN" && draft.isEnabled,
    samplingPercentage: toNumber(draft.sampling) ?? 0,
    ...toParts(draft),
    threshold: toThreshold(draft),
    filters: { filterArray: draft.filters.map(toMessage) },
  };
}

/**
 * Returns the fields in which a draft differs from the one that it began with. The others are not
 * sent: another person may have changed them meanwhile, and the form does not show all that a
 * threshold may have.
 */
export function toChanges(first: Draft, draft: Draft): ReturnType<typeof toMetric> {
  const before = new Map(Object.entries(toMetric(first)));
  const isChanged = ([name, value]: readonly [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(before.get(name)) ||
    // Another return type has another form of threshold and categories.
    (draft.returnType !== first.returnType && (name === "threshold" || name === "categories"));
  return Object.fromEntries(Object.entries(toMetric(draft)).filter(isChanged));
}

/** Returns the definition to try, with what matters for a run. */
export function toRunnable(draft: Draft): MessageInitShape<typeof RunnableMetricSchema> {
  const { returnType, passWhen } = draft;
  const bounds = toThreshold({ ...draft, passWhen: "" });
  const passAt = toNumber(draft.passAt);
  const hasPass = returnType === "boolean" && passWhen !== "";
  return {
    definition: draft.criteria,
    type: draft.type,
    name: draft.name || "draft",
    returnType,
    ...toParts(draft),
    threshold: {
      ...("min" in bounds && { min: bounds.min }),
      ...("max" in bounds && { max: bounds.max }),
      ...("passingCategories" in bounds && { passing_categories: bounds.passingCategories }),
      ...(hasPass && { pass_when: passWhen === "true" }),
      ...(returnType === "float" && passAt !== undefined && { pass_when: passAt }),
    },
  };
}

/**
 * Returns the place of a fault of the code that the service names: line, and column if known; of
 * code that failed, the line at which it did.
 */
export function faultsOf(error: ApiError | null): readonly CodeFault[] {
  if (!error) return [];
  if (error.errorCode === "EVALUATOR_FAILED") {
    const frames = failureOf(error)["traceback"]?.matchAll(/File "<evaluator>", line (\d+)/g);
    const line = [...(frames ?? [])].at(-1)?.[1];
    return line === undefined ? [] : [{ line: Number(line), message: error.message }];
  }
  const found = /line (\d+)(?:, column (\d+))?:? ?(.*)/s.exec(error.message);
  if (!found) return [];
  const [, line, column, message = ""] = found;
  return [
    {
      line: Number(line),
      ...(column !== undefined && { column: Number(column) }),
      message: message || error.message,
    },
  ];
}

/** Returns the facts about a failure of an evaluator: its traceback, its printed text. */
export function failureOf({ cause }: ApiError): Readonly<Record<string, string>> {
  const [info] = cause instanceof ConnectError ? cause.findDetails(ErrorInfoSchema) : [];
  return info?.metadata ?? {};
}

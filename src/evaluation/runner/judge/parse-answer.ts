// Parses a judge's answer into the score and its explanation.
// Source: docs/evaluators.md; docs/decisions.md, 22.5.

import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from "../../../base/json.ts";
import { checkScore, type Score, type ScoreRule } from "../../scores/score.ts";

export type ParsedAnswer =
  | { readonly score: Score; readonly explanation: string | undefined }
  | { readonly reason: "NO_SCORE" | "INVALID_SCORE"; readonly message: string };

/** Score of an answer before it is checked. */
type Found = { readonly value: JsonValue; readonly explanation: string | undefined };

/**
 * Parses an answer: as JSON with a score, else by the last `[[x]]`, else by JSON inside it, else as
 * a bare score. The result is checked against the rule; ambiguous text, such as `3 or 4`, is not
 * guessed at. The thoughts of a reasoning model before its answer are not part of the answer.
 */
export function parseAnswer(text: string, rule: ScoreRule): ParsedAnswer {
  const answer = text.replace(thoughts, "");
  const found =
    fromJson(answer) ?? fromBrackets(answer) ?? fromJson(innerJson(answer)) ?? bare(answer, rule);
  if (!found) {
    const message = "the answer has neither a score in [[ ]] nor JSON with a score";
    return { reason: "NO_SCORE", message };
  }
  const { value, explanation } = found;
  const read = typeof value === "string" ? readText(value, rule) : value;
  if (read === undefined || read === null) {
    return { reason: "NO_SCORE", message: "the score in the answer is empty" };
  }
  const checked = checkScore(read, rule);
  if ("fault" in checked) return { reason: "INVALID_SCORE", message: checked.fault };
  return { score: checked.score, explanation };
}

const thoughts = /^(?:\s*<think>[^]*?<\/think>)+/;

const bracketed = /\[\[([^[\]]*)\]\]/g;

function fromBrackets(answer: string): Found | undefined {
  const last = [...answer.matchAll(bracketed)].at(-1);
  if (!last) return undefined;
  const [whole, inner = ""] = last;
  const before = answer.slice(0, last.index).replace(emphasis, "$1").replace(label, "");
  const after = answer.slice(last.index + whole.length).replace(/^[*_`.]+/, "");
  return { value: inner, explanation: toWords(`${before}${after}`) };
}

/** Emphasis that begins before a score and ends after it, as in `**[[4]]**`. */
const emphasis = /(^|\s)[*_`]+$/;

/**
 * Label at the start of a line and directly before a score, such as `Final score:`; not part of the
 * explanation.
 */
const label =
  /(?:^|\n)[^\w\n]*(?:(?:final|overall) )?(?:score|rating|verdict|grade|answer|result)[^\w\n]*$/i;

const scoreKeys = ["score", "result", "rating"];
const explanationKeys = ["explanation", "reasoning", "reason", "rationale"];

function fromJson(text: string): Found | undefined {
  const json = tryParseJson(withoutFence(text.trim()));
  if (!isJsonObject(json)) return undefined;
  const key = scoreKeys.find((name) => Object.hasOwn(json, name));
  if (key === undefined) return undefined;
  const value = json[key] ?? null;
  const inner = typeof value === "string" ? withoutBrackets(value) : value;
  return { value: inner, explanation: explanationIn(json) };
}

/** Removes a pair of brackets; a text with one of the two is not a score. */
function withoutBrackets(text: string): string {
  return wholeBracketed.exec(text)?.[1] ?? text;
}

const wholeBracketed = /^\s*\[\[([^[\]]*)\]\]\s*$/;

function explanationIn(json: JsonObject): string | undefined {
  const words = explanationKeys.map((name) => json[name]).find((one) => typeof one === "string");
  return toWords(words ?? "");
}

function withoutFence(text: string): string {
  if (!text.startsWith(fence) || !text.endsWith(fence)) return text;
  return text.slice(text.indexOf("\n") + 1, -fence.length);
}

const fence = "```";

/** Returns the text from the first brace to the last, fenced or not. */
function innerJson(answer: string): string {
  return answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1);
}

/**
 * Reads an answer that is only a score. Text scores are excluded, because any answer would be one.
 */
function bare(answer: string, rule: ScoreRule): Found | undefined {
  if (rule.return_type === "string") return undefined;
  const value = readText(answer, rule);
  if (value === undefined || "fault" in checkScore(value, rule)) return undefined;
  return { value, explanation: undefined };
}

/** Reads a run of digits in one way only, so that a long one takes linear time. */
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  pass: true,
  passed: true,
  "1": true,
  false: false,
  no: false,
  fail: false,
  failed: false,
  "0": false,
};

/** Returns the value that a text stands for; undefined if it is empty. */
function readText(text: string, { return_type: type, scale }: ScoreRule): Score | undefined {
  const plain = type === "string" ? text.trim() : unadorned(text);
  if (plain === "") return undefined;
  if (type === "boolean") {
    const word = plain.toLowerCase();
    return Object.hasOwn(booleans, word) ? booleans[word] : plain;
  }
  return type === "float" ? readNumber(plain, scale) : plain;
}

/** Reads a number. `4/5` is 4 if the scale is 5, and is not a number on any other scale. */
function readNumber(text: string, scale: number | null): number | string {
  const [points = "", of, more] = text.split("/").map((part) => part.trim());
  const isOfScale = of !== undefined && more === undefined && Number(of) === scale;
  const digits = isOfScale ? points : text;
  if (number.test(digits)) return Number(digits);
  return oddNumbers.get(text.toLowerCase().replace(/^[+-]/, "")) ?? text;
}

/** Results of failed calculations. */
const oddNumbers: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
]);

/** Maximum length of a number or a category's name. */
const adornedCharactersMax = 1_000;

/** Removes quotes, emphasis and the final full stop. */
function unadorned(text: string): string {
  const plain = text.trim();
  if (plain.length > adornedCharactersMax) return plain;
  return plain
    .replace(/^["'`*_]+/, "")
    .replace(/["'`*_.]+$/, "")
    .trim();
}

const explanationCharactersMax = 10_000;

function toWords(text: string): string | undefined {
  const words = text.trim().slice(0, explanationCharactersMax).toWellFormed();
  return words === "" ? undefined : words;
}

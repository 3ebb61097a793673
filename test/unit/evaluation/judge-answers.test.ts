// Reading scores from the answers of judges.

import { describe, expect, test } from "vitest";
import { parseAnswer } from "../../../src/evaluation/runner/judge/parse-answer.ts";
import type { ScoreRule } from "../../../src/evaluation/scores/score.ts";

const base = { type: "LLM", categories: null, scale: null } as const;
const float: ScoreRule = { ...base, return_type: "float" };
const ofFive: ScoreRule = { ...float, scale: 5 };
const boolean: ScoreRule = { ...base, return_type: "boolean" };
const text: ScoreRule = { ...base, return_type: "string" };
const categorical: ScoreRule = {
  ...base,
  return_type: "categorical",
  categories: [
    { category: "Good", score: 1 },
    { category: "Not good", score: 0 },
  ],
};

type ScoreRow = {
  readonly answer: string;
  readonly rule: ScoreRule;
  readonly score: boolean | number | string;
  readonly explanation?: string;
};

const scores: readonly ScoreRow[] = [
  // In brackets.
  { answer: "[[4]]", rule: ofFive, score: 4 },
  { answer: "Clear and right. [[4]]", rule: ofFive, score: 4, explanation: "Clear and right." },
  { answer: "Rating: [[4]]", rule: ofFive, score: 4 },
  {
    answer: "Good enough.\n**Final score:** [[4.5]].",
    rule: ofFive,
    score: 4.5,
    explanation: "Good enough.",
  },
  {
    answer: "The answer [[2]] is short",
    rule: ofFive,
    score: 2,
    explanation: "The answer  is short",
  },
  // The last one counts: earlier ones are scores of parts, or first thoughts of the judge.
  { answer: "Style [[1]], sense [[3]]", rule: ofFive, score: 3, explanation: "Style [[1]], sense" },
  { answer: "[[5]] no, rather [[2]]", rule: ofFive, score: 2, explanation: "[[5]] no, rather" },
  { answer: "[[ 3 ]]", rule: ofFive, score: 3 },
  { answer: "[[0]]", rule: ofFive, score: 0 },
  { answer: "[[5.0]]", rule: ofFive, score: 5 },
  { answer: "[[**4**]]", rule: ofFive, score: 4 },
  { answer: "**[[4]]**", rule: ofFive, score: 4 },
  { answer: "It is *so*.\n\n**[[4]]**", rule: ofFive, score: 4, explanation: "It is *so*." },
  { answer: '[["4"]]', rule: ofFive, score: 4 },
  { answer: "[[4/5]]", rule: ofFive, score: 4 },
  { answer: "[[4 / 5]]", rule: ofFive, score: 4 },
  { answer: "[[[4]]]", rule: ofFive, score: 4, explanation: "[]" },
  { answer: "[[-0.25]]", rule: float, score: -0.25 },
  { answer: "[[1e3]]", rule: float, score: 1000 },
  { answer: "[[.5]]", rule: float, score: 0.5 },
  { answer: "[[+2.]]", rule: float, score: 2 },
  { answer: "[[100]]", rule: float, score: 100 },
  { answer: "[[true]]", rule: boolean, score: true },
  { answer: "It holds. [[Yes]]", rule: boolean, score: true, explanation: "It holds." },
  { answer: "[[PASS]]", rule: boolean, score: true },
  { answer: "[[1]]", rule: boolean, score: true },
  { answer: "[[False]]", rule: boolean, score: false },
  { answer: "[[no]]", rule: boolean, score: false },
  { answer: "[[failed]]", rule: boolean, score: false },
  { answer: "[[0]]", rule: boolean, score: false },
  { answer: "[[good]]", rule: categorical, score: "Good" },
  { answer: "[[NOT GOOD]]", rule: categorical, score: "Not good" },
  { answer: "[[a rather long verdict.]]", rule: text, score: "a rather long verdict." },
  // After the thoughts of a reasoning model.
  { answer: '<think>{"score": 0}?</think>\n{"score": 1}', rule: ofFive, score: 1 },
  {
    answer: "\n<think>[[1]]</think><think>\n</think>Fine. [[4]]",
    rule: ofFive,
    score: 4,
    explanation: "Fine.",
  },
  { answer: "<think>\nHm.\n</think>\n\n4", rule: ofFive, score: 4 },
  {
    answer: "It says <think>a</think>. [[4]]",
    rule: ofFive,
    score: 4,
    explanation: "It says <think>a</think>.",
  },
  // As JSON.
  { answer: '{"score": 4, "explanation": "fine"}', rule: ofFive, score: 4, explanation: "fine" },
  { answer: '{"reasoning": "fine", "rating": 4.5}', rule: ofFive, score: 4.5, explanation: "fine" },
  { answer: '{"result": true}', rule: boolean, score: true },
  { answer: '{"score": "4"}', rule: ofFive, score: 4 },
  { answer: '{"score": "[[4]]"}', rule: ofFive, score: 4 },
  {
    answer: '{"score": "yes", "reason": "it is"}',
    rule: boolean,
    score: true,
    explanation: "it is",
  },
  { answer: '{"score": "good"}', rule: categorical, score: "Good" },
  { answer: '{"score": "all of it"}', rule: text, score: "all of it" },
  {
    answer: '```json\n{"score": 2, "explanation": "meh"}\n```',
    rule: ofFive,
    score: 2,
    explanation: "meh",
  },
  { answer: '```\n{"score": 2}\n```', rule: ofFive, score: 2 },
  { answer: 'Here it is:\n```json\n{"score": 2}\n```\nBye.', rule: ofFive, score: 2 },
  {
    answer: 'I say {"score": 3, "explanation": "so so"}.',
    rule: ofFive,
    score: 3,
    explanation: "so so",
  },
  // An answer that is not JSON as a whole is read for its brackets first.
  {
    answer: '{"score": 1} was my first thought, but [[2]]',
    rule: ofFive,
    score: 2,
    explanation: '{"score": 1} was my first thought, but',
  },
  {
    answer: '{"score": 3, "explanation": "as [[5]] would be too much"}',
    rule: ofFive,
    score: 3,
    explanation: "as [[5]] would be too much",
  },
  // Nothing but the score.
  { answer: "4", rule: ofFive, score: 4 },
  { answer: " **4/5** \n", rule: ofFive, score: 4 },
  { answer: "Yes.", rule: boolean, score: true },
  { answer: "good", rule: categorical, score: "Good" },
];

type FaultRow = {
  readonly answer: string;
  readonly rule: ScoreRule;
  readonly reason: "NO_SCORE" | "INVALID_SCORE";
  readonly says?: string;
};

const faults: readonly FaultRow[] = [
  { answer: "", rule: ofFive, reason: "NO_SCORE" },
  { answer: "I cannot judge this.", rule: ofFive, reason: "NO_SCORE" },
  { answer: "I give it a 4 of 5.", rule: ofFive, reason: "NO_SCORE" },
  { answer: "[4]", rule: ofFive, reason: "NO_SCORE" },
  { answer: "[[4]", rule: ofFive, reason: "NO_SCORE" },
  { answer: "[[3", rule: ofFive, reason: "NO_SCORE" },
  { answer: '{"score": "[[3"}', rule: ofFive, reason: "INVALID_SCORE", says: "[[3" },
  { answer: '{"score": "3]]"}', rule: ofFive, reason: "INVALID_SCORE", says: "3]]" },
  { answer: "[[]]", rule: ofFive, reason: "NO_SCORE", says: "empty" },
  { answer: "[[ ]]", rule: boolean, reason: "NO_SCORE" },
  { answer: "[[rating]]", rule: ofFive, reason: "INVALID_SCORE", says: '"rating"' },
  { answer: "[[NaN]]", rule: float, reason: "INVALID_SCORE", says: "NaN" },
  { answer: "[[-Infinity]]", rule: float, reason: "INVALID_SCORE", says: "finite" },
  { answer: "[[1e999]]", rule: float, reason: "INVALID_SCORE", says: "finite" },
  { answer: "[[6]]", rule: ofFive, reason: "INVALID_SCORE", says: "0 to 5" },
  { answer: "[[-1]]", rule: ofFive, reason: "INVALID_SCORE", says: "0 to 5" },
  { answer: "[[5.01]]", rule: ofFive, reason: "INVALID_SCORE" },
  { answer: "[[3 or 4]]", rule: ofFive, reason: "INVALID_SCORE" },
  { answer: "[[3, 4]]", rule: ofFive, reason: "INVALID_SCORE" },
  { answer: "[[3-4]]", rule: ofFive, reason: "INVALID_SCORE" },
  { answer: "[[8/10]]", rule: ofFive, reason: "INVALID_SCORE" },
  { answer: "[[4/5]]", rule: float, reason: "INVALID_SCORE" },
  { answer: "[[80%]]", rule: float, reason: "INVALID_SCORE" },
  { answer: "[[4,5]]", rule: ofFive, reason: "INVALID_SCORE" },
  { answer: "[[four]]", rule: ofFive, reason: "INVALID_SCORE" },
  { answer: "[[0x10]]", rule: float, reason: "INVALID_SCORE" },
  { answer: "[[true]]", rule: ofFive, reason: "INVALID_SCORE" },
  { answer: "[[maybe]]", rule: boolean, reason: "INVALID_SCORE" },
  { answer: "[[2]]", rule: boolean, reason: "INVALID_SCORE" },
  { answer: "[[constructor]]", rule: boolean, reason: "INVALID_SCORE" },
  { answer: "[[constructor]]", rule: float, reason: "INVALID_SCORE" },
  { answer: '{"score": "constructor"}', rule: float, reason: "INVALID_SCORE" },
  { answer: "[[bad]]", rule: categorical, reason: "INVALID_SCORE", says: "categories" },
  { answer: '{"score": null}', rule: ofFive, reason: "NO_SCORE" },
  { answer: '{"score": [4]}', rule: ofFive, reason: "INVALID_SCORE", says: "a list" },
  { answer: '{"score": {"value": 4}}', rule: ofFive, reason: "INVALID_SCORE", says: "an object" },
  { answer: '{"score": true}', rule: ofFive, reason: "INVALID_SCORE" },
  { answer: '{"score": 4}', rule: text, reason: "INVALID_SCORE" },
  { answer: '{"score": NaN}', rule: float, reason: "NO_SCORE" },
  { answer: '{"explanation": "fine"}', rule: ofFive, reason: "NO_SCORE" },
  { answer: '{"score": 4', rule: ofFive, reason: "NO_SCORE" },
  // Any answer is text: only what is marked as the score is one.
  { answer: "fine", rule: text, reason: "NO_SCORE" },
];

describe("parseAnswer", () => {
  test.each(scores)("reads $score from $answer", ({ answer, rule, score, explanation }) => {
    expect(parseAnswer(answer, rule)).toEqual({ score, explanation });
  });

  test.each(faults)("finds $reason in $answer", ({ answer, rule, reason, says = "" }) => {
    const got = parseAnswer(answer, rule);

    expect(got).toMatchObject({ reason, message: expect.stringContaining(says) as string });
  });

  test("takes long answers of nothing but brackets, blanks and marks", () => {
    for (const odd of ["[[", "[[]] ", " ", "*.", "{", "`", "\n", "score:"]) {
      const answer = odd.repeat(1_000_000 / odd.length);

      expect(parseAnswer(answer, ofFive)).toMatchObject({ reason: "NO_SCORE" });
    }
  });

  test("takes a million digits that are no number", () => {
    const digits = `${"1".repeat(1_000_000)}x`;

    expect(parseAnswer(digits, float)).toMatchObject({ reason: "NO_SCORE" });
    expect(parseAnswer(`[[${digits}]]`, float)).toMatchObject({ reason: "INVALID_SCORE" });
  });

  test("cuts an explanation, and no surrogate pair in two", () => {
    const got = parseAnswer(`${"x".repeat(9_999)}😀[[1]]`, ofFive);

    expect(got).toEqual({ score: 1, explanation: `${"x".repeat(9_999)}\ufffd` });
  });
});

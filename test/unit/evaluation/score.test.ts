// Tests which values are scores under a definition, and which scores pass.

import { describe, expect, test } from "vitest";
import { passes } from "../../../src/evaluation/runs/passing.ts";
import { checkScore, type ScoreRule } from "../../../src/evaluation/scores/score.ts";

const code: ScoreRule = { type: "PYTHON", categories: null, scale: null, return_type: undefined };
const categories = [
  { category: "yes", score: 1 },
  { category: "No", score: null },
];

describe("checkScore", () => {
  test.each([
    { name: "any kind without a return type", rule: code, value: "x", want: "x" },
    { name: "a number", rule: { ...code, return_type: "float" }, value: 0.5, want: 0.5 },
    { name: "True as 1", rule: { ...code, return_type: "float" }, value: true, want: 1 },
    {
      name: "code beyond a scale",
      rule: { ...code, return_type: "float", scale: 1 },
      value: 7,
      want: 7,
    },
    { name: "1 as true", rule: { ...code, return_type: "boolean" }, value: 1, want: true },
    { name: "text", rule: { ...code, return_type: "string" }, value: "", want: "" },
    {
      name: "a category",
      rule: { ...code, categories, return_type: "categorical" },
      value: "yes",
      want: "yes",
    },
    {
      name: "a category in another case",
      rule: { ...code, categories, return_type: "categorical" },
      value: "NO",
      want: "No",
    },
  ] as const)("takes $name", ({ rule, value, want }) => {
    expect(checkScore(value, rule)).toEqual({ score: want });
  });

  test.each([
    { name: "null", rule: code, value: null, says: "absent" },
    { name: "NaN", rule: code, value: Number.NaN, says: "NaN" },
    { name: "infinity", rule: code, value: Number.POSITIVE_INFINITY, says: "Infinity" },
    { name: "a list", rule: code, value: [1], says: "a list" },
    { name: "an object", rule: code, value: {}, says: "an object" },
    {
      name: "text as a number",
      rule: { ...code, return_type: "float" },
      value: "4",
      says: "a number",
    },
    {
      name: "2 as a boolean",
      rule: { ...code, return_type: "boolean" },
      value: 2,
      says: "a boolean",
    },
    { name: "a number as text", rule: { ...code, return_type: "string" }, value: 1, says: "text" },
    {
      name: "no category",
      rule: { ...code, categories, return_type: "categorical" },
      value: "maybe",
      says: "categories",
    },
    {
      name: "a judge's yes as a number",
      rule: { ...code, type: "LLM", return_type: "float" },
      value: true,
      says: "a number",
    },
    {
      name: "a judge beyond its scale",
      rule: { ...code, type: "LLM", return_type: "float", scale: 5 },
      value: 5.5,
      says: "0 to 5",
    },
    { name: "very long text", rule: code, value: "x".repeat(10_001), says: "10000 characters" },
  ] as const)("refuses $name", ({ rule, value, says }) => {
    expect(checkScore(value, rule)).toEqual({ fault: expect.stringContaining(says) as string });
  });

  test("shows the beginning of long text, and no half of a surrogate pair", () => {
    const checked = checkScore(`${"x".repeat(98)}😀 and more`, { ...code, return_type: "float" });

    expect("fault" in checked && checked.fault.isWellFormed()).toBe(true);
  });
});

describe("passes", () => {
  test.each([
    { name: "nothing without a threshold", score: 1, threshold: null, want: null },
    { name: "nothing with an empty one", score: 1, threshold: {}, want: null },
    { name: "the least", score: 3, threshold: { min: 3 }, want: true },
    { name: "not below it", score: 2.9, threshold: { min: 3 }, want: false },
    { name: "the greatest", score: 4, threshold: { min: 3, max: 4 }, want: true },
    { name: "not above it", score: 5, threshold: { min: 3, max: 4 }, want: false },
    {
      name: "the boolean that is asked for",
      score: false,
      threshold: { pass_when: false },
      want: true,
    },
    { name: "not the other", score: true, threshold: { pass_when: false }, want: false },
    { name: "1 for true", score: 1, threshold: { pass_when: true }, want: true },
    { name: "a category", score: "a", threshold: { passing_categories: ["b", "a"] }, want: true },
    { name: "not another", score: "c", threshold: { passing_categories: ["b", "a"] }, want: false },
    { name: "not a text by bounds", score: "c", threshold: { min: 1 }, want: false },
    {
      name: "not a number by categories",
      score: 1,
      threshold: { passing_categories: ["1"] },
      want: false,
    },
    { name: "true as 1 by bounds", score: true, threshold: { min: 0.5 }, want: true },
    { name: "not false by bounds", score: false, threshold: { min: 0.5 }, want: false },
    { name: "true for 1", score: true, threshold: { pass_when: 1 }, want: true },
    { name: "not a text for true", score: "1", threshold: { pass_when: true }, want: false },
  ])("$name", ({ score, threshold, want }) => {
    expect(passes(score, threshold)).toBe(want);
  });
});

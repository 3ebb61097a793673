// Common parts of the stand-in's APIs: a request and an answer in a neutral form, and the interface
// with which each API reads and writes them.

import type { PlayName, Plays } from "./play.ts";

export type Json = { readonly [name: string]: unknown };

export type Usage = {
  /** Tokens neither read from a cache nor written to one. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Tokens without the reasoning. */
  readonly output: number;
  readonly reasoning: number;
};

export type Ask = {
  readonly model: string;
  readonly isStream: boolean;
  readonly choices: number;
  /** Names of the offered functions. */
  readonly tools: readonly string[];
  readonly hasToolResult: boolean;
  /** Text of the last message, for `echo`. */
  readonly lastText: string;
  readonly promptTokens: number;
  readonly isUsageWanted: boolean;
};

export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: Json };

export type Reply = {
  /** Null if functions are called. */
  readonly text: string | null;
  readonly reasoning: string | undefined;
  readonly calls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tools" | "failed";
  /** Undefined if the model reports none. */
  readonly usage: Usage | undefined;
};

/** A part of a streamed answer. */
export type Frame = {
  readonly kind: "open" | "content" | "finish" | "done";
  readonly bytes: string | Uint8Array;
};

/** An API of chats. */
export type Dialect = {
  readonly streamType: string;
  toAsk(body: Json, model: string, isStream: boolean): Ask;
  toAnswer(ask: Ask, reply: Reply): unknown;
  toFrames(ask: Ask, reply: Reply): readonly Frame[];
  toError(status: number, message: string): unknown;
  toErrorFrame(message: string): string | Uint8Array;
  /** A part that clients cannot read. */
  readonly brokenFrame: string | Uint8Array;
};

export const answerText = "It is 18 °C and sunny in Paris.";
const thought = "The user asks for the weather. ";
const cacheReadTokens = 64;
const cacheWriteTokens = 32;
const reasoningTokens = 16;
const megabyte = 1_048_576;
const hugeMegabytes = 40;

/** Estimates tokens: one for every four characters. */
export function tokensIn(value: unknown): number {
  return Math.ceil(JSON.stringify(value ?? null).length / 4);
}

/** Returns the answer, which calls the first offered function once, if there is one. */
export function replyTo(ask: Ask, plays: Plays, text: string): Reply {
  const has = (name: PlayName): boolean => plays[name] !== undefined;
  const offered = ask.hasToolResult ? [] : ask.tools;
  const called = has("parallel") ? offered : offered.slice(0, 1);
  const calls = called.map((name, index) => ({
    id: `call_${index + 1}`,
    name,
    arguments: { city: "Paris" },
  }));
  const words = calls.length > 0 ? null : wordsOf(ask, plays, text);
  return {
    text: words,
    reasoning: has("reasoning") ? thought : undefined,
    calls,
    finish: finishOf(plays, calls),
    usage: has("noUsage") ? undefined : usageOf(ask, plays, words, calls),
  };
}

function finishOf(plays: Plays, calls: readonly ToolCall[]): Reply["finish"] {
  if (plays.failedEnd) return "failed";
  if (calls.length > 0) return "tools";
  return plays.length ? "length" : "stop";
}

function wordsOf(ask: Ask, plays: Plays, text: string): string {
  if (plays.echo) return ask.lastText;
  if (plays.huge) return "huge".repeat(((plays.huge[0] ?? hugeMegabytes) * megabyte) / 4);
  return text;
}

function usageOf(ask: Ask, plays: Plays, text: string | null, calls: readonly ToolCall[]): Usage {
  return {
    input: ask.promptTokens,
    cacheRead: plays.cached ? cacheReadTokens : 0,
    cacheWrite: plays.cached ? cacheWriteTokens : 0,
    output: tokensIn(text ?? calls.map(toOpenAiCall)),
    reasoning: plays.reasoning ? reasoningTokens : 0,
  };
}

/** Returns a call in the form of OpenAI's API. */
export function toOpenAiCall({ id, name, arguments: given }: ToolCall): Json {
  return { id, type: "function", function: { name, arguments: JSON.stringify(given) } };
}

const longestPieces = 1_000;

/** Returns the pieces in which a stream sends a text: its words, or parts of a long text. */
export function piecesOf(text: string | null): readonly string[] {
  if (text === null || text === "") return [];
  const size = Math.max(1, Math.ceil(text.length / longestPieces));
  if (size > 100) return text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  return text.split(/(?<= )/);
}

/** Returns a server-sent event. */
export function toEvent(data: unknown, name?: string): string {
  const first = name === undefined ? "" : `event: ${name}\n`;
  return `${first}data: ${JSON.stringify(data)}\n\n`;
}

/** Returns the text of a message's content, which may be in parts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as readonly Json[])
    .map((part) => (typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

/** Returns the records in a value that should be a list of records. */
export function recordsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

export const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

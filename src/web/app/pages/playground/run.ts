// A run of the playground: one model's answer to a draft.

import type { StreamedGeneration } from "../../../../../gen/waggle/v1/generation_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { type Fields, isFields } from "../../design/chat-message.ts";

export type Run = {
  readonly id: string;
  /** Session that holds the recorded call. */
  readonly sessionId: string;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly startedAtMs: number;
  readonly model: string;
  /** Words of the answer so far. */
  readonly text: string;
  /** Milliseconds until the browser had the first word. */
  readonly firstWordMs?: number;
  /** Milliseconds until the browser had the end of the answer; never less than `firstWordMs`. */
  readonly totalMs?: number;
  readonly generation?: StreamedGeneration;
  readonly tokens?: Tokens;
  readonly error?: ApiError;
};

/** Returns whether a run that has ended has a trace: no call that the service refuses has one. */
export function isRecorded({ state, text, error }: Run): boolean {
  return state !== "failed" || text !== "" || /^PROVIDER_/.test(error?.errorCode ?? "");
}

/** Returns the first answer of a run that has ended; undefined while there is none. */
export function answerOf({ state, generation }: Run): Fields | undefined {
  const message = generation?.choices[0]?.["message"];
  return state === "done" && isFields(message) ? message : undefined;
}

/** Returns whether a model had no tokens left for the end of its answer. */
export function isCutOff({ generation }: Run): boolean {
  return generation?.choices.some((choice) => choice["finish_reason"] === "length") === true;
}

type Tokens = {
  readonly total: number | undefined;
  readonly prompt: number | undefined;
  readonly completion: number | undefined;
};

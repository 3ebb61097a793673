// A run of the playground: one model's answer to a draft.

import type { StreamedGeneration } from "../../../../../gen/waggle/v1/generation_pb.js";
import type { ApiError } from "../../api/errors.ts";

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

type Tokens = {
  readonly total: number | undefined;
  readonly prompt: number | undefined;
  readonly completion: number | undefined;
};

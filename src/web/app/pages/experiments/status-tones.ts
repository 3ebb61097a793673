// The tone of each state of a run and of its execution.

import type { Tone } from "../../design/badge.tsx";

export const statusTones: Readonly<Record<string, Tone>> = {
  completed: "good",
  running: "info",
  scoring: "info",
  pending: "neutral",
  cancelling: "warn",
  cancelled: "warn",
  failed: "bad",
};

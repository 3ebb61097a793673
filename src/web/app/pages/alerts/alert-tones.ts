// Tones of the states of alerts and of the outcomes of their checks.

import type { Tone } from "../../design/badge.tsx";

export const stateTones: Readonly<Record<string, Tone>> = {
  triggered: "bad",
  resolved: "good",
  active: "good",
  paused: "neutral",
  muted: "warn",
};

export const outcomeTones: Readonly<Record<string, Tone>> = {
  critical: "bad",
  resolved: "good",
  between: "warn",
  insufficient: "neutral",
  failed: "warn",
};

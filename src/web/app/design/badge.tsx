// Badge: one word about a thing. Status: the same with a mark in the colour of how it goes; the
// word always stands beside the colour.

import type { ReactNode } from "react";
import "./badge.css";

export type Tone = "neutral" | "accent" | "good" | "bad" | "warn" | "info";

export type BadgeProps = {
  readonly tone?: Tone;
  readonly children: ReactNode;
};

export function Badge({ tone = "neutral", children }: BadgeProps) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}

export function Status({ tone = "neutral", children }: BadgeProps) {
  return (
    <span className="status" data-tone={tone}>
      {children}
    </span>
  );
}

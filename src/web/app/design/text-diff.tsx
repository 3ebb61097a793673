// TextDiff: lines that were added and removed, with a sign beside the colour.

import type { DiffLine } from "./diff-lines.ts";
import "./text-diff.css";

export type TextDiffProps = { readonly label: string; readonly lines: readonly DiffLine[] };

const linesMax = 2_000;
const signs = { same: " ", added: "+", removed: "−" } as const;
const words = { same: "", added: "added: ", removed: "removed: " } as const;

export function TextDiff({ label, lines }: TextDiffProps) {
  const rest = lines.length - linesMax;
  return (
    <div className="text-diff" role="region" aria-label={`Differences of ${label}`} tabIndex={0}>
      {lines.slice(0, linesMax).map(({ kind, text }, index) => (
        <div key={index} data-kind={kind}>
          <span aria-hidden>{signs[kind]}</span>
          <span className="visually-hidden">{words[kind]}</span>
          <span dir="auto">{text}</span>
        </div>
      ))}
      {rest > 0 ? <p className="faint">{`${rest} more lines`}</p> : null}
    </div>
  );
}

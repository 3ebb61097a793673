// Difference: how a number of the second session or run differs from that of the first. Less is
// good, since all of them are costs.

import { isRounding } from "../../design/format.ts";

export type DifferenceProps = {
  readonly a: number | undefined;
  readonly b: number | undefined;
  readonly format: (value: number) => string;
};

export function Difference({ a, b, format }: DifferenceProps) {
  if (a === undefined || b === undefined) {
    return (
      <span className="difference" aria-label="not to be compared">
        –
      </span>
    );
  }
  const by = b - a;
  if (isRounding(by, a)) return <span className="difference">=</span>;
  const share = a === 0 ? undefined : Math.round((by / a) * 100);
  const sign = by > 0 ? "+" : "−";
  const title = `${format(a)} → ${format(b)}${share === undefined ? "" : ` (${share} %)`}`;
  return (
    <span className="difference" data-tone={by > 0 ? "more" : "less"} title={title}>
      {sign}
      {format(Math.abs(by))}
    </span>
  );
}

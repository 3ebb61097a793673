// Sparkline: the course of a value in the height of a line of text, beside its number. Plain SVG.

import "./sparkline.css";

export type SparklineProps = {
  /** Read out in place of the picture. */
  readonly label: string;
  /** One value a step; null where there is none, which leaves a gap. */
  readonly values: readonly (number | null)[];
};

const [widthPx, heightPx, edgePx] = [64, 18, 2];

export function Sparkline({ label, values }: SparklineProps) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const least = Math.min(...known);
  const span = Math.max(...known) - least;
  const x = (at: number) => edgePx + (at / Math.max(1, values.length - 1)) * (widthPx - 2 * edgePx);
  const y = (value: number) => {
    const share = span === 0 ? 0.5 : (value - least) / span;
    return heightPx - edgePx - share * (heightPx - 2 * edgePx);
  };
  const points = values.map((value, at) => (value === null ? "" : `${x(at)},${y(value)}`));
  const lastAt = values.findLastIndex((value) => value !== null);
  return (
    <svg
      className="sparkline"
      role="img"
      aria-label={label}
      width={widthPx}
      height={heightPx}
      viewBox={`0 0 ${widthPx} ${heightPx}`}
    >
      <title>{label}</title>
      {runsOf(points).map((run) => (
        <polyline key={run} points={run} />
      ))}
      <circle cx={x(lastAt)} cy={y(values[lastAt] ?? least)} r={edgePx} />
    </svg>
  );
}

/** Returns the points of each stretch without a gap; one alone is doubled, so that it is a dot. */
function runsOf(points: readonly string[]): readonly string[] {
  const runs = points.join(" ").split(/ {2,}/);
  return runs
    .map((run) => run.trim())
    .filter((run) => run !== "")
    .map((run) => (run.includes(" ") ? run : `${run} ${run}`));
}

// Prints a session as a tree with times, tokens and errors.

import { styleText } from "node:util";
import type { Node, Session } from "./compare.ts";

type Line = { readonly branch: string; readonly node: Node };

const colors = { model: "magenta", tool: "cyan", chain: "blue", session: "green" } as const;

/** Returns the lines of a session's tree; colours only where the terminal shows them. */
export function formatTree(session: Session): string {
  const lines = linesOf(session, "", "");
  const width = Math.max(...lines.map(({ branch, node }) => (branch + node.event_name).length));
  return lines.map((line) => formatLine(line, session.start_time, width)).join("\n");
}

function linesOf(node: Node, branch: string, indent: string): readonly Line[] {
  const below = node.children.flatMap((child, index) => {
    const isLast = index === node.children.length - 1;
    return linesOf(
      child,
      `${indent}${isLast ? "└─ " : "├─ "}`,
      `${indent}${isLast ? "   " : "│  "}`,
    );
  });
  return [{ branch, node }, ...below];
}

function formatLine({ branch, node }: Line, sessionStartMs: number, width: number): string {
  const { event_name: name, event_type: type, error, duration, start_time: startMs } = node;
  const color = colors[type as keyof typeof colors];
  const tokens = node.metadata?.["total_tokens"];
  const columns = [
    `  ${styleText("gray", branch)}${name.padEnd(width - branch.length)}`,
    styleText(color, type.padEnd(7)),
    styleText("gray", `+${startMs - sessionStartMs} ms`.padStart(8)),
    (duration === undefined ? "" : `${duration.toFixed(1)} ms`).padStart(10),
    (typeof tokens === "number" ? `${tokens} tokens` : "").padStart(11),
    error === null ? "" : styleText("red", ` ✗ ${error}`),
  ];
  return columns.join("  ").trimEnd();
}

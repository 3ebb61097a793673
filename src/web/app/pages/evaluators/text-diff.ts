// Differences of two texts by lines: the longest common subsequence. Long texts are compared by
// their ends alone, so that no text freezes the page.

export type DiffLine = { readonly kind: "same" | "removed" | "added"; readonly text: string };

/** Cells of the table of lengths, which bound time and memory. */
const cellsMax = 1_000_000;

/** Returns the lines of both texts in order, each marked as kept, removed or added. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [left, right] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(left.length, right.length) && left[start] === right[start]) start += 1;
  let end = 0;
  const room = Math.min(left.length, right.length) - start;
  while (end < room && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const same = (lines: readonly string[]) =>
    lines.map((text): DiffLine => ({ kind: "same", text }));
  return [
    ...same(left.slice(0, start)),
    ...middle(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...same(left.slice(left.length - end)),
  ];
}

function middle(left: readonly string[], right: readonly string[]): readonly DiffLine[] {
  if (left.length * right.length > cellsMax) {
    return [
      ...left.map((text): DiffLine => ({ kind: "removed", text })),
      ...right.map((text): DiffLine => ({ kind: "added", text })),
    ];
  }
  const lengths = lengthsOf(left, right);
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push({ kind: "same", text: left[i] ?? "" });
      [i, j] = [i + 1, j + 1];
    } else if (i < left.length && (j >= right.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: "removed", text: left[i] ?? "" });
      i += 1;
    } else {
      lines.push({ kind: "added", text: right[j] ?? "" });
      j += 1;
    }
  }
  return lines;
}

/** Lengths of the longest common subsequences of the rests from each pair of lines on. */
function lengthsOf(left: readonly string[], right: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    const [row, below] = [rows[i], rows[i + 1]];
    if (!row || !below) continue;
    for (let j = right.length - 1; j >= 0; j -= 1) {
      row[j] =
        left[i] === right[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return rows;
}

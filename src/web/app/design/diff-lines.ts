// Differences between two texts, line by line. Pure.

export type DiffLine = {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
};

/** Pairs of lines up to which the texts are aligned; above, one stands whole after the other. */
const pairsMax = 1_000_000;

/** Returns the lines of both texts in order, those that stand in both once. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, next] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(old.length, next.length) - start &&
    old[old.length - 1 - end] === next[next.length - 1 - end]
  ) {
    end += 1;
  }
  return [
    ...old.slice(0, start).map(same),
    ...align(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}

function same(text: string): DiffLine {
  return { kind: "same", text };
}

/** Aligns by the longest common subsequence. */
function align(old: readonly string[], next: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: "removed", text });
  const added = (text: string): DiffLine => ({ kind: "added", text });
  if (old.length * next.length > pairsMax) return [...old.map(removed), ...next.map(added)];
  const width = next.length + 1;
  // Length of the longest common subsequence of what follows both places.
  const common = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        old[i] === next[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push(same(old[i] ?? ""));
      i += 1;
      j += 1;
    } else if (j >= next.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(old[i] ?? ""));
      i += 1;
    } else {
      lines.push(added(next[j] ?? ""));
      j += 1;
    }
  }
  return lines;
}

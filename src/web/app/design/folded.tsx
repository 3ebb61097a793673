// Folded columns: in a narrow window the minor columns of a table stand below its first cell, with
// their labels, so that nothing scrolls sideways.

import { type ReactNode, useMemo } from "react";
import { useIsNarrowWindow } from "../shell/shell.tsx";
import "./folded.css";

type Foldable = {
  /** True for a column that a narrow window has room for beside the first. */
  readonly isMajor?: boolean;
};

/** Returns the columns that stand beside one another, and those below the first. */
export function useFolding<Column extends Foldable>(columns: readonly Column[]) {
  const isNarrow = useIsNarrowWindow();
  return useMemo(() => {
    const shown = columns.filter(({ isMajor }, at) => !isNarrow || at === 0 || isMajor === true);
    return { isNarrow, shown, folded: columns.filter((column) => !shown.includes(column)) };
  }, [columns, isNarrow]);
}

export type FoldedItem = {
  readonly header: string;
  readonly content: ReactNode;
  /** Shown on hover. */
  readonly title?: string | undefined;
  /** True for a long text, which takes a line. */
  readonly isLong?: boolean;
};

export function Folded({ items }: { readonly items: readonly FoldedItem[] }) {
  return (
    <dl className="folded">
      {items.map(({ header, content, title, isLong }) => (
        <div key={header} title={title} data-long={isLong}>
          <dt>{header}</dt>
          <dd>{content}</dd>
        </div>
      ))}
    </dl>
  );
}

// The copy of marked rows of a table: a line for each row and a tab between its cells, as sheets
// paste them. A browser would put a row into one cell.

import type { ClipboardEvent } from "react";
import { toInertCell } from "./format.ts";

/**
 * Copies the cells that are marked in a table: whole rows where several are marked. A part of one
 * cell, and what reaches out of the table, is copied by the browser.
 */
export function copyRows(event: ClipboardEvent<HTMLElement>): void {
  const selection = globalThis.getSelection();
  const range = selection?.rangeCount === 1 ? selection.getRangeAt(0) : undefined;
  if (!range || !event.currentTarget.contains(range.commonAncestorContainer)) return;
  const rows = [...event.currentTarget.querySelectorAll('[role="row"]')]
    .map((row) => [...row.querySelectorAll<HTMLElement>(cellSelector)])
    .filter((cells) => cells.some((cell) => isMarked(cell, range)));
  const [first = []] = rows;
  const marked = first.filter((cell) => isMarked(cell, range));
  if (rows.length < 2 && marked.length < 2) return;
  const lines = (rows.length > 1 ? rows : [marked]).map(toLine);
  event.clipboardData.setData("text/plain", lines.join("\n"));
  event.preventDefault();
}

/** Cells with content of the list, so without the boxes that select rows. */
const cellSelector = ".table-heading, .table-cell, .table-folded";

/** Returns whether some text of a cell is marked; a range may end before the first letter. */
function isMarked(cell: HTMLElement, range: Range): boolean {
  if (!range.intersectsNode(cell)) return false;
  const part = range.cloneRange();
  if (cell.contains(range.startContainer)) part.setEnd(cell, cell.childNodes.length);
  else if (cell.contains(range.endContainer)) part.setStart(cell, 0);
  return part.toString() !== "";
}

function toLine(cells: readonly HTMLElement[]): string {
  return cells
    .map(({ innerText: text }) => toInertCell(text.replaceAll(/\s+/g, " ").trim()))
    .join("\t");
}

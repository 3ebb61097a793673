// Scrolls a row of a virtual list into view. The head of these lists is sticky and inside of the
// scroller, where `scrollToIndex` of the virtualizer counts neither it nor a horizontal scroll bar:
// a row at the bottom would lie below the edge.

/** Scrolls as little as needed. The scroller holds a sticky head and rows of one height below. */
export function revealRow(scroller: HTMLElement | null, index: number, rowHeightPx: number): void {
  if (!scroller || index < 0) return;
  const headPx = scroller.firstElementChild?.getBoundingClientRect().height ?? 0;
  const viewPx = scroller.clientHeight - headPx;
  const topPx = index * rowHeightPx;
  const lowestPx = topPx + rowHeightPx - viewPx;
  scroller.scrollTop = Math.min(topPx, Math.max(lowestPx, scroller.scrollTop));
}

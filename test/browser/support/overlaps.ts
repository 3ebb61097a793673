// Controls that lie over each other in a page.

import type { Page } from "playwright-core";

/**
 * Returns a line for each pair of visible controls that overlap by more than two pixels each way
 * and of which neither holds the other. Controls of a layer that covers the page are left out, as
 * are those that a scrolled container hides: the browser must find the control at its middle.
 */
export async function findOverlaps(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(${overlaps.toString()})()`);
}

/** Runs in the page. */
function overlaps(): readonly string[] {
  type Box = { left: number; top: number; right: number; bottom: number };
  type Control = {
    getBoundingClientRect(): Box;
    contains(other: unknown): boolean;
    getAttribute(name: string): string | null;
    readonly textContent: string | null;
    readonly tagName: string;
  };
  type View = {
    querySelectorAll(selector: string): Iterable<Control>;
    elementFromPoint(x: number, y: number): Control | null;
  };
  const view = (globalThis as unknown as { document: View }).document;
  const seen = [...view.querySelectorAll("main :is(button, a, input, select, textarea)")]
    .map((control) => ({ control, box: control.getBoundingClientRect() }))
    .filter(({ control, box }) => {
      const top = view.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
      return top !== null && (control.contains(top) || top.contains(control));
    });
  const name = ({ control }: { readonly control: Control }) =>
    `${control.tagName.toLowerCase()} ${control.getAttribute("aria-label") ?? control.textContent}`;
  return seen.flatMap((a, at) =>
    seen
      .slice(at + 1)
      .filter(
        (b) =>
          !a.control.contains(b.control) &&
          !b.control.contains(a.control) &&
          Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 2 &&
          Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top) > 2,
      )
      .map((b) => `${name(a)} overlaps ${name(b)}`),
  );
}

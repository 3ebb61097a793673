// Gives Escape to the overlay on top. Radix tells a lower one that it is covered only some
// milliseconds after the upper one is on the screen, and a key in between would close both.

import { useLayoutEffect, useRef } from "react";

/** Functions that close the open overlays, the one on top last. */
const open: (() => void)[] = [];

/** Returns the handler of Escape for an overlay, to be given to Radix's content. */
export function useEscape(isOpen: boolean, close: () => void): (event: KeyboardEvent) => void {
  const latest = useRef(close);
  useLayoutEffect(() => {
    latest.current = close;
  });
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const entry = () => latest.current();
    open.push(entry);
    return () => void open.splice(open.indexOf(entry), 1);
  }, [isOpen]);
  return (event) => {
    event.preventDefault();
    open.at(-1)?.();
  };
}

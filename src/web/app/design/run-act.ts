// The keys of a part that has the focus, such as the arrows of a tree.

import type { KeyboardEvent } from "react";

/** Runs the act of a key that is pressed alone, in place of what the browser does with it. */
export function runAct(event: KeyboardEvent, acts: Readonly<Record<string, () => void>>): void {
  const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

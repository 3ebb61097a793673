// Gives the focus back when a dialog or a drawer closes. Radix would give it to the button that it
// knows as the trigger, and these have none: commands, rows and menu items open them too.

import { useRef } from "react";

/** Elements of the page that had the focus, the newest first. */
let trail: readonly HTMLElement[] = [];

document.addEventListener("focusin", ({ target }) => {
  if (!(target instanceof HTMLElement)) return;
  trail = [target, ...trail.filter((element) => element !== target && element.isConnected)];
});

export type FocusReturn = {
  /** To be called before the focus moves into what opens. */
  readonly remember: () => void;
  readonly onCloseAutoFocus: (event: Event) => void;
};

/**
 * Returns what moves the focus back to where it was. If that is gone, as the item of a menu or a
 * dialog that made place for this one, then to where it was before, such as the menu's button.
 */
export function useFocusReturn(): FocusReturn {
  const origins = useRef<readonly HTMLElement[]>([]);
  return {
    remember: () => {
      origins.current = trail;
    },
    onCloseAutoFocus: (event) => {
      event.preventDefault();
      // A field that takes the focus as it appears is there before the origin is remembered.
      for (const origin of origins.current.length > 0 ? origins.current : trail) {
        // An element that took the focus meanwhile keeps it; a gone or disabled origin takes none.
        if (document.activeElement !== document.body) break;
        origin.focus({ preventScroll: true });
      }
      origins.current = [];
    },
  };
}

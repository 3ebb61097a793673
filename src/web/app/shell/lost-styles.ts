// Style sheets that did not come, such as while the service starts again. The code that loads a
// page asks for each sheet once, and would show the page without it from then on.

const againMs = 3_000;

/** Asks again for style sheets that did not come, until they are there. */
export function watchLostStyles(): void {
  // The event does not bubble.
  document.addEventListener("error", ({ target }) => askAgain(target), { capture: true });
}

function askAgain(target: EventTarget | null): void {
  if (!(target instanceof HTMLLinkElement) || target.rel !== "stylesheet") return;
  // An element that failed stays failed; a new one is loaded.
  setTimeout(() => target.replaceWith(target.cloneNode()), againMs);
}

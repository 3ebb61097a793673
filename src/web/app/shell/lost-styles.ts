// Style sheets that did not come, such as while the service starts again. The code that loads a
// page asks for each sheet once, and would show the page without it from then on.

const firstMs = 3_000;
const mostMs = 60_000;

/** Asks again for style sheets that did not come, until they are there. */
export function watchLostStyles(): void {
  // The event does not bubble.
  document.addEventListener("error", ({ target }) => askAgain(target), { capture: true });
}

function askAgain(target: EventTarget | null): void {
  if (!(target instanceof HTMLLinkElement) || target.rel !== "stylesheet") return;
  // A sheet of an app before an update never comes, so each time waits twice as long.
  const waitMs = Number(target.dataset["waitMs"] ?? firstMs);
  target.dataset["waitMs"] = String(Math.min(waitMs * 2, mostMs));
  // An element that failed stays failed; a new one is loaded.
  setTimeout(() => target.replaceWith(target.cloneNode()), waitMs);
}

// Light, dark, or as the system: kept in this browser, set on the document's root element, where
// design/tokens.css reads it.

import { useSyncExternalStore } from "react";

const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "waggle.theme";
const listeners = new Set<() => void>();
const systemIsDark = globalThis.matchMedia("(prefers-color-scheme: dark)");

function readTheme(): Theme {
  const text = localStorage.getItem(storageKey);
  return themes.find((theme) => theme === text) ?? "system";
}

let theme = readTheme();

/** Puts the theme on the page; called before the first render. */
export function applyTheme(): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  for (const listener of listeners) listener();
}

export function setTheme(next: Theme): void {
  theme = next;
  localStorage.setItem(storageKey, next);
  applyTheme();
}

systemIsDark.addEventListener("change", applyTheme);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => theme);
}

/**
 * Returns whether the page is dark now; charts and editors draw with colours that they read then.
 */
export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, () =>
    theme === "system" ? systemIsDark.matches : theme === "dark",
  );
}

// Drafts: unsaved text, kept in memory while the tab or page that shows it
// is closed. Nothing of it is stored: it may hold data of the project.

import { useState } from "react";
import { useProjectId } from "../api/project.ts";

/** The browser asks before it closes or loads a page anew while there are drafts. */
addEventListener("beforeunload", (event) => {
  if (drafts.size > 0) event.preventDefault();
});

/** By project, if there is one, and key. Signing out loads the app anew, which empties it. */
const drafts = new Map<string, unknown>();

export type DraftState<T> = {
  readonly draft: T;
  readonly setDraft: (draft: T) => void;
  /** Called when the draft was saved; the component goes on showing it. */
  readonly forget: () => void;
};

/**
 * Holds a draft, which begins with `initial` unless an earlier one was left under the key.
 * Components that can change their key without being mounted anew name it as their `key` in React
 * too. Without a key, the draft ends with its component.
 */
export function useDraft<T>(key: string | undefined, initial: T): DraftState<T> {
  const projectId = useProjectId() ?? "";
  const place = key === undefined ? undefined : `${projectId} ${key}`;
  const [draft, setState] = useState(() =>
    place !== undefined && drafts.has(place) ? (drafts.get(place) as T) : initial,
  );
  return {
    draft,
    setDraft: (next) => {
      setState(next);
      if (place === undefined) return;
      if (JSON.stringify(next) === JSON.stringify(initial)) drafts.delete(place);
      else drafts.set(place, next);
    },
    forget: () => {
      if (place !== undefined) drafts.delete(place);
    },
  };
}

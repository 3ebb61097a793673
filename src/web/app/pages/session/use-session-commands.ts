// Commands and keys of the session page: views, folding, and steps through the hits of the search.

import { useCommands } from "../../shell/commands.ts";
import type { SetSearch } from "./route.tsx";
import { branchIds, type SessionTree } from "./session-tree.ts";
import { nextHit, type SessionHits } from "./use-search.ts";

export type SessionCommands = {
  readonly tree: SessionTree;
  readonly hits: SessionHits;
  readonly selected: number;
  readonly reveal: (at: number) => void;
  readonly setFolded: (folded: ReadonlySet<string>) => void;
  readonly setSearch: SetSearch;
};

const views = [
  { view: "tree", title: "Show as tree" },
  { view: "flame", title: "Show as flame graph" },
  { view: "chat", title: "Show as conversation" },
] as const;

export function useSessionCommands(options: SessionCommands): void {
  const { tree, hits, selected, reveal, setFolded, setSearch } = options;
  const step = (direction: 1 | -1): void => {
    const next = nextHit(hits.places, selected, direction);
    if (next !== undefined) reveal(next);
  };
  const stepError = (): void => {
    const failed = tree.nodes.flatMap(({ event }, at) => (event.error === undefined ? [] : [at]));
    const next = nextHit(failed, selected, 1);
    if (next !== undefined) reveal(next);
  };
  useCommands([
    ...views.map(({ view, title }, at) => ({
      id: `session.${view}`,
      title,
      keys: String(at + 1),
      run: () => setSearch({ view }),
    })),
    { id: "session.hit", title: "Next hit of the search", keys: "n", run: () => step(1) },
    {
      id: "session.hit-before",
      title: "Previous hit of the search",
      keys: "shift+n",
      run: () => step(-1),
    },
    { id: "session.error", title: "Next error", keys: "e", run: stepError },
    { id: "session.expand", title: "Expand all", keys: "o", run: () => setFolded(new Set()) },
    {
      id: "session.collapse",
      title: "Collapse all",
      keys: "shift+o",
      run: () => setFolded(branchIds(tree)),
    },
  ]);
}

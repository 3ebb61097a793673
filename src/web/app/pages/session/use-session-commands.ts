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
    {
      id: "session.tree",
      title: "Show as tree",
      keys: "1",
      run: () => setSearch({ view: "tree" }),
    },
    {
      id: "session.flame",
      title: "Show as flame graph",
      keys: "2",
      run: () => setSearch({ view: "flame" }),
    },
    {
      id: "session.chat",
      title: "Show as conversation",
      keys: "3",
      run: () => setSearch({ view: "chat" }),
    },
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

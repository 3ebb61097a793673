// The registry of commands: what the palette lists, what keys do, and what `?` shows. A page
// registers its own while it is on the screen:
//
//   useCommands([{ id: "traces.live", title: "Follow live", keys: "l", run: toggleLive }]);

import { useLayoutEffect, useRef, useSyncExternalStore } from "react";

export type Command = {
  /** Unique name of area and action, such as `traces.live`. */
  readonly id: string;
  /** Action of the command, verb first. */
  readonly title: string;
  /** Heading in the palette and among the keys; default `This page`. */
  readonly group?: string;
  /**
   * Keys: `mod+k`, `shift+d`, `j`, or one after another, `g t`. Keys without `mod` do nothing while
   * one types into a field.
   */
  readonly keys?: string;
  /** More words to find it by. */
  readonly words?: string;
  /** Left out of the palette, such as moves within a list. */
  readonly isKeyOnly?: boolean;
  readonly run: () => void;
};

/** The group of commands that name none. */
export const groupOfPage = "This page";

export function groupOf({ group = groupOfPage }: Command): string {
  return group;
}

type Source = { current: readonly Command[] };

const sources = new Set<Source>();
const listeners = new Set<() => void>();
let commands: readonly Command[] = [];

function collect(): void {
  commands = [...sources].flatMap((source) => source.current);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Registers commands while the component is on the screen; false is none. */
export function useCommands(given: readonly (Command | false)[]): void {
  const own = given.filter((one) => one !== false);
  const source = useRef(own);
  // The texts in the palette. Functions are left out: they change with each render, and are read
  // when needed.
  const shown = own.map(({ id, title, keys }) => `${id} ${title} ${keys ?? ""}`).join("\n");
  // Runs before the page is drawn, so that an early key press acts on the visible page.
  useLayoutEffect(() => {
    source.current = own;
  });
  useLayoutEffect(() => {
    sources.add(source);
    collect();
    return () => {
      sources.delete(source);
      collect();
    };
  }, [shown]);
}

/** Returns all commands that are registered now. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(subscribe, () => commands);
}

/** Returns the commands that are registered now, with their newest functions. */
export function currentCommands(): readonly Command[] {
  return [...sources].flatMap((source) => source.current);
}

/** Runs a command by its id with its newest function. */
export function runCommand(id: string): void {
  currentCommands()
    .find((command) => command.id === id)
    ?.run();
}

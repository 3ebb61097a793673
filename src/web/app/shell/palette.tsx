// The command palette: every command of the shell and of the page, and the items of the project,
// found by typing.

import { Command as Primitive } from "cmdk";
import { Dialog } from "radix-ui";
import { lazy, Suspense, useState } from "react";
import { Keys } from "../design/keys.tsx";
import { useFocusReturn } from "../design/focus-return.ts";
import { type Command, groupOf, groupOfPage, runCommand, useAllCommands } from "./commands.ts";
import { useNavigationProjectId } from "./projects.ts";
import { rankCommands } from "./rank-commands.ts";
import "../design/command.css";

export type PaletteProps = { readonly isOpen: boolean; readonly onClose: () => void };

export function Palette({ isOpen, onClose }: PaletteProps) {
  const { remember, onCloseAutoFocus } = useFocusReturn();
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <div className="veil" />
        <Dialog.Content
          className="dialog palette"
          aria-describedby={undefined}
          onOpenAutoFocus={remember}
          onCloseAutoFocus={onCloseAutoFocus}
        >
          <Dialog.Title className="visually-hidden">Commands</Dialog.Title>
          <PaletteList onClose={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteList({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [note, setNote] = useState("");
  const commands = useAllCommands().filter(({ isKeyOnly }) => isKeyOnly !== true);
  const isSearch = typed.trim() !== "";
  return (
    <Primitive label="Commands" loop shouldFilter={false}>
      <Primitive.Input
        placeholder="Search pages, commands and the project…"
        value={typed}
        onValueChange={setTyped}
      />
      <Primitive.List>
        {isSearch ? (
          // Without groups: the best command comes first wherever it belongs.
          <Found
            typed={typed}
            commands={rankCommands(commands, typed)}
            onClose={onClose}
            onNote={setNote}
          />
        ) : (
          grouped(commands).map(([group, members]) => (
            <Primitive.Group key={group} heading={group}>
              <Items commands={members} onClose={onClose} />
            </Primitive.Group>
          ))
        )}
      </Primitive.List>
      {/* A list may hold nothing but its options. */}
      <p className="palette-note" role="status">
        {note}
      </p>
    </Primitive>
  );
}

type ItemsProps = { readonly commands: readonly Command[]; readonly onClose: () => void };

const PaletteItems = lazy(async () => {
  const { PaletteItems: component } = await import("./palette-items.tsx");
  return { default: component };
});

type FoundProps = ItemsProps & {
  readonly typed: string;
  readonly onNote: (note: string) => void;
};

function Found({ typed, commands, onClose, onNote }: FoundProps) {
  const projectId = useNavigationProjectId();
  const hasCommands = commands.length > 0;
  if (projectId === undefined && !hasCommands) {
    // The library's own note counts the items that it filters itself.
    return <div cmdk-empty="">No command has these words.</div>;
  }
  return (
    <>
      <Items commands={commands} onClose={onClose} />
      {projectId === undefined ? null : (
        <Suspense>
          <PaletteItems {...{ projectId, typed, hasCommands, onClose, onNote }} />
        </Suspense>
      )}
    </>
  );
}

function Items({ commands, onClose }: ItemsProps) {
  return commands.map(({ id, title, keys }) => (
    <Primitive.Item
      key={id}
      value={id}
      onSelect={() => {
        onClose();
        runCommand(id);
      }}
    >
      <span className="truncate">{title}</span>
      {keys === undefined ? null : <Keys keys={keys} />}
    </Primitive.Item>
  ));
}

function grouped(commands: readonly Command[]): (readonly [string, readonly Command[]])[] {
  return [...Map.groupBy(commands, groupOf)].toSorted(([a], [b]) => orderOf(a) - orderOf(b));
}

function orderOf(group: string): number {
  const order = [groupOfPage, "Go to", "Project"].indexOf(group);
  return order < 0 ? 9 : order;
}

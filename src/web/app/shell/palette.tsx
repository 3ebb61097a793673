// The command palette: every command of the shell and of the page, found by typing.

import { Command as Primitive } from "cmdk";
import { Dialog } from "radix-ui";
import { Keys } from "../design/keys.tsx";
import { type Command, runCommand, useAllCommands } from "./commands.ts";
import "../design/command.css";

export type PaletteProps = { readonly isOpen: boolean; readonly onClose: () => void };

const groupOfPage = "This page";

export function Palette({ isOpen, onClose }: PaletteProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <div className="veil" />
        <Dialog.Content className="dialog palette" aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">Commands</Dialog.Title>
          <PaletteList onClose={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteList({ onClose }: { readonly onClose: () => void }) {
  const commands = useAllCommands().filter(({ isKeyOnly }) => isKeyOnly !== true);
  const groups = Map.groupBy(commands, ({ group }) => group ?? groupOfPage);
  const ordered = [...groups].toSorted(([a], [b]) => orderOf(a) - orderOf(b));
  return (
    <Primitive label="Commands" loop>
      <Primitive.Input placeholder="Search pages and commands…" />
      <Primitive.List>
        <Primitive.Empty>No command has these words.</Primitive.Empty>
        {ordered.map(([group, members]) => (
          <Primitive.Group key={group} heading={group}>
            {members.map((command) => (
              <Item key={command.id} command={command} onClose={onClose} />
            ))}
          </Primitive.Group>
        ))}
      </Primitive.List>
    </Primitive>
  );
}

function Item({ command, onClose }: { readonly command: Command; readonly onClose: () => void }) {
  const { id, title, keys, words = "", group = groupOfPage } = command;
  return (
    <Primitive.Item
      value={`${title} ${id}`}
      keywords={[group, ...words.split(" ")]}
      onSelect={() => {
        onClose();
        runCommand(id);
      }}
    >
      <span className="truncate">{title}</span>
      {keys === undefined ? null : <Keys keys={keys} />}
    </Primitive.Item>
  );
}

function orderOf(group: string): number {
  const order = [groupOfPage, "Go to", "Project"].indexOf(group);
  return order < 0 ? 9 : order;
}

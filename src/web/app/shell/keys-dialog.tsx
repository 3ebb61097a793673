// The dialog of `?`: all keys of this page.

import { Keys } from "../design/keys.tsx";
import { Dialog } from "../design/overlay.tsx";
import { groupOf, useAllCommands } from "./commands.ts";
import "./shell.css";

export type KeysDialogProps = { readonly isOpen: boolean; readonly onClose: () => void };

export function KeysDialog({ isOpen, onClose }: KeysDialogProps) {
  const commands = useAllCommands().filter(({ keys }) => keys !== undefined);
  const groups = Map.groupBy(commands, groupOf);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keys" width="wide">
      <div className="keys-dialog">
        {[...groups].map(([group, members]) => (
          <section key={group}>
            <h3>{group}</h3>
            {members.map(({ id, title, keys = "" }) => (
              <p key={id}>
                <span>{title}</span>
                <Keys keys={keys} />
              </p>
            ))}
          </section>
        ))}
      </div>
    </Dialog>
  );
}

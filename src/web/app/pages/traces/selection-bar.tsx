// What can be done with the selected rows: into a dataset, into an annotation queue, copy the ids.

import { ClipboardCopy, Database, ListChecks, X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "../../design/button.tsx";
import { showToast } from "../../design/toast.tsx";
import { copyText } from "../../design/values.tsx";
import { useCommands } from "../../shell/commands.ts";
import { AddDialog } from "./add-dialog.tsx";
import "./selection-bar.css";

export type SelectionBarProps = {
  readonly ids: readonly string[];
  /** The name of one and of several of them. */
  readonly noun: readonly [string, string];
  readonly onClear: () => void;
};

export function SelectionBar({ ids, noun, onClear }: SelectionBarProps) {
  const [target, setTarget] = useState<"dataset" | "queue">();
  const things = `${ids.length} ${noun[ids.length === 1 ? 0 : 1]}`;
  const copyIds = async (): Promise<void> => {
    if (await copyText(ids.join("\n"), "ids")) showToast({ text: `Ids of ${things} are copied.` });
  };
  useCommands([
    { id: "traces.to-dataset", title: "Add to dataset", run: () => setTarget("dataset") },
    { id: "traces.to-queue", title: "Add to queue", run: () => setTarget("queue") },
    { id: "traces.copy-ids", title: "Copy ids", run: () => void copyIds() },
    { id: "traces.clear", title: "Clear the selection", keys: "escape", run: onClear },
  ]);
  return (
    <div className="selection-bar" role="region" aria-label="Selection">
      <span role="status">
        <b className="numeric">{ids.length}</b> selected
      </span>
      <Button size="small" icon={<Database />} onClick={() => setTarget("dataset")}>
        Add to dataset
      </Button>
      <Button size="small" icon={<ListChecks />} onClick={() => setTarget("queue")}>
        Add to queue
      </Button>
      <Button size="small" icon={<ClipboardCopy />} onClick={() => void copyIds()}>
        Copy ids
      </Button>
      <IconButton
        label="Clear the selection"
        keys="escape"
        icon={<X />}
        size="small"
        onClick={onClear}
      />
      {target === undefined ? null : (
        <AddDialog
          target={target}
          eventIds={ids}
          things={things}
          onClose={() => setTarget(undefined)}
          onDone={onClear}
        />
      )}
    </div>
  );
}

// Acts on the selected rows: into a dataset, into an annotation queue, compare, copy the ids.

import { useNavigate } from "@tanstack/react-router";
import { ClipboardCopy, Columns2, Database, ListChecks, X } from "lucide-react";
import { useState } from "react";
import { useCurrentProjectId } from "../../api/project.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { showToast } from "../../design/toast.tsx";
import { copyText } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { AddDialog, mayAddTo } from "./add-dialog.tsx";
import "./selection-bar.css";

export type SelectionBarProps = {
  readonly ids: readonly string[];
  /** The name of one and of several of them. */
  readonly noun: readonly [string, string];
  readonly onClear: () => void;
};

export function SelectionBar({ ids, noun, onClear }: SelectionBarProps) {
  const [target, setTarget] = useState<"dataset" | "queue">();
  const may = useMay();
  const things = `${ids.length} ${noun[ids.length === 1 ? 0 : 1]}`;
  const copyIds = async (): Promise<void> => {
    if (await copyText(ids.join("\n"), "ids")) showToast({ text: `Ids of ${things} are copied.` });
  };
  useCommands([
    mayAddTo(may, "dataset") && {
      id: "traces.to-dataset",
      title: "Add to dataset",
      run: () => setTarget("dataset"),
    },
    mayAddTo(may, "queue") && {
      id: "traces.to-queue",
      title: "Add to queue",
      run: () => setTarget("queue"),
    },
    { id: "traces.copy-ids", title: "Copy ids", run: () => void copyIds() },
    { id: "traces.clear", title: "Clear the selection", keys: "escape", run: onClear },
  ]);
  return (
    <div className="selection-bar" role="region" aria-label="Selection">
      <span role="status">
        <b className="numeric">{ids.length}</b> selected
      </span>
      {mayAddTo(may, "dataset") ? (
        <Button size="small" icon={<Database />} onClick={() => setTarget("dataset")}>
          Add to dataset
        </Button>
      ) : null}
      {mayAddTo(may, "queue") ? (
        <Button size="small" icon={<ListChecks />} onClick={() => setTarget("queue")}>
          Add to queue
        </Button>
      ) : null}
      {noun[0] === "session" ? <CompareButton ids={ids} /> : null}
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

/** Compares two sessions, of which the one selected first stands at the left. */
function CompareButton({ ids }: Pick<SelectionBarProps, "ids">) {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const [a, b] = ids;
  const canCompare = ids.length === 2;
  const compare = (): void => {
    if (!canCompare || a === undefined || b === undefined) return;
    const to = "/app/p/$projectId/traces/compare";
    void navigate({ to, params: { projectId }, search: { a, b } });
  };
  useCommands([{ id: "traces.compare", title: "Compare two sessions", run: compare }]);
  return (
    <Button
      size="small"
      icon={<Columns2 />}
      disabled={!canCompare}
      title={canCompare ? undefined : "Select two sessions to compare them"}
      onClick={compare}
    >
      Compare
    </Button>
  );
}

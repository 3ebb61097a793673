// The runs of this visit, newest first; one of them brings its messages and model back.

import { Link } from "@tanstack/react-router";
import { History as HistoryIcon } from "lucide-react";
import { pageAddress, useCurrentProjectId } from "../../api/project.ts";
import { Button } from "../../design/button.tsx";
import { Drawer } from "../../design/overlay.tsx";
import { EmptyState } from "../../design/states.tsx";
import { Cost, Duration, Time } from "../../design/values.tsx";
import { isRecorded } from "./run.ts";
import type { PastRun } from "./runs.ts";

export type HistoryProps = {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly past: readonly PastRun[];
  readonly onRestore: (past: PastRun) => void;
};

export function History({ isOpen, onClose, past, onRestore }: HistoryProps) {
  const projectId = useCurrentProjectId();
  return (
    <Drawer isOpen={isOpen} onClose={onClose} title="Runs of this visit">
      {past.length === 0 ? (
        <EmptyState icon={<HistoryIcon />} title="Nothing has run yet">
          Each run stays here until this tab is closed. Its trace stays in the project.
        </EmptyState>
      ) : (
        <ol className="playground-history">
          {past.map((one) => (
            <li key={one.run.id}>
              <div className="playground-history-line">
                <strong className="truncate">{one.run.model}</strong>
                <Time value={one.run.startedAtMs} />
              </div>
              <p>{one.run.error?.message ?? (one.run.text.slice(0, 200) || one.run.state)}</p>
              <div className="playground-history-line">
                <span>
                  <Duration value={one.run.totalMs} /> in this browser ·{" "}
                  <Cost value={one.run.generation?.cost} />
                </span>
                {isRecorded(one.run) ? (
                  <Link to={pageAddress(projectId, `traces/${one.run.sessionId}`)}>Trace</Link>
                ) : null}
                <Button size="small" onClick={() => onRestore(one)}>
                  Bring back
                </Button>
              </div>
            </li>
          ))}
        </ol>
      )}
    </Drawer>
  );
}

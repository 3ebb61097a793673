// Trial: the recent events that match, to choose from, and what a run on each of them answered.

import { Play, Square } from "lucide-react";
import { useMemo, useState } from "react";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { useRpc } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { toMessage } from "../../design/filters.ts";
import { Checkbox } from "../../design/input.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { Time } from "../../design/values.tsx";
import { useCommands } from "../../shell/commands.ts";
import type { Draft } from "./draft.ts";
import { type PreviewedEvent, usePreviews } from "./event-preview.ts";
import { TrialResult } from "./trial-result.tsx";
import type { Run, TrialRuns } from "./use-trial.ts";

const eventsShown = 12;
const chosenAtFirst = 3;

export function Trial({ draft, trial }: { readonly draft: Draft; readonly trial: TrialRuns }) {
  const answer = useRpc(ExportService.method.searchEvents, {
    filters: draft.filters.map(toMessage),
    projections: ["event_name", "event_type", "inputs", "outputs", "start_time", "error"],
    limit: eventsShown,
  });
  const { data } = answer;
  const events = useMemo(() => data?.events ?? [], [data]);
  const previewed = usePreviews(events);
  const [picked, setPicked] = useState<ReadonlySet<string>>();
  const chosen =
    picked ?? new Set(events.slice(0, chosenAtFirst).map(({ eventId }) => eventId ?? ""));
  const start = () =>
    void trial.start(events.flatMap(({ eventId = "" }) => (chosen.has(eventId) ? [eventId] : [])));
  useCommands([{ id: "evaluator.try", title: "Try on the chosen events", keys: "t", run: start }]);
  return (
    <section className="trial" aria-label="Try it">
      <header>
        <h2>Try it on events</h2>
        {trial.isRunning ? (
          <Button size="small" icon={<Square />} onClick={trial.stop}>
            Stop
          </Button>
        ) : (
          <Button size="small" icon={<Play />} disabled={chosen.size === 0} onClick={start}>
            Run on {chosen.size}
          </Button>
        )}
      </header>
      <p className="trial-hint" role="status">
        {trial.isRunning
          ? "Running one by one…"
          : "The newest events that match. Nothing is saved by a trial."}
      </p>
      <ReadState read={answer} what="Loading events" isInline />
      {data && events.length === 0 ? (
        <EmptyState title="No event matches">
          Change the filters, or log some events first.
        </EmptyState>
      ) : null}
      <ul className="trial-events">
        {previewed.map((one) => {
          const { eventId = "" } = one.event;
          return (
            <TrialEvent
              key={eventId}
              {...one}
              isChosen={chosen.has(eventId)}
              run={trial.runs.get(eventId)}
              onChoose={(isChosen) => {
                const next = new Set(chosen);
                if (isChosen) next.add(eventId);
                else next.delete(eventId);
                setPicked(next);
              }}
            />
          );
        })}
      </ul>
    </section>
  );
}

type TrialEventProps = PreviewedEvent & {
  readonly isChosen: boolean;
  readonly run: Run | undefined;
  readonly onChoose: (isChosen: boolean) => void;
};

function TrialEvent({ event, name, preview, isChosen, run, onChoose }: TrialEventProps) {
  return (
    <li>
      <div className="trial-event">
        <Checkbox
          label={<span className="truncate">{name}</span>}
          checked={isChosen}
          onChange={onChoose}
        />
        <span className="trial-preview truncate" title={preview}>
          {preview}
        </span>
        <Time value={event.startTime} />
      </div>
      {run ? <TrialResult run={run} /> : null}
    </li>
  );
}

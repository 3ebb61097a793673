// Why: what an evaluator did with an event, or why it does not run on it.

import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { EvaluatorService } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { useRpc } from "../../api/query.ts";
import { Badge, Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { Input } from "../../design/input.tsx";
import { EmptyState, ErrorState, Loading, ReadState } from "../../design/states.tsx";
import { KeyValue, Time } from "../../design/values.tsx";
import { usePreviews } from "./event-preview.ts";
import { evaluatorRoute } from "./route.tsx";
import { formatScore } from "./trial-result.tsx";
import "../../design/layout.css";

const recentEvents = 20;

export function Why({ metric }: { readonly metric: Metric }) {
  const { event } = evaluatorRoute.useSearch();
  const navigate = useNavigate();
  const [typed, setTyped] = useState(event ?? "");
  const answer = useRpc(ExportService.method.searchEvents, {
    projections: ["event_name", "event_type", "outputs", "start_time", "error"],
    limit: recentEvents,
  });
  const { data } = answer;
  const recent = usePreviews(data?.events);
  const show = (id: string): void => {
    setTyped(id);
    void navigate({ to: ".", search: { tab: "why", event: id } });
  };
  return (
    <div className="why">
      <section aria-label="Events">
        <form
          onSubmit={(submitted) => {
            submitted.preventDefault();
            if (typed.trim() !== "") show(typed.trim());
          }}
        >
          <Input
            aria-label="Id of an event"
            placeholder="Id of an event"
            value={typed}
            onChange={(changed) => setTyped(changed.target.value)}
          />
          <Button type="submit">Explain</Button>
        </form>
        <ReadState read={answer} what="Loading the newest events" isInline />
        {data?.events.length === 0 ? <p className="faint">No events in this project yet.</p> : null}
        <ul aria-label="Newest events">
          {recent.map(({ event: { eventId = "", eventType, startTime }, name, preview }) => (
            <li key={eventId}>
              <button type="button" aria-current={eventId === event} onClick={() => show(eventId)}>
                <Badge>{eventType}</Badge>
                <span className="truncate" title={preview}>
                  {name} · {preview}
                </span>
                <Time value={startTime} />
              </button>
            </li>
          ))}
        </ul>
      </section>
      {event === undefined ? (
        <EmptyState title="Pick an event">
          See whether it was scored, failed, waits, or why the evaluator does not run on it.
        </EmptyState>
      ) : (
        <Explanation metric={metric} eventId={event} />
      )}
    </div>
  );
}

/** Names the switch of the Definition tab where the service names the field of the API. */
function inWordsOfPage(message: string): string {
  const label = "“Run on events as they come”";
  return message
    .replace("enabled_in_prod is false. Set it to true", `${label} is off. Turn it on`)
    .replace("set enabled_in_prod to true", `turn on ${label}`);
}

const outcomeTones = {
  scored: "good",
  failed: "bad",
  queued: "info",
  running: "info",
} as const;

function toneOf(outcome: string) {
  return outcomeTones[outcome as keyof typeof outcomeTones] ?? ("neutral" as const);
}

function Explanation({ metric, eventId }: { readonly metric: Metric; readonly eventId: string }) {
  const { data, error, refetch } = useRpc(
    EvaluatorService.method.explainMetric,
    { id: metric.id, eventId },
    { refreshMs: 5_000 },
  );
  if (error?.errorCode === "NOT_FOUND") {
    return (
      <p className="why-answer" role="alert">
        No event has this id
      </p>
    );
  }
  if (error) {
    return (
      <div className="why-answer">
        <ErrorState error={error} isInline onRetry={() => void refetch()} />
      </div>
    );
  }
  const found = data?.data;
  if (!found) return <Loading what="Looking" />;
  const { outcome, message, result, explanation, failure, filter, version, endedAt, runs } = found;
  return (
    <section className="why-answer" aria-label="Explanation" aria-live="polite">
      <Status tone={toneOf(outcome)}>{outcome.replaceAll("_", " ")}</Status>
      <p>{inWordsOfPage(message)}</p>
      <KeyValue
        items={[
          { label: "Version", value: version },
          result && { label: "Score", value: formatScore(result) },
          !!explanation && { label: "Explanation", value: explanation },
          !!failure && { label: "Failure", value: failure },
          !!filter && { label: "Filter", value: filter },
          { label: "Ended", value: <Time value={endedAt} /> },
        ]}
      />
      {runs.length > 0 ? (
        <ul aria-label="Runs of versions">
          {runs.map((run) => (
            <li key={`${run.version} ${run.outcome}`}>
              <b>{run.version}</b> <Status tone={toneOf(run.outcome)}>{run.outcome}</Status>{" "}
              {run.failure ?? formatScore(run.result)}
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

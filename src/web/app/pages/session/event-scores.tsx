// Scores and feedback of an event: what evaluators and people gave it, why an evaluator did or did
// not score it, and forms to give feedback and human scores in place.

import { useMemo } from "react";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { MetricService, type Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { useRpc } from "../../api/query.ts";
import { ReadState } from "../../design/states.tsx";
import { FeedbackForm } from "./feedback-form.tsx";
import { MetricRow, type Score } from "./metric-row.tsx";

export function EventScores({ event }: { readonly event: Event }) {
  const list = useRpc(MetricService.method.listMetrics, {});
  const { data } = list;
  const rows = useMemo(() => toRows(event, data?.metrics ?? []), [event, data]);
  return (
    <div className="event-content">
      <FeedbackForm key={event.eventId} event={event} />
      <section className="event-bucket">
        <h3>Scores</h3>
        <ReadState read={list} what="Loading metrics" isInline />
        {data && rows.length === 0 ? (
          <p>The project has no evaluators yet. Create one to score events as they come.</p>
        ) : null}
        <ul className="scores">
          {rows.map(({ name, metric, ...score }) => (
            <li key={name}>
              <MetricRow name={name} metric={metric} score={score} event={event} />
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

type ScoreRow = Score & { readonly name: string; readonly metric: Metric | undefined };

/** Rows of the project's metrics, and of scores that were sent under other names. */
function toRows(event: Event, metrics: readonly Metric[]): readonly ScoreRow[] {
  const scores = event.metrics ?? {};
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  const isBeside = (name: string): boolean =>
    /_(explanation|failure)$/.test(name) &&
    (Object.hasOwn(scores, name.replace(/_(explanation|failure)$/, "")) ||
      byName.has(name.replace(/_(explanation|failure)$/, "")));
  const sent = Object.keys(scores).filter((name) => !isBeside(name));
  return [...new Set([...sent, ...byName.keys()])].map((name) => ({
    name,
    metric: byName.get(name),
    // A metric may have the name of a property that all objects have.
    value: Object.hasOwn(scores, name) ? scores[name] : undefined,
    explanation: textOf(scores[`${name}_explanation`]),
    failure: textOf(scores[`${name}_failure`]),
  }));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

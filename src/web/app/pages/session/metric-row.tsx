// MetricRow: one metric of an event with its score, the reason of it, and for a metric that people
// judge a field to score in place.

import { CircleHelp } from "lucide-react";
import { useState } from "react";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { EvaluatorService } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { useRpc } from "../../api/query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { ReadState } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import { KeyValue } from "../../design/values.tsx";
import { HumanScore } from "./human-score.tsx";

export type Score = {
  /** Undefined where there is none. */
  readonly value: unknown;
  readonly explanation: string | undefined;
  readonly failure: string | undefined;
};

export type MetricRowProps = {
  readonly name: string;
  readonly metric: Metric | undefined;
  readonly score: Score;
  readonly event: Event;
};

export function MetricRow({ name, metric, score, event }: MetricRowProps) {
  const [isAsked, setAsked] = useState(false);
  const { value, explanation, failure } = score;
  const isHuman = metric?.type === "HUMAN";
  return (
    <div className="metric-row">
      <div className="metric-row-head">
        <b className="truncate" title={name}>
          {name}
        </b>
        {metric ? <Badge>{kinds[metric.type] ?? metric.type}</Badge> : <Badge>sent</Badge>}
        <ScoreValue value={value} />
        {metric && !isHuman ? (
          <Button
            size="small"
            variant="ghost"
            icon={<CircleHelp />}
            aria-expanded={isAsked}
            onClick={() => setAsked(!isAsked)}
          >
            Why?
          </Button>
        ) : null}
      </div>
      {explanation === undefined ? null : <TextView text={explanation} previewChars={600} />}
      {failure === undefined ? null : (
        <p className="metric-row-failure">Did not run to its end: {failure.slice(0, 600)}</p>
      )}
      {isAsked && metric ? <Why metricId={metric.id} eventId={event.eventId ?? ""} /> : null}
      {isHuman && metric ? <HumanScore {...{ metric, event, value, explanation }} /> : null}
    </div>
  );
}

const kinds: Readonly<Record<string, string>> = {
  PYTHON: "code",
  LLM: "judge",
  HUMAN: "human",
};

function ScoreValue({ value }: { readonly value: unknown }) {
  if (value === undefined || value === null) return <span className="score-value">not scored</span>;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return (
    <span className="score-value numeric truncate" data-scored title={text.slice(0, 500)}>
      {typeof value === "boolean" ? (value ? "yes" : "no") : text.slice(0, 80)}
    </span>
  );
}

function Why({ metricId, eventId }: { readonly metricId: string; readonly eventId: string }) {
  const input = { id: metricId, eventId };
  const answer = useRpc(EvaluatorService.method.explainMetric, input);
  const why = answer.data?.data;
  if (answer.error || !why) return <ReadState read={answer} what="Asking the evaluator" isInline />;
  return (
    <div className="metric-why" role="status">
      <p>{why.message}</p>
      <KeyValue
        isRow
        items={[
          { label: "Outcome", value: why.outcome.replaceAll("_", " ") },
          { label: "Version", value: why.version === "" ? "–" : why.version },
          why.runs.length > 0 && { label: "Runs", value: why.runs.length },
        ]}
      />
    </div>
  );
}

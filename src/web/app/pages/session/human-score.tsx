// HumanScore: gives an event the score of a metric that people judge, and why, in place.

import { useState } from "react";
import { type Event, EventService } from "../../../../../gen/waggle/v1/event_pb.js";
import { SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { formatValue } from "../../design/format.ts";
import { Input, Select, TextArea } from "../../design/input.tsx";
import { ErrorState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { useMay } from "../../session/use-may.ts";
import { choicesOf, parseScore } from "../queues/score-choices.ts";
import { textOf } from "./feedback-form.tsx";
import { payloadMethod } from "./use-payload.ts";

export type HumanScoreProps = {
  readonly metric: Metric;
  readonly event: Event;
  readonly value: unknown;
  readonly explanation: string | undefined;
};

export function HumanScore({ metric, event, value, explanation = "" }: HumanScoreProps) {
  const mayScore = useMay()(EventService.method.updateEvent);
  const [typed, setTyped] = useState(textOf(value));
  const [why, setWhy] = useState(explanation);
  const save = useRpcMutation(EventService.method.updateEvent, {
    changes: [payloadMethod, SessionService.method.listSessionSkeleton],
    onDone: () => showToast({ text: `Saved the score of ${metric.name}.` }),
  });
  // Numbers are typed, whatever their scale.
  const choices = metric.returnType === "float" ? [] : choicesOf(metric);
  const options = choices.map(({ label, value: one }) => ({ label, value: formatValue(one) }));
  const score =
    choices.length > 0
      ? choices.find((one) => formatValue(one.value) === typed)?.value
      : parseScore(metric, typed);
  const submit = (): void => {
    if (score === undefined || event.eventId === undefined) return;
    // An explanation that was cleared is null; it would else stand beside the new score.
    const reason = why !== explanation && {
      [`${metric.name}_explanation`]: why.trim() === "" ? null : why,
    };
    save.mutate({ eventId: event.eventId, metrics: { [metric.name]: score, ...reason } });
  };
  const label = `Score of ${metric.name}`;
  const criteria = metric.criteria === "" ? null : <p>{metric.criteria.slice(0, 600)}</p>;
  if (!mayScore) return <div className="human-score">{criteria}</div>;
  return (
    <form
      className="human-score"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        submit();
      }}
    >
      {criteria}
      <div>
        {options.length > 0 ? (
          <Select
            isSmall
            aria-label={label}
            value={typed}
            onChange={setTyped}
            options={[{ value: "", label: "Choose…" }, ...options]}
          />
        ) : (
          <Input
            aria-label={label}
            inputMode={metric.returnType === "float" ? "decimal" : "text"}
            placeholder={metric.returnType === "float" ? "A number" : "A text"}
            isInvalid={typed !== "" && score === undefined}
            value={typed}
            onChange={(change) => setTyped(change.target.value)}
          />
        )}
        <Button
          type="submit"
          size="small"
          disabled={score === undefined}
          busyLabel={save.isPending && "Saving…"}
        >
          Save score
        </Button>
      </div>
      <TextArea
        rows={1}
        aria-label={`Explanation of ${metric.name}`}
        placeholder="Why? (optional)"
        value={why}
        onChange={({ target }) => setWhy(target.value)}
      />
      {save.error ? <ErrorState error={save.error} isInline /> : null}
    </form>
  );
}

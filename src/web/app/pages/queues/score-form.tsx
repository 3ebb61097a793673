// ScoreForm: one field a metric. Number keys choose, j and k move, e explains, Enter completes, s
// skips.

import type { JsonValue } from "@bufbuild/protobuf";
import { useRef, useState } from "react";
import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { Button } from "../../design/button.tsx";
import { Input, TextArea } from "../../design/input.tsx";
import { Keys } from "../../design/keys.tsx";
import { runAct } from "../../design/run-act.ts";
import { ErrorState } from "../../design/states.tsx";
import { type Command, useCommands } from "../../shell/commands.ts";
import { toValue, type Value } from "../datasets/to-value.ts";
import { choicesOf, parseScore } from "./score-choices.ts";

export type Score = {
  readonly metric: string;
  readonly value: Value;
  /** Absent where the person gave none. */
  readonly explanation?: string;
};

export type ScoreFormProps = {
  readonly metrics: readonly Metric[];
  readonly isBusy: boolean;
  readonly error: ApiError | null;
  readonly onSkip: () => void;
  readonly onComplete: (scores: Score[]) => void;
};

export function ScoreForm({ metrics, isBusy, error, onSkip, onComplete }: ScoreFormProps) {
  const [active, setActive] = useState(0);
  const [entries, setEntries] = useState<Readonly<Record<string, Entry>>>({});
  const given = metrics.flatMap(({ id }) => toScore(id, entries[id]));
  const set = (metric: Metric, change: Entry) =>
    setEntries((before) => ({ ...before, [metric.id]: { ...before[metric.id], ...change } }));
  const submit = () => {
    if (given.length > 0 && !isBusy) onComplete(given);
  };
  // A review that is being stored cannot be given up any more.
  const skip = () => {
    if (!isBusy) onSkip();
  };
  const form = useRef<HTMLFormElement>(null);
  // A key leaves the button that was pressed before it, so that Enter completes.
  const activate = (index: number) => {
    setActive(index);
    form.current?.focus({ preventScroll: true });
  };
  const move = (step: number) => activate(Math.min(metrics.length - 1, Math.max(0, active + step)));
  const choose = (index: number) => {
    const metric = metrics[active];
    const choice = metric && choicesOf(metric)[index];
    if (!metric || !choice) return;
    set(metric, { value: choice.value });
    activate(active);
  };
  const explain = () =>
    form.current?.querySelector<HTMLElement>("[data-active=true] textarea")?.focus();
  const numbers = Array.from({ length: 9 }, (_, index): Command => ({
    id: `review.choose-${index + 1}`,
    title: `Choose ${index + 1}`,
    keys: String(index + 1),
    isKeyOnly: true,
    run: () => choose(index),
  }));
  useCommands([
    { id: "review.next", title: "Next field", keys: "j", isKeyOnly: true, run: () => move(1) },
    { id: "review.back", title: "Field before", keys: "k", isKeyOnly: true, run: () => move(-1) },
    { id: "review.explain", title: "Explain the score", keys: "e", isKeyOnly: true, run: explain },
    { id: "review.complete", title: "Complete, claim the next", keys: "enter", run: submit },
    { id: "review.skip", title: "Release the event", keys: "s", run: skip },
    ...numbers,
  ]);
  return (
    <form
      ref={form}
      aria-label="Scores"
      tabIndex={-1}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {metrics.map((metric, index) => (
        <ScoreField
          key={metric.id}
          metric={metric}
          entry={entries[metric.id] ?? {}}
          isActive={index === active}
          onActivate={() => setActive(index)}
          onChange={(change) => set(metric, change)}
          onLeave={() => activate(index)}
        />
      ))}
      {error ? <ErrorState error={error} isInline /> : null}
      <div className="drawer-actions">
        <Button onClick={skip}>
          Release <Keys keys="s" />
        </Button>
        <Button
          type="submit"
          variant="primary"
          disabled={given.length === 0}
          busyLabel={isBusy && "Saving"}
        >
          Complete <Keys keys="enter" />
        </Button>
      </div>
      <p className="faint" role="status">{`${given.length} of ${metrics.length} given`}</p>
    </form>
  );
}

/** What the person entered for a metric so far. */
type Entry = { readonly value?: JsonValue | undefined; readonly explanation?: string };

function toScore(metric: string, { value, explanation = "" }: Entry = {}): Score[] {
  if (value === undefined) return [];
  return [{ metric, value: toValue(value), ...(explanation.trim() !== "" && { explanation }) }];
}

/** Greatest length of an explanation, in characters, as the service takes it. */
const explanationLengthMax = 2_000;

type ScoreFieldProps = {
  readonly metric: Metric;
  readonly entry: Entry;
  readonly isActive: boolean;
  readonly onActivate: () => void;
  readonly onChange: (change: Entry) => void;
  /** Called by Escape in the explanation, after which the keys of the form hold again. */
  readonly onLeave: () => void;
};

function ScoreField({ metric, entry, isActive, onActivate, onChange, onLeave }: ScoreFieldProps) {
  const [typed, setTyped] = useState("");
  const { value, explanation = "" } = entry;
  const choices = choicesOf(metric);
  return (
    <fieldset className="score-field" data-active={isActive} onFocus={onActivate}>
      <legend>{metric.name}</legend>
      <p className="soft">{metric.criteria}</p>
      {choices.length === 0 ? (
        <Input
          aria-label={metric.name}
          inputMode={metric.returnType === "float" ? "decimal" : "text"}
          placeholder={metric.returnType === "float" ? "A number" : "A text"}
          isInvalid={typed.trim() !== "" && value === undefined}
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            onChange({ value: parseScore(metric, target.value) });
          }}
        />
      ) : (
        <div className="score-choices">
          {choices.map((choice, index) => (
            <Button
              key={choice.label}
              size="small"
              aria-pressed={value === choice.value}
              variant={value === choice.value ? "primary" : "secondary"}
              onClick={() => onChange({ value: choice.value })}
            >
              {choice.label} <Keys keys={String(index + 1)} />
            </Button>
          ))}
        </div>
      )}
      {value === undefined && explanation === "" ? null : (
        <TextArea
          aria-label={`Explanation of ${metric.name}`}
          placeholder="Why? (optional)"
          rows={2}
          maxLength={explanationLengthMax}
          value={explanation}
          onChange={({ target }) => onChange({ explanation: target.value })}
          onKeyDown={(event) => runAct(event, { Escape: onLeave })}
        />
      )}
    </fieldset>
  );
}

// PromptCalls: calls of a prompt's versions, with their cost, duration and error rate. Each number
// leads to its events.

import type { FilterRow } from "../../design/filters.ts";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import type { TimeRange } from "../../design/time-range.ts";
import { ChartAnswer } from "../charts/chart-answer.tsx";
import type { Question } from "../charts/question.ts";

/** Fields of a call's event that name the prompt and its version. */
export const promptField = "config.configuration.id";
export const versionField = "config.configuration.version";

/** Returns the filters of the calls of a prompt. */
export function callFilters(promptId: string): readonly FilterRow[] {
  return [
    { field: "event_type", operator: "is", value: "model" },
    { field: promptField, operator: "is", value: promptId },
  ];
}

/** Versions of a table; the newer calls of more of them are counted together. */
const versionsMax = 20;

function questionOf(promptId: string): Question {
  return {
    kind: "table",
    measures: [
      { metric: "event_count" },
      { metric: "cost", aggregation: "sum" },
      { metric: "duration", aggregation: "avg" },
      { metric: "error_rate" },
    ],
    splitBy: versionField,
    splits: versionsMax,
    filters: callFilters(promptId),
  };
}

export type PromptCallsProps = {
  readonly promptId: string;
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
};

export function PromptCalls({ promptId, range, onRange }: PromptCallsProps) {
  return (
    <section className="section" aria-label="Calls by version">
      <h2>Calls by version</h2>
      <div>
        <TimeRangePicker value={range} onChange={onRange} />
      </div>
      <div className="prompt-calls">
        <ChartAnswer
          label="Calls by version"
          question={questionOf(promptId)}
          range={range}
          onRange={onRange}
        />
      </div>
    </section>
  );
}

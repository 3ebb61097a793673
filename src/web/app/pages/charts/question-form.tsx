// The question of a chart as fields: kind, measures, split, buckets, filters. The fault of a field
// stands beside it.

import { ChartColumn, ChartLine, ChartNoAxesColumn, Hash, Plus, Table2 } from "lucide-react";
import { Button } from "../../design/button.tsx";
import { FilterBar } from "../../design/filter-bar.tsx";
import { SelectField, TextField } from "../../design/fields.tsx";
import { Field } from "../../design/input.tsx";
import { Segments } from "../../design/tabs.tsx";
import type { TimeRange } from "../../design/time-range.ts";
import { useAnswer } from "./chart-answer.tsx";
import { faultOf } from "../../api/faults.ts";
import { FieldPicker } from "./field-picker.tsx";
import { MeasureRow } from "./measure-row.tsx";
import { type ChartKind, needsSplit, type Question } from "./question.ts";
import { measureFields, splitFields } from "./catalogue.ts";
import { useEventFields } from "../traces/event-fields.ts";

export type QuestionFormProps = {
  readonly question: Question;
  /** The question that was asked last, whose faults are shown. */
  readonly asked: Question;
  readonly range: TimeRange;
  readonly onChange: (question: Question) => void;
};

const kindOptions = [
  { value: "time_series", label: kindLabel(<ChartLine />, "Time") },
  { value: "categorical", label: kindLabel(<ChartNoAxesColumn />, "Bars") },
  { value: "scalar", label: kindLabel(<Hash />, "Number") },
  { value: "histogram", label: kindLabel(<ChartColumn />, "Histogram") },
  { value: "table", label: kindLabel(<Table2 />, "Table") },
];

function kindLabel(icon: React.ReactNode, text: string) {
  return (
    <span className="kind-label">
      {icon}
      {text}
    </span>
  );
}

export function QuestionForm({ question, asked, range, onChange }: QuestionFormProps) {
  const { kind, measures, splitBy, filters } = question;
  const isIncomplete = needsSplit(asked.kind) && asked.splitBy === undefined;
  const { error } = useAnswer(asked, range, !isIncomplete);
  const fault = (field: string) => faultOf(error, field);
  const fields = useEventFields();
  const set = (change: Partial<Question>) => onChange({ ...question, ...change });
  const setKind = (next: ChartKind) =>
    set({ kind: next, ...(next === "histogram" && { measures: histogramMeasures(question) }) });
  return (
    <form className="question-form" onSubmit={(event) => event.preventDefault()}>
      <div className="field">
        <span className="field-name">Kind</span>
        <Segments
          label="Kind of chart"
          options={kindOptions}
          value={kind}
          onChange={(next) => setKind(next as ChartKind)}
        />
      </div>
      <fieldset>
        <legend>Measures</legend>
        {measures.map((measure, at) => (
          <MeasureRow
            key={at}
            measure={measure}
            position={at + 1}
            fields={measureFields(fields)}
            isOnly={measures.length === 1}
            hasAggregation={kind !== "histogram"}
            error={fault(`query.measures[${at}]`)}
            onChange={(next) => set({ measures: measures.with(at, next) })}
            onRemove={() => set({ measures: measures.toSpliced(at, 1) })}
          />
        ))}
        {kind === "histogram" || measures.length >= 10 ? null : (
          <Button
            size="small"
            variant="ghost"
            icon={<Plus />}
            onClick={() => set({ measures: [...measures, { metric: "duration" }] })}
          >
            Add a measure
          </Button>
        )}
      </fieldset>
      {kind === "histogram" ? null : (
        <SplitFields
          question={question}
          fields={splitFields(fields)}
          error={fault("query.split_by") ?? fault("query.split_ranking")}
          isNeeded={needsSplit(kind) && splitBy === undefined}
          onChange={set}
        />
      )}
      <BucketField question={question} error={fault("query.bucket")} onChange={set} />
      <div className="field" role="group" aria-label="Filters">
        <span className="field-name">Filters</span>
        <FilterBar filters={filters} fields={fields} onChange={(next) => set({ filters: next })} />
        <p data-error={fault("filters") !== undefined}>
          {fault("filters") ??
            (filters.some(({ field }) => field === "event_type")
              ? "All must hold."
              : "Sessions are left out, since their events would count twice.")}
        </p>
      </div>
    </form>
  );
}

/** A histogram has one measure, which must have numbers. */
function histogramMeasures({ measures }: Question): Question["measures"] {
  const numeric = measures.find(({ metric }) => metric !== "event_count");
  return [{ metric: numeric?.metric ?? "duration" }];
}

type PartProps = {
  readonly question: Question;
  readonly error: string | undefined;
  readonly onChange: (change: Partial<Question>) => void;
};

type SplitFieldsProps = PartProps & {
  readonly fields: Parameters<typeof FieldPicker>[0]["fields"];
  readonly isNeeded: boolean;
};

function SplitFields({ question, fields, error, isNeeded, onChange }: SplitFieldsProps) {
  const { splitBy, splits = 10 } = question;
  const hint = isNeeded ? "This kind of chart shows the values of a field." : undefined;
  return (
    <div className="question-pair">
      <Field label="Split by" error={error} hint={hint}>
        {({ id, "aria-describedby": textId }) => (
          <FieldPicker
            id={id}
            aria-describedby={textId}
            label="Split by"
            fields={fields}
            value={splitBy}
            placeholder="Nothing"
            onChange={(next) => onChange({ splitBy: next })}
            onClear={() => onChange({ splitBy: undefined })}
          />
        )}
      </Field>
      {splitBy === undefined ? null : (
        <TextField
          label="Values shown"
          type="number"
          step={1}
          min={1}
          max={50}
          value={splits}
          onChange={(text) => onChange({ splits: Math.max(1, Number(text)) })}
        />
      )}
    </div>
  );
}

const units = ["", "minute", "hour", "day", "week", "month"].map((value) => ({
  value,
  label: value === "" ? "As fits the range" : `By ${value}`,
}));

function BucketField({ question, error, onChange }: PartProps) {
  const { kind, unit = "", bars = 24 } = question;
  if (kind === "time_series") {
    return (
      <SelectField
        label="Buckets"
        error={error}
        value={unit}
        options={units}
        onChange={(next) => onChange({ unit: next })}
      />
    );
  }
  if (kind !== "histogram") return null;
  return (
    <TextField
      label="Bars"
      error={error}
      type="number"
      step={1}
      min={1}
      max={200}
      value={bars}
      onChange={(text) => onChange({ bars: Math.max(1, Number(text)) })}
    />
  );
}

// The fields of an alert: measure, filters, thresholds and targets.

import { useEffect, useRef } from "react";
import type { ApiError } from "../../api/errors.ts";
import { FilterBar } from "../../design/filter-bar.tsx";
import { SelectField, TextAreaField, TextField } from "../../design/fields.tsx";
import { Field } from "../../design/input.tsx";
import { measureFields } from "../charts/catalogue.ts";
import { faultOf } from "../../api/faults.ts";
import { FieldPicker } from "../charts/field-picker.tsx";
import { aggregationOf, type Draft, withMeasure } from "./draft.ts";
import { TargetFields } from "./target-fields.tsx";
import { useEventFields } from "../traces/event-fields.ts";

export type AlertFormProps = {
  readonly draft: Draft;
  readonly error: ApiError | null;
  readonly isNew: boolean;
  readonly onChange: (draft: Draft) => void;
};

const types = [
  { value: "AGGREGATE", label: "A value over all events" },
  { value: "PER_EVENT", label: "Any single event" },
  { value: "DRIFT", label: "A change from the period before" },
];
const aggregations = ["AVERAGE", "SUM", "MEDIAN", "P90", "P95", "P99", "MIN", "MAX", "COUNT"];
const operators = [
  { value: "greater_than", label: "is above" },
  { value: "greater_than_or_equal", label: "is at or above" },
  { value: "less_than", label: "is below" },
  { value: "less_than_or_equal", label: "is at or below" },
];
const frequencies = ["HOURLY", "DAILY", "WEEKLY", "MONTHLY"].map((value) => ({
  value,
  label: `Each ${{ HOURLY: "hour", DAILY: "day", WEEKLY: "week", MONTHLY: "month" }[value]}`,
}));

export function AlertForm({ draft, error, isNew, onChange }: AlertFormProps) {
  const fault = (field: string) => faultOf(error, field);
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // The field may stand below the fold.
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <form ref={form} className="alert-form" onSubmit={(event) => event.preventDefault()}>
      <TextField
        label="Name"
        error={fault("name")}
        maxLength={256}
        placeholder="Slow answers"
        value={draft.name}
        onChange={(text) => set({ name: text })}
      />
      <Measured draft={draft} fault={fault} set={set} />
      <Triggers draft={draft} fault={fault} set={set} />
      <TargetFields draft={draft} error={error} isNew={isNew} set={set} />
      <TextAreaField
        label="Description"
        hint="Stands in the notification."
        maxLength={10_000}
        value={draft.description}
        onChange={(text) => set({ description: text })}
      />
    </form>
  );
}

type PartProps = {
  readonly draft: Draft;
  readonly fault: (field: string) => string | undefined;
  readonly set: (change: Partial<Draft>) => void;
};

function Measured({ draft, fault, set }: PartProps) {
  const fields = useEventFields();
  const isPerEvent = draft.alertType === "PER_EVENT";
  return (
    <fieldset>
      <legend>What is checked</legend>
      <SelectField
        label="Kind"
        error={fault("alert_type")}
        value={draft.alertType}
        options={types}
        onChange={(alertType) => set({ alertType })}
      />
      <div className="alert-pair">
        {isPerEvent ? null : (
          <SelectField
            label="Aggregation"
            error={fault("aggregation")}
            disabled={draft.projection === "event_count"}
            value={aggregationOf(draft)}
            options={aggregations.map((value) => ({ value, label: value.toLowerCase() }))}
            onChange={(aggregation) => set({ aggregation })}
          />
        )}
        <Field label="Measure" error={fault("projections")}>
          {({ id }) => (
            <FieldPicker
              id={id}
              label="Measure"
              fields={measureFields(fields).filter(
                ({ name }) => !isPerEvent || name !== "event_count",
              )}
              value={draft.projection}
              onChange={(projection) => set(withMeasure(projection))}
            />
          )}
        </Field>
      </div>
      <div className="field" role="group" aria-label="Filters">
        <FilterBar
          filters={draft.filters}
          fields={fields}
          onChange={(filters) => set({ filters })}
        />
        {fault("filters") === undefined ? null : <p data-error="true">{fault("filters")}</p>}
      </div>
      <SelectField
        label="How often"
        error={fault("frequency")}
        hint="Periods are in UTC."
        value={draft.frequency}
        options={frequencies}
        onChange={(frequency) => set({ frequency })}
      />
    </fieldset>
  );
}

const unitHints: Readonly<Record<string, string>> = {
  duration: "In milliseconds.",
  cost: "In US dollars.",
  error_rate: "A share: 0.05 is 5 %.",
};

function Triggers({ draft, fault, set }: PartProps) {
  const { alertType, projection, others } = draft;
  const units = new Set([projection, ...others].map((name) => unitHints[name]));
  const unit = units.size > 1 ? "For each measure, in its own unit." : unitHints[projection];
  const hint = alertType === "DRIFT" ? "In percent." : unit;
  return (
    <fieldset>
      <legend>When it triggers</legend>
      <div className="alert-pair">
        <SelectField
          label="The value"
          error={fault("thresholds.critical.operator")}
          value={draft.operator}
          options={operators}
          onChange={(operator) => set({ operator })}
        />
        <TextField
          type="number"
          label="Threshold"
          hint={hint}
          error={fault("thresholds")}
          value={draft.value}
          onChange={(value) => set({ value })}
        />
      </div>
      <div className="alert-pair">
        {alertType === "PER_EVENT" ? null : (
          <TextField
            type="number"
            label="Resolved when back past"
            hint="Empty: when it no longer triggers."
            value={draft.resolvedValue}
            onChange={(resolvedValue) => set({ resolvedValue })}
          />
        )}
        <TextField
          type="number"
          label="Events at least"
          hint="Fewer say nothing."
          error={fault("minimum_sample_size")}
          value={draft.samples}
          onChange={(samples) => set({ samples })}
        />
      </div>
    </fieldset>
  );
}

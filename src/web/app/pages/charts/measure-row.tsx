// A measure: an aggregation of a field.

import { X } from "lucide-react";
import { IconButton } from "../../design/button.tsx";
import type { CatalogueField } from "../../design/filter-editor.tsx";
import { Select } from "../../design/input.tsx";
import { FieldPicker } from "./field-picker.tsx";
import type { Measure } from "./question.ts";

const aggregations = ["sum", "avg", "median", "p75", "p90", "p95", "p99", "min", "max", "count"];
const usual = new Set(["cost", "total_tokens", "prompt_tokens", "completion_tokens"]);

export type MeasureRowProps = {
  readonly measure: Measure;
  /** From 1. */
  readonly position: number;
  readonly fields: readonly CatalogueField[];
  readonly isOnly: boolean;
  readonly hasAggregation: boolean;
  readonly error: string | undefined;
  readonly onChange: (measure: Measure) => void;
  readonly onRemove: () => void;
};

export function MeasureRow(props: MeasureRowProps) {
  const { measure, position, fields, isOnly, hasAggregation, error, onChange, onRemove } = props;
  const { metric, aggregation } = measure;
  const isPlain = metric === "event_count" || metric === "error_rate";
  return (
    <div className="measure-row">
      {hasAggregation && !isPlain ? (
        <Select
          aria-label={`Aggregation of measure ${position}`}
          value={aggregation ?? (usual.has(metric) ? "sum" : "avg")}
          options={aggregations.map((value) => ({ value, label: value }))}
          onChange={(next) => onChange({ metric, aggregation: next })}
        />
      ) : null}
      <FieldPicker
        label={`Measure ${position}`}
        fields={fields}
        value={metric}
        onChange={(next) => onChange({ metric: next, ...keptAggregation(next, aggregation) })}
      />
      {isOnly ? null : (
        <IconButton
          size="small"
          label={`Remove measure ${position}`}
          icon={<X />}
          onClick={onRemove}
        />
      )}
      {error === undefined ? null : (
        <p role="alert" className="measure-fault">
          {error}
        </p>
      )}
    </div>
  );
}

function keptAggregation(metric: string, aggregation: string | undefined) {
  if (metric === "event_count" || metric === "error_rate" || aggregation === undefined) return {};
  return { aggregation };
}

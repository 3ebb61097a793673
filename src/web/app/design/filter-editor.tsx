// The panel of one filter: operator and value, with the field's own values to choose from.

import { useEffect, useState } from "react";
import { Button } from "./button.tsx";
import { type FilterRow, filterTypeOf, type Operator, operatorsOf, takesValue } from "./filters.ts";
import { formatCount } from "./format.ts";
import { SelectField } from "./fields.tsx";
import { Input, Select } from "./input.tsx";
import { Skeleton } from "./states.tsx";

/** A field of the catalogue. */
export type CatalogueField = {
  readonly name: string;
  /** Recorded type, such as `integer`. */
  readonly type: string;
  /** Where it was seen, such as `model`. */
  readonly hint?: string;
};

export type SuggestedValue = { readonly value: string; readonly count: number };

/** Returns values of a field that contain a text, the most frequent first. */
export type SuggestValues = (
  field: string,
  text: string,
  signal: AbortSignal,
) => Promise<readonly SuggestedValue[]>;

/** Returns the recorded type of a field; `string` for one that is not in the catalogue. */
export function typeOf(field: string, fields: readonly CatalogueField[]): string {
  return fields.find(({ name }) => name === field)?.type ?? "string";
}

export type FilterEditorProps = {
  readonly filter: FilterRow;
  readonly fields: readonly CatalogueField[];
  readonly suggest: SuggestValues | undefined;
  readonly onDone: (filter: FilterRow) => void;
};

export function FilterEditor({ filter, fields, suggest, onDone }: FilterEditorProps) {
  const recorded = typeOf(filter.field, fields);
  const type = filterTypeOf(recorded);
  const [operator, setOperator] = useState(filter.operator);
  const [text, setText] = useState(String(filter.value ?? ""));
  const isComplete = !takesValue(operator) || toValue(text, type) !== undefined;
  const apply = (typed: string): void => {
    const value = toValue(typed, type);
    if (takesValue(operator) && value === undefined) return;
    const isKnown = fields.some(({ name }) => name === filter.field);
    onDone({
      field: filter.field,
      operator,
      ...(takesValue(operator) && value !== undefined && { value }),
      // Without a type the service takes the recorded one.
      ...(isKnown && takesValue(operator) && { type }),
    });
  };
  return (
    <form
      className="filter-editor"
      onSubmit={(event) => {
        event.preventDefault();
        apply(text);
      }}
    >
      <SelectField
        label={filter.field}
        hint={`Recorded as ${recorded}`}
        value={operator}
        options={operatorsOf(recorded).map((one) => ({ value: one, label: one }))}
        onChange={(next) => setOperator(next as Operator)}
      />
      {takesValue(operator) ? <ValueInput type={type} text={text} onChange={setText} /> : null}
      {takesValue(operator) && type === "string" && suggest ? (
        <Suggestions field={filter.field} text={text} suggest={suggest} onPick={apply} />
      ) : null}
      <footer>
        <Button type="submit" size="small" variant="primary" disabled={!isComplete}>
          Apply
        </Button>
      </footer>
    </form>
  );
}

type ValueInputProps = {
  readonly type: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
};

function ValueInput({ type, text, onChange }: ValueInputProps) {
  if (type === "boolean") {
    const options = ["", "true", "false"].map((value) => ({ value, label: value || "Choose…" }));
    return <Select aria-label="Value" value={text} options={options} onChange={onChange} />;
  }
  return (
    <Input
      aria-label="Value"
      placeholder="Value"
      autoFocus
      type={type === "number" ? "number" : type === "datetime" ? "datetime-local" : "text"}
      step="any"
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

type SuggestionsProps = {
  readonly field: string;
  readonly text: string;
  readonly suggest: SuggestValues;
  readonly onPick: (value: string) => void;
};

/** Time after the last key at which values are asked for. */
const quietMs = 250;

function Suggestions({ field, text, suggest, onPick }: SuggestionsProps) {
  const [values, setValues] = useState<readonly SuggestedValue[]>();
  useEffect(() => {
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const found = await suggest(field, text, leaving.signal);
        if (!leaving.signal.aborted) setValues(found);
      } catch {
        // A value can still be typed: suggestions only help.
        if (!leaving.signal.aborted) setValues([]);
      }
    }, quietMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [field, text, suggest]);
  if (!values) return <Skeleton height="52px" />;
  if (values.length === 0) return null;
  return (
    <ul className="filter-values" aria-label={`Values of ${field}`}>
      {values.map(({ value, count }) => (
        <li key={value}>
          <button type="button" title={value} onClick={() => onPick(value)}>
            <bdi className="truncate">{value}</bdi>
            <span className="numeric">{formatCount(count)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function toValue(text: string, type: string): FilterRow["value"] | undefined {
  if (text === "") return undefined;
  switch (type) {
    case "number":
      return Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "boolean":
      return text === "true";
    case "datetime":
      return new Date(text).toISOString();
    default:
      return text;
  }
}

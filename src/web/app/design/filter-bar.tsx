// FilterBar: filters as chips of field, operator and value. Fields come from the project's own
// catalogue, with their types; the page keeps the filters in its address.

import { ListFilter, X } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";
import { ComboboxList } from "./combobox.tsx";
import { type FilterRow, filterTypeOf, type Operator, operatorsOf, takesValue } from "./filters.ts";
import { Field, Input, Select } from "./input.tsx";
import { Popover } from "./popover.tsx";
import "./filter-bar.css";

/** A field of the catalogue. */
export type CatalogueField = {
  readonly name: string;
  /** Recorded type, such as `integer`. */
  readonly type: string;
  /** Where it was seen, such as `model`. */
  readonly hint?: string;
};

export type FilterBarProps = {
  readonly filters: readonly FilterRow[];
  readonly onChange: (filters: readonly FilterRow[]) => void;
  readonly fields: readonly CatalogueField[];
};

export function FilterBar({ filters, onChange, fields }: FilterBarProps) {
  return (
    <div className="filter-bar">
      {filters.map((filter, index) => (
        <Chip
          key={`${filter.field} ${index}`}
          filter={filter}
          fields={fields}
          onChange={(next) => onChange(filters.with(index, next))}
          onRemove={() => onChange(filters.toSpliced(index, 1))}
        />
      ))}
      <NewFilter fields={fields} onAdd={(filter) => onChange([...filters, filter])} />
      {filters.length > 1 ? (
        <Button variant="ghost" size="small" onClick={() => onChange([])}>
          Clear
        </Button>
      ) : null}
    </div>
  );
}

type ChipProps = {
  readonly filter: FilterRow;
  readonly fields: readonly CatalogueField[];
  readonly onChange: (filter: FilterRow) => void;
  readonly onRemove: () => void;
};

function Chip({ filter, fields, onChange, onRemove }: ChipProps) {
  const [isOpen, setOpen] = useState(false);
  const { field, operator, value } = filter;
  return (
    <span className="filter-chip">
      <Popover
        label={`Filter by ${field}`}
        isOpen={isOpen}
        onOpenChange={setOpen}
        trigger={
          <button type="button">
            <span className="truncate">{field}</span>
            <span className="filter-operator">{operator}</span>
            {takesValue(operator) ? <b className="truncate">{String(value ?? "")}</b> : null}
          </button>
        }
      >
        <FilterEditor
          filter={filter}
          fields={fields}
          onDone={(next) => {
            setOpen(false);
            onChange(next);
          }}
        />
      </Popover>
      <button type="button" aria-label={`Remove the filter by ${field}`} onClick={onRemove}>
        <X aria-hidden />
      </button>
    </span>
  );
}

type NewFilterProps = {
  readonly fields: readonly CatalogueField[];
  readonly onAdd: (filter: FilterRow) => void;
};

function NewFilter({ fields, onAdd }: NewFilterProps) {
  const [isOpen, setOpen] = useState(false);
  const [field, setField] = useState<string>();
  return (
    <Popover
      label="Add a filter"
      isOpen={isOpen}
      onOpenChange={(open) => {
        setOpen(open);
        setField(undefined);
      }}
      trigger={
        <Button size="small" variant="ghost" icon={<ListFilter />}>
          Filter
        </Button>
      }
    >
      {field === undefined ? (
        <div className="combobox">
          <ComboboxList
            label="Fields"
            placeholder="Filter by field…"
            emptyText="No event has such a field."
            isOpenEnded
            options={fields.map(({ name, type, hint }) => ({
              value: name,
              label: name,
              hint: hint === undefined ? type : `${hint} · ${type}`,
            }))}
            onChange={setField}
          />
        </div>
      ) : (
        <FilterEditor
          filter={newFilter(field, fields)}
          fields={fields}
          onDone={(filter) => {
            setOpen(false);
            onAdd(filter);
          }}
        />
      )}
    </Popover>
  );
}

function newFilter(field: string, fields: readonly CatalogueField[]): FilterRow {
  const [operator = "is"] = operatorsOf(typeOf(field, fields));
  return { field, operator };
}

function typeOf(field: string, fields: readonly CatalogueField[]): string {
  return fields.find(({ name }) => name === field)?.type ?? "string";
}

type FilterEditorProps = {
  readonly filter: FilterRow;
  readonly fields: readonly CatalogueField[];
  readonly onDone: (filter: FilterRow) => void;
};

function FilterEditor({ filter, fields, onDone }: FilterEditorProps) {
  const recorded = typeOf(filter.field, fields);
  const type = filterTypeOf(recorded);
  const [operator, setOperator] = useState(filter.operator);
  const [text, setText] = useState(String(filter.value ?? ""));
  const value = toValue(text, type);
  const isComplete = !takesValue(operator) || value !== undefined;
  return (
    <form
      className="filter-editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isComplete) return;
        const isKnown = fields.some(({ name }) => name === filter.field);
        onDone({
          field: filter.field,
          operator,
          ...(takesValue(operator) && value !== undefined && { value }),
          // Without a type the service takes the recorded one.
          ...(isKnown && takesValue(operator) && { type }),
        });
      }}
    >
      <Field label={filter.field} hint={`Recorded as ${recorded}`}>
        {({ id, ...texts }) => (
          <Select
            id={id}
            aria-describedby={texts["aria-describedby"]}
            value={operator}
            options={operatorsOf(recorded).map((one) => ({ value: one, label: one }))}
            onChange={(next) => setOperator(next as Operator)}
          />
        )}
      </Field>
      {takesValue(operator) ? <ValueInput type={type} text={text} onChange={setText} /> : null}
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

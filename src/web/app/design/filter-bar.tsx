// FilterBar: filters as chips of field, operator and value. Fields come from the project's own
// catalogue, with their types; the page keeps the filters in its address.

import { ListFilter, X } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";
import { ComboboxList } from "./combobox.tsx";
import { type CatalogueField, FilterEditor, type SuggestValues, typeOf } from "./filter-editor.tsx";
import { type FilterRow, operatorsOf, takesValue } from "./filters.ts";
import { Popover } from "./popover.tsx";
import "./filter-bar.css";

export type FilterBarProps = {
  readonly filters: readonly FilterRow[];
  readonly onChange: (filters: readonly FilterRow[]) => void;
  readonly fields: readonly CatalogueField[];
  /** Returns values of a field that begin with, or contain, a text; the most frequent first. */
  readonly suggest?: SuggestValues | undefined;
  /** Whether the list of fields is open: for a key that opens it. */
  readonly isAdding?: boolean;
  readonly onAddingChange?: (isAdding: boolean) => void;
};

export function FilterBar(props: FilterBarProps) {
  const { filters, onChange, fields, suggest } = props;
  return (
    <div className="filter-bar">
      {filters.map((filter, index) => (
        <Chip
          key={`${filter.field} ${index}`}
          filter={filter}
          fields={fields}
          suggest={suggest}
          onChange={(next) => onChange(filters.with(index, next))}
          onRemove={() => onChange(filters.toSpliced(index, 1))}
        />
      ))}
      <NewFilter
        fields={fields}
        suggest={suggest}
        isOpen={props.isAdding}
        onOpenChange={props.onAddingChange}
        onAdd={(filter) => onChange([...filters, filter])}
      />
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
  readonly suggest: SuggestValues | undefined;
  readonly onChange: (filter: FilterRow) => void;
  readonly onRemove: () => void;
};

function Chip({ filter, fields, suggest, onChange, onRemove }: ChipProps) {
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
          suggest={suggest}
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
  readonly suggest: SuggestValues | undefined;
  readonly isOpen: boolean | undefined;
  readonly onOpenChange: ((isOpen: boolean) => void) | undefined;
  readonly onAdd: (filter: FilterRow) => void;
};

function NewFilter({ fields, suggest, onAdd, ...outside }: NewFilterProps) {
  const [isOpenInside, setOpenInside] = useState(false);
  const [field, setField] = useState<string>();
  const isOpen = outside.isOpen ?? isOpenInside;
  const setOpen = (next: boolean): void => {
    setOpenInside(next);
    outside.onOpenChange?.(next);
  };
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
          suggest={suggest}
          onDone={(filter) => {
            setOpen(false);
            setField(undefined);
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

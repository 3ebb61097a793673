// FieldPicker: a field of the catalogue, found by typing.

import { ChevronDown, X } from "lucide-react";
import { Button, IconButton } from "../../design/button.tsx";
import { Combobox } from "../../design/combobox.tsx";
import type { CatalogueField } from "../../design/filter-editor.tsx";
import { fieldName } from "./question.ts";

export type FieldPickerProps = {
  readonly id?: string;
  readonly "aria-describedby"?: string | undefined;
  readonly label: string;
  readonly fields: readonly CatalogueField[];
  readonly value: string | undefined;
  readonly placeholder?: string;
  readonly onChange: (name: string) => void;
  /** Offers to choose nothing. */
  readonly onClear?: () => void;
};

export function FieldPicker(props: FieldPickerProps) {
  const { id, label, fields, value, placeholder = "Pick a field", onChange, onClear } = props;
  return (
    <span className="field-picker">
      <Combobox
        label={label}
        placeholder="Find a field…"
        emptyText="No event has such a field."
        isOpenEnded
        value={value}
        options={fields.map(({ name, type, hint }) => ({
          value: name,
          label: fieldName(name),
          hint: hint === undefined || hint === "" ? type : `${hint} · ${type}`,
        }))}
        onChange={onChange}
        trigger={
          <Button
            id={id}
            aria-describedby={props["aria-describedby"]}
            aria-label={`${label}: ${value === undefined ? placeholder : fieldName(value)}`}
          >
            <span className="truncate">{value === undefined ? placeholder : fieldName(value)}</span>
            <ChevronDown aria-hidden />
          </Button>
        }
      />
      {value !== undefined && onClear ? (
        <IconButton size="small" label={`Clear ${label}`} icon={<X />} onClick={onClear} />
      ) : null}
    </span>
  );
}

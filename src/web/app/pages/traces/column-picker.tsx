// Picks the columns of a list, and their order.

import { ArrowDown, ArrowUp, Columns3 } from "lucide-react";
import { Button, IconButton } from "../../design/button.tsx";
import { Checkbox } from "../../design/input.tsx";
import { Popover } from "../../design/popover.tsx";
import "./column-picker.css";

export type ColumnPickerProps = {
  readonly all: readonly { readonly id: string; readonly header: string }[];
  /** Ids of the shown columns in their order. */
  readonly shown: readonly string[];
  /** Undefined for those of the page. */
  readonly onChange: (ids: readonly string[] | undefined) => void;
};

export function ColumnPicker({ all, shown, onChange }: ColumnPickerProps) {
  const byId = new Map(all.map((column) => [column.id, column]));
  const hidden = all.filter(({ id }) => !shown.includes(id));
  const move = (index: number, step: number): void => {
    const id = shown[index];
    if (id === undefined) return;
    onChange(shown.toSpliced(index, 1).toSpliced(index + step, 0, id));
  };
  return (
    <Popover
      label="Columns"
      align="end"
      trigger={<IconButton label="Columns" icon={<Columns3 />} size="small" />}
    >
      <div className="column-picker">
        <ul>
          {shown.map((id, index) => (
            <li key={id}>
              <Checkbox
                label={byId.get(id)?.header ?? id}
                checked
                disabled={shown.length === 1}
                onChange={() => onChange(shown.toSpliced(index, 1))}
              />
              <IconButton
                size="small"
                label={`Move ${byId.get(id)?.header ?? id} to the left`}
                icon={<ArrowUp />}
                disabled={index === 0}
                onClick={() => move(index, -1)}
              />
              <IconButton
                size="small"
                label={`Move ${byId.get(id)?.header ?? id} to the right`}
                icon={<ArrowDown />}
                disabled={index === shown.length - 1}
                onClick={() => move(index, 1)}
              />
            </li>
          ))}
          {hidden.map(({ id, header }) => (
            <li key={id}>
              <Checkbox label={header} checked={false} onChange={() => onChange([...shown, id])} />
            </li>
          ))}
        </ul>
        <Button variant="ghost" size="small" onClick={() => onChange(undefined)}>
          Reset columns
        </Button>
      </div>
    </Popover>
  );
}

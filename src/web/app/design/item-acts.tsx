// ItemActs: the small buttons that change and delete an item, as far as the person may.

import { Pencil, Trash2 } from "lucide-react";
import { IconButton } from "./button.tsx";

export type ItemActsProps = {
  /** Words for the item after the verb, such as `queue`. */
  readonly item: string;
  /** False where the person may not. */
  readonly onChange: false | (() => void);
  readonly onDelete: false | (() => void);
};

export function ItemActs({ item, onChange, onDelete }: ItemActsProps) {
  return (
    <>
      {onChange ? (
        <IconButton size="small" label={`Change ${item}`} icon={<Pencil />} onClick={onChange} />
      ) : null}
      {onDelete ? (
        <IconButton size="small" label={`Delete ${item}`} icon={<Trash2 />} onClick={onDelete} />
      ) : null}
    </>
  );
}

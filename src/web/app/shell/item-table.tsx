// The list of a page of the project whose items have their own pages, and what makes an item.

import type { DescMethod } from "@bufbuild/protobuf";
import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../design/button.tsx";
import { ReadState, type ReadStateProps } from "../design/states.tsx";
import { Table, type TableProps } from "../design/table.tsx";
import { useMay } from "../session/use-may.ts";
import { useCommands } from "./commands.ts";
import { useItemPages } from "./row-pages.ts";

type Item = { readonly id: string };

type ItemTableProps<Row extends Item> = Omit<
  TableProps<Row>,
  "rows" | "idOf" | "isMain" | "widthsKey" | "onOpen" | "hrefOf"
> & {
  /** Path of the list's page, such as `queues`. */
  readonly path: string;
  readonly read: ReadStateProps["read"];
  /** Undefined until they are read. */
  readonly rows: readonly Row[] | undefined;
};

export function ItemTable<Row extends Item>({ path, read, rows, ...rest }: ItemTableProps<Row>) {
  const pages = useItemPages(path);
  const what = rest.label.toLowerCase();
  return (
    <>
      <ReadState read={read} what={`Loading ${what}`} />
      {rows ? (
        <Table {...rest} {...pages} isMain widthsKey={what} rows={rows} idOf={({ id }) => id} />
      ) : null}
    </>
  );
}

type NewItemOptions = {
  /** Path of the list's page. */
  readonly path: string;
  readonly method: DescMethod;
  /** Title of the command, such as `Create a queue`. */
  readonly title: string;
  /** Label of the button. */
  readonly label: string;
  /** The dialog that makes an item; both functions close it, `onMade` by opening the item. */
  readonly dialog: (onClose: () => void, onMade: (id: string) => void) => ReactNode;
};

/** Returns the button that opens a dialog, false if the person may not, and the open dialog. */
export function useNewItem({ path, method, title, label, dialog }: NewItemOptions) {
  const may = useMay()(method);
  const [isOpen, setOpen] = useState(false);
  const { onOpen } = useItemPages(path);
  const open = () => setOpen(true);
  useCommands([may && { id: `${path}.create`, title, keys: "n", run: open }]);
  const create = may && (
    <Button size="small" variant="primary" icon={<Plus />} onClick={open}>
      {label}
    </Button>
  );
  return {
    create,
    creating: isOpen
      ? dialog(
          () => setOpen(false),
          (id) => onOpen({ id }),
        )
      : null,
  };
}

// Menu: a list of acts or choices at a control.

import { Check } from "lucide-react";
import { DropdownMenu as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import { Keys } from "./keys.tsx";
import "./popover.css";

export type MenuItem =
  | {
      readonly label: string;
      readonly icon?: ReactNode;
      readonly keys?: string;
      readonly isDanger?: boolean;
      readonly isDisabled?: boolean;
      /** Shows a mark: the item is the chosen one. */
      readonly isChecked?: boolean;
      readonly onSelect: () => void;
    }
  | { readonly heading: string }
  | "line";

export type MenuProps = {
  readonly trigger: ReactNode;
  /** False is none. */
  readonly items: readonly (MenuItem | false)[];
  readonly align?: "start" | "center" | "end";
  readonly side?: "top" | "right" | "bottom" | "left";
};

/** Shows nothing where there is nothing to choose, and no line without items on both sides. */
export function Menu({ trigger, items: given, align = "start", side = "bottom" }: MenuProps) {
  const items = given
    .filter((item) => item !== false)
    .filter((item, index, all) => item !== "line" || isBetween(all, index));
  if (!items.some((item) => item !== "line" && !("heading" in item))) return null;
  return (
    <Primitive.Root modal={false}>
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          className="menu"
          align={align}
          side={side}
          sideOffset={5}
          collisionPadding={8}
        >
          {items.map((item, index) => (
            <Item key={index} item={item} />
          ))}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

function isBetween(items: readonly MenuItem[], index: number): boolean {
  return (
    index > 0 && items[index - 1] !== "line" && items.slice(index).some((one) => one !== "line")
  );
}

function Item({ item }: { readonly item: MenuItem }) {
  if (item === "line") return <Primitive.Separator className="menu-line" />;
  if ("heading" in item) {
    return <Primitive.Label className="menu-label">{item.heading}</Primitive.Label>;
  }
  const { label, icon, keys, isDanger, isDisabled, isChecked, onSelect } = item;
  const content = (
    <>
      {icon}
      <span className="menu-text">{label}</span>
      {keys === undefined ? null : <Keys keys={keys} />}
      {isChecked === true ? <Check className="menu-check" aria-hidden /> : null}
    </>
  );
  const shared = {
    className: "menu-item",
    disabled: isDisabled ?? false,
    "data-danger": isDanger === true,
    onSelect,
  };
  if (isChecked === undefined) return <Primitive.Item {...shared}>{content}</Primitive.Item>;
  return (
    <Primitive.CheckboxItem {...shared} checked={isChecked}>
      {content}
    </Primitive.CheckboxItem>
  );
}

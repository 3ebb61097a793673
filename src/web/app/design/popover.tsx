// Popover: a small panel at a control, for a few fields. For a list of acts, `Menu`.

import { Popover as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import "./popover.css";

export type PopoverProps = {
  /** The control that opens it: a Button or IconButton. */
  readonly trigger: ReactNode;
  readonly isOpen?: boolean;
  readonly onOpenChange?: (isOpen: boolean) => void;
  readonly align?: "start" | "center" | "end";
  /** Read out as the name of the panel. */
  readonly label: string;
  readonly children: ReactNode;
};

export function Popover(props: PopoverProps) {
  const { trigger, isOpen, onOpenChange, align = "start", label, children } = props;
  return (
    <Primitive.Root
      {...(isOpen !== undefined && { open: isOpen })}
      {...(onOpenChange && { onOpenChange })}
    >
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          className="popover"
          align={align}
          sideOffset={5}
          collisionPadding={8}
          aria-label={label}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

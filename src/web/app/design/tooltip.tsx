// Tooltip: names a control that has only an icon, or gives the exact form of a short value. Never
// the only place of anything, since touch has no hover.

import { Tooltip as Primitive } from "radix-ui";
import type { FocusEvent, ReactNode } from "react";
import { Keys } from "./keys.tsx";
import "./tooltip.css";

export const TooltipProvider = Primitive.Provider;

export type TooltipProps = {
  readonly text: ReactNode;
  readonly keys?: string | undefined;
  readonly side?: "top" | "right" | "bottom" | "left";
  readonly children: ReactNode;
};

/** Keeps focus that the app moves after a click from opening the tooltip over other content. */
function openForKeysOnly(event: FocusEvent): void {
  if (!event.target.matches(":focus-visible")) event.preventDefault();
}

export function Tooltip({ text, keys, side = "bottom", children }: TooltipProps) {
  return (
    <Primitive.Root>
      <Primitive.Trigger asChild onFocus={openForKeysOnly}>
        {children}
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content className="tooltip" side={side} sideOffset={6} collisionPadding={8}>
          {text}
          {keys === undefined ? null : <Keys keys={keys} />}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

// Tooltip: names a control that has only an icon, or gives the exact form of a short value. Never
// the only place of anything, since touch has no hover.

import { Tooltip as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import { Keys } from "./keys.tsx";
import "./tooltip.css";

export const TooltipProvider = Primitive.Provider;

export type TooltipProps = {
  readonly text: ReactNode;
  readonly keys?: string | undefined;
  readonly side?: "top" | "right" | "bottom" | "left";
  readonly children: ReactNode;
};

export function Tooltip({ text, keys, side = "bottom", children }: TooltipProps) {
  return (
    <Primitive.Root>
      <Primitive.Trigger asChild>{children}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content className="tooltip" side={side} sideOffset={6} collisionPadding={8}>
          {text}
          {keys === undefined ? null : <Keys keys={keys} />}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

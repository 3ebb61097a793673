// Button and IconButton: what starts something. A link that leads somewhere is `Link`.

import { Slot } from "radix-ui";
import type { ComponentProps, ReactNode, SyntheticEvent } from "react";
import { Tooltip } from "./tooltip.tsx";
import "./button.css";

export type ButtonProps = ComponentProps<"button"> & {
  /** `primary` at most once in a view; `danger` for what destroys. */
  readonly variant?: "primary" | "secondary" | "ghost" | "danger";
  readonly size?: "small" | "medium";
  readonly icon?: ReactNode;
  /**
   * Text in place of the label while work runs; keeps the button from being pressed again. The
   * focus stays, which a disabled button would lose.
   */
  readonly busyLabel?: string | false | undefined;
  /** Renders the child element, such as a Link, with the look of a button. */
  readonly asChild?: boolean;
};

export function Button(props: ButtonProps) {
  const { variant = "secondary", size = "medium", icon, busyLabel, asChild, ...rest } = props;
  const { children, className, disabled, type = "button", ...others } = rest;
  const isBusy = typeof busyLabel === "string";
  const shared = {
    ...others,
    className: joinClasses("button", className),
    "data-variant": variant,
    "data-size": size,
  };
  if (asChild === true) {
    return (
      <Slot.Root {...shared}>
        {icon}
        <Slot.Slottable>{children}</Slot.Slottable>
      </Slot.Root>
    );
  }
  return (
    <button {...shared} type={type} disabled={disabled} aria-busy={isBusy} {...(isBusy && inert)}>
      {icon}
      {isBusy ? busyLabel : children}
    </button>
  );
}

/** Handlers of a busy button: it neither sends its form nor opens its menu. */
const inert = {
  "aria-disabled": true,
  onClick: (event: SyntheticEvent) => event.preventDefault(),
  onPointerDown: undefined,
  onKeyDown: undefined,
};

export type IconButtonProps = Omit<ComponentProps<"button">, "children"> & {
  /** Action of the button; read out, and shown on hover. */
  readonly label: string;
  readonly icon: ReactNode;
  /** Keys that do the same, shown on hover. */
  readonly keys?: string;
  readonly size?: "small" | "medium";
  readonly isPressed?: boolean;
};

export function IconButton(props: IconButtonProps) {
  const { label, icon, keys, size = "medium", isPressed, className, ...rest } = props;
  return (
    <Tooltip text={label} keys={keys}>
      <button
        type="button"
        {...rest}
        className={joinClasses("icon-button", className)}
        aria-label={label}
        aria-pressed={isPressed}
        data-size={size}
      >
        {icon}
      </button>
    </Tooltip>
  );
}

/** Joins class names; leaves out absent ones. */
export function joinClasses(...names: readonly (string | false | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}

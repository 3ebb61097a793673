// Dialog, Drawer and ConfirmDialog, which take the whole attention. Escape and the veil close them,
// except a dialog in which something was typed. The focus starts in the first field and stays
// inside; when they close, the element that had it before gets it back.

import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import { type ReactNode, type SyntheticEvent, useState } from "react";
import type { ApiError } from "../api/errors.ts";
import { Button, IconButton } from "./button.tsx";
import { useEscape } from "./escape.ts";
import { useFocusReturn } from "./focus-return.ts";
import { ErrorState } from "./states.tsx";
import { Field, Input } from "./input.tsx";
import "./overlay.css";

export type DialogProps = {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  /** Buttons at the bottom right, the main one last. */
  readonly actions?: ReactNode;
  readonly width?: "narrow" | "medium" | "wide";
  /** True while closing would lose more than typed text: then only buttons close it. */
  readonly isSticky?: boolean;
  readonly children?: ReactNode;
};

export function Dialog(props: DialogProps) {
  const { isOpen, onClose, title, description, actions, children } = props;
  const { width = "medium" } = props;
  const [isTyped, setTyped] = useState(false);
  const { remember, onCloseAutoFocus } = useFocusReturn();
  if (isTyped && !isOpen) setTyped(false);
  const isSticky = props.isSticky === true || isTyped;
  const close = () => {
    if (!isSticky) onClose();
  };
  const onEscapeKeyDown = useEscape(isOpen, close);
  return (
    <Primitive.Root open={isOpen} onOpenChange={(open) => !open && close()}>
      <Primitive.Portal>
        {/* Radix's overlay would lock scrolling by a style element: the policy forbids it. */}
        <div className="veil" />
        <Primitive.Content
          className="dialog"
          data-width={width}
          onOpenAutoFocus={(event) => {
            remember();
            focusField(event);
          }}
          onCloseAutoFocus={onCloseAutoFocus}
          onEscapeKeyDown={onEscapeKeyDown}
          {...(description === undefined && { "aria-describedby": undefined })}
        >
          <header>
            <Primitive.Title>{title}</Primitive.Title>
            {isSticky ? null : <CloseButton />}
          </header>
          {description === undefined ? null : (
            <Primitive.Description asChild>
              <div className="dialog-description">{description}</div>
            </Primitive.Description>
          )}
          {children === undefined ? null : (
            <div className="dialog-body" onInput={(event) => isText(event) && setTyped(true)}>
              {children}
            </div>
          )}
          {actions === undefined ? null : <footer>{actions}</footer>}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

/** Returns whether an input is of text, not a choice, which is quickly made again. */
function isText({ nativeEvent }: SyntheticEvent): boolean {
  return nativeEvent instanceof InputEvent;
}

/** Moves the focus to the first field of a dialog, or to the dialog itself if it has none. */
function focusField(event: Event): void {
  event.preventDefault();
  const content = event.currentTarget as HTMLElement;
  const field = content.querySelector<HTMLElement>(
    ".dialog-body :is(input:enabled, select:enabled, textarea:enabled, .code-editor)",
  );
  (field ?? content).focus();
  if (field instanceof HTMLInputElement) field.select();
}

/** Moves the focus to a drawer itself, whose first button is the one that closes it. */
function focusDrawer(event: Event): void {
  event.preventDefault();
  (event.currentTarget as HTMLElement).focus();
}

function CloseButton() {
  return (
    <Primitive.Close asChild>
      <IconButton label="Close" keys="escape" icon={<X />} size="small" />
    </Primitive.Close>
  );
}

export type DrawerProps = {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly side?: "left" | "right";
  readonly children: ReactNode;
};

/** A panel at the edge of the window, for details beside a list. */
export function Drawer({ isOpen, onClose, title, side = "right", children }: DrawerProps) {
  const { remember, onCloseAutoFocus } = useFocusReturn();
  const onEscapeKeyDown = useEscape(isOpen, onClose);
  return (
    <Primitive.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Primitive.Portal>
        <div className="veil" onClick={onClose} />
        <Primitive.Content
          className="drawer"
          data-side={side}
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            remember();
            focusDrawer(event);
          }}
          onCloseAutoFocus={onCloseAutoFocus}
          onEscapeKeyDown={onEscapeKeyDown}
        >
          <header>
            <Primitive.Title>{title}</Primitive.Title>
            <CloseButton />
          </header>
          <div className="drawer-body">{children}</div>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

export type ConfirmDialogProps = {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Effect of the action, and whether it can be undone. */
  readonly description: ReactNode;
  /** Label of the button that does it, a verb with its object. */
  readonly action: string;
  readonly busyLabel: string;
  /** Name that must be typed first; for what destroys and cannot be undone. */
  readonly typedName?: string;
  readonly isBusy: boolean;
  readonly error?: ApiError | null;
  readonly onConfirm: () => void;
};

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, onClose, title, description, action, busyLabel, isBusy, error } = props;
  const { typedName, onConfirm } = props;
  const [typed, setTyped] = useState("");
  // The error of an earlier try, which may have been about something else.
  const [earlier, setEarlier] = useState(error);
  if (!isOpen && earlier !== error) setEarlier(error);
  const isReady = typedName === undefined || typed === typedName;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      description={description}
      width="narrow"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="danger"
            disabled={!isReady}
            busyLabel={isBusy && busyLabel}
            onClick={onConfirm}
          >
            {action}
          </Button>
        </>
      }
    >
      {typedName === undefined ? undefined : (
        <Field label={`Type “${typedName}” to confirm`}>
          {({ isInvalid, ...ids }) => (
            <Input
              {...ids}
              isInvalid={isInvalid}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
      )}
      {error && error !== earlier ? <ErrorState error={error} isInline /> : null}
    </Dialog>
  );
}

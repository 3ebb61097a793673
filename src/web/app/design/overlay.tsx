// Dialog, Drawer and ConfirmDialog, which take the whole attention. Escape and the veil close them,
// except a dialog in which something was typed. The focus starts in the first field and stays
// inside; when they close, the element that had it before gets it back.

import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import { type ReactNode, type SyntheticEvent, useId, useState } from "react";
import type { ApiError } from "../api/errors.ts";
import { Button, type ButtonProps, IconButton } from "./button.tsx";
import { useEscape } from "./escape.ts";
import { TextField } from "./fields.tsx";
import { useFocusReturn } from "./focus-return.ts";
import { OtherFault } from "./other-fault.tsx";
import "./overlay.css";

/** A call that changes something: whether it is under way, and why it failed. */
type Change = { readonly isPending: boolean; readonly error: ApiError | null };

export type DialogAct = Pick<ButtonProps, "variant" | "disabled"> & {
  readonly label: string;
  /** Label while the change is under way. */
  readonly busyLabel: string;
  readonly run: () => void;
  /** The change that it makes, whose error stands below the content. */
  readonly change: Change;
  /** Fields of the content that show themselves what the error says about them. */
  readonly fields?: readonly string[];
  /** Makes the content a form, so that Enter in one of its fields runs the act too. */
  readonly isForm?: boolean;
};

export type DialogProps = {
  /** Default true, for a dialog that is rendered while it is open. */
  readonly isOpen?: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  /** The button that does what the dialog is for, beside one that cancels. */
  readonly act?: DialogAct | undefined;
  /** Buttons at the bottom right in place of these two, the main one last. */
  readonly actions?: ReactNode;
  readonly width?: "narrow" | "medium" | "wide";
  /** True while closing would lose more than typed text: then only buttons close it. */
  readonly isSticky?: boolean;
  readonly children?: ReactNode;
};

export function Dialog(props: DialogProps) {
  const formId = useId();
  const { isOpen = true, onClose, title, description, act, children } = props;
  const { width = "medium", actions = act && <ActButtons {...{ act, formId, onClose }} /> } = props;
  const [isTyped, setTyped] = useState(false);
  const { remember, onCloseAutoFocus } = useFocusReturn();
  if (isTyped && !isOpen) setTyped(false);
  const isSticky = props.isSticky === true || isTyped;
  const close = () => {
    if (!isSticky) onClose();
  };
  const onEscapeKeyDown = useEscape(isOpen, close);
  const fault = act && <OtherFault error={act.change.error} fields={act.fields} />;
  const body = {
    className: "dialog-body",
    onInput: (event: SyntheticEvent) => isText(event) && setTyped(true),
  };
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
          {act?.isForm === true ? (
            <form {...body} id={formId} onSubmit={(event) => submit(event, act.run)}>
              {children}
              {fault}
            </form>
          ) : (
            <div {...body}>
              {children}
              {fault}
            </div>
          )}
          {actions === undefined ? null : <footer>{actions}</footer>}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

type ActButtonsProps = {
  readonly act: DialogAct;
  readonly formId: string;
  readonly onClose: () => void;
};

function ActButtons({ act, formId, onClose }: ActButtonsProps) {
  const { label, busyLabel, run, change, isForm, variant = "primary", disabled } = act;
  const does = isForm === true ? { type: "submit" as const, form: formId } : { onClick: run };
  return (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        variant={variant}
        disabled={disabled}
        busyLabel={change.isPending && busyLabel}
        {...does}
      >
        {label}
      </Button>
    </>
  );
}

function submit(event: SyntheticEvent, run: () => void): void {
  event.preventDefault();
  run();
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

export type ConfirmDialogProps = Pick<DialogProps, "isOpen" | "onClose" | "title"> & {
  /** Effect of the action, and whether it can be undone. */
  readonly description: ReactNode;
  /** Label of the button that does it, a verb with its object. */
  readonly action: string;
  readonly busyLabel: string;
  /** Name that must be typed first; for what destroys and cannot be undone. */
  readonly typedName?: string;
  /** The change that it confirms. */
  readonly change: Change;
  readonly onConfirm: () => void;
};

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen = true, action, busyLabel, change, typedName, onConfirm, ...rest } = props;
  const { isPending, error } = change;
  const [typed, setTyped] = useState("");
  // The error of an earlier try, which may have been about something else.
  const [earlier, setEarlier] = useState(error);
  if (!isOpen && earlier !== error) setEarlier(error);
  // Marks of direction in the name do not turn the words around it.
  const label = (
    <>
      Type “<bdi>{typedName}</bdi>” to confirm
    </>
  );
  return (
    <Dialog
      {...rest}
      isOpen={isOpen}
      width="narrow"
      act={{
        label: action,
        variant: "danger",
        disabled: typedName !== undefined && typed !== typedName,
        busyLabel,
        run: onConfirm,
        change: { isPending, error: error === earlier ? null : error },
      }}
    >
      {typedName === undefined ? null : (
        <TextField label={label} value={typed} onChange={setTyped} />
      )}
    </Dialog>
  );
}

// Input, TextArea, Select, Checkbox, Switch and Field: what one types and picks. They are the
// browser's own controls in our clothes, so that they behave as people and their aids know them.

import { ChevronDown } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";
import { joinClasses } from "./button.tsx";
import "./input.css";

export type InputProps = ComponentProps<"input"> & {
  readonly icon?: ReactNode;
  readonly isInvalid?: boolean;
};

export function Input({ icon, isInvalid, className, ...rest }: InputProps) {
  const input = (
    <input
      spellCheck={false}
      autoComplete="off"
      {...rest}
      aria-invalid={isInvalid === true ? true : undefined}
      className={joinClasses("input", className)}
    />
  );
  if (icon === undefined) return input;
  return (
    <span className="input-with-icon">
      {icon}
      {input}
    </span>
  );
}

export type TextAreaProps = ComponentProps<"textarea"> & { readonly isInvalid?: boolean };

/** Grows with its text. */
export function TextArea({ isInvalid, className, ...rest }: TextAreaProps) {
  return (
    <textarea
      rows={3}
      {...rest}
      aria-invalid={isInvalid === true ? true : undefined}
      className={joinClasses("input", "text-area", className)}
    />
  );
}

export type SelectOption = { readonly value: string; readonly label: string };

export type SelectProps = Omit<ComponentProps<"select">, "children" | "onChange"> & {
  readonly options: readonly SelectOption[];
  readonly onChange: (value: string) => void;
  readonly isSmall?: boolean;
};

/** One of some known values; for many values or search, `Combobox`. */
export function Select({ options, onChange, isSmall, className, ...rest }: SelectProps) {
  return (
    <span className={joinClasses("select", className)} data-small={isSmall === true}>
      <select {...rest} onChange={(event) => onChange(event.target.value)}>
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <ChevronDown aria-hidden />
    </span>
  );
}

export type CheckboxProps = Omit<ComponentProps<"input">, "type" | "onChange"> & {
  readonly label: ReactNode;
  /** Hides the label from the eye; it is still read out. */
  readonly isLabelHidden?: boolean;
  readonly isPartial?: boolean;
  readonly onChange: (isChecked: boolean) => void;
};

export function Checkbox(props: CheckboxProps) {
  const { label, isLabelHidden, isPartial, onChange, className, ...rest } = props;
  return (
    <label className={joinClasses("checkbox", className)}>
      <input
        {...rest}
        type="checkbox"
        ref={(element) => {
          if (element) element.indeterminate = isPartial === true;
        }}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className={isLabelHidden === true ? "visually-hidden" : undefined}>{label}</span>
    </label>
  );
}

export type SwitchProps = Omit<ComponentProps<"input">, "type" | "onChange" | "role"> & {
  readonly label: ReactNode;
  readonly onChange: (isOn: boolean) => void;
};

/** Turns something on or off at once, without a button to confirm. */
export function Switch({ label, onChange, className, ...rest }: SwitchProps) {
  return (
    <label className={joinClasses("switch", className)}>
      <input
        {...rest}
        type="checkbox"
        role="switch"
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

export type FieldProps = {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** The fault of the value, and how to correct it. */
  readonly error?: string | undefined;
  /** Renders the control with the ids that tie label and texts to it. */
  readonly children: (ids: FieldIds) => ReactNode;
};

export type FieldIds = {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly isInvalid: boolean;
};

/** A control with its label, hint and error. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const textId = `${id}-text`;
  const text = error ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        "aria-describedby": text === undefined ? undefined : textId,
        isInvalid: error !== undefined,
      })}
      {text === undefined ? null : (
        <p id={textId} data-error={error !== undefined}>
          {text}
        </p>
      )}
    </div>
  );
}

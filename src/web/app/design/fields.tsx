// TextField, TextAreaField and SelectField: a control with its label, hint and error in one.

import {
  Field,
  type FieldProps,
  Input,
  type InputProps,
  Select,
  type SelectProps,
  TextArea,
  type TextAreaProps,
} from "./input.tsx";

type Labelled = Omit<FieldProps, "children">;

export type TextFieldProps = Labelled &
  Omit<InputProps, "id" | "isInvalid" | "onChange" | "value"> & {
    readonly value: string | number;
    readonly onChange: (text: string) => void;
  };

/** One line of text, or a number. */
export function TextField({ label, hint, error, onChange, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <Input step="any" {...rest} {...ids} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}

export type TextAreaFieldProps = Labelled &
  Omit<TextAreaProps, "id" | "isInvalid" | "onChange" | "value"> & {
    readonly value: string;
    readonly onChange: (text: string) => void;
  };

/** Several lines of text. */
export function TextAreaField({ label, hint, error, onChange, ...rest }: TextAreaFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => <TextArea {...rest} {...ids} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

export type SelectFieldProps = Labelled & Omit<SelectProps, "id">;

/** One of some known values. */
export function SelectField({ label, hint, error, ...rest }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {({ isInvalid, ...ids }) => <Select {...rest} {...ids} aria-invalid={isInvalid} />}
    </Field>
  );
}

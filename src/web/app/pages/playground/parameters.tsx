// Parameters of a column in a panel: numbers as typed, stop words one a line; empty ones are left
// to the provider.

import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { Button } from "../../design/button.tsx";
import { Field, Input, TextArea } from "../../design/input.tsx";
import { Popover } from "../../design/popover.tsx";
import { type Column, type ParameterName, parameterNames } from "./draft.ts";

const hints: Readonly<Record<ParameterName, string>> = {
  temperature: "0 to 2: higher answers vary more",
  max_tokens: "Most tokens of the answer",
  top_p: "0 to 1: share of the likeliest words",
  frequency_penalty: "−2 to 2",
  presence_penalty: "−2 to 2",
  stop: "The answer ends before one of these; one a line",
};

export type ParametersProps = {
  readonly label: string;
  readonly column: Column;
  readonly onChange: (parameters: Column["parameters"]) => void;
};

export function Parameters({ label, column, onChange }: ParametersProps) {
  const [isOpen, setOpen] = useState(false);
  const { parameters } = column;
  const set = parameterNames.filter((name) => (parameters[name] ?? "") !== "");
  return (
    <Popover
      label={label}
      isOpen={isOpen}
      onOpenChange={setOpen}
      align="end"
      trigger={
        <Button icon={<SlidersHorizontal />} aria-label={`${label}, ${set.length} set`}>
          {set.length === 0 ? "Parameters" : `${set.length} set`}
        </Button>
      }
    >
      <div className="playground-parameters">
        {parameterNames.map((name) => (
          <Field key={name} label={name} hint={hints[name]}>
            {(ids) => {
              const shared = { ...ids, value: parameters[name] ?? "" };
              return name === "stop" ? (
                <TextArea
                  {...shared}
                  rows={2}
                  onChange={(event) => onChange({ ...parameters, [name]: event.target.value })}
                />
              ) : (
                <Input
                  {...shared}
                  inputMode="decimal"
                  onChange={(event) => onChange({ ...parameters, [name]: event.target.value })}
                />
              );
            }}
          </Field>
        ))}
      </div>
    </Popover>
  );
}

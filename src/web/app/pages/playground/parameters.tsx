// Parameters of a column in a panel: numbers as typed, stop words one a line; empty ones are left
// to the provider.

import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { Button } from "../../design/button.tsx";
import { TextAreaField, TextField } from "../../design/fields.tsx";
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
        {parameterNames.map((name) => {
          const shared = {
            label: name,
            hint: hints[name],
            value: parameters[name] ?? "",
            onChange: (text: string) => onChange({ ...parameters, [name]: text }),
          };
          return name === "stop" ? (
            <TextAreaField key={name} {...shared} rows={2} />
          ) : (
            <TextField key={name} {...shared} inputMode="decimal" />
          );
        })}
      </div>
    </Popover>
  );
}

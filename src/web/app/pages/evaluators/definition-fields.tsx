// The fields of an evaluator beside its code: name, type, what it returns, what passes, which
// events it runs on.

import type { ApiError } from "../../api/errors.ts";
import { FilterBar } from "../../design/filter-bar.tsx";
import { SelectField, TextAreaField, TextField } from "../../design/fields.tsx";
import { Switch } from "../../design/input.tsx";
import { Segments } from "../../design/tabs.tsx";
import { faultOf } from "../../api/faults.ts";
import { type Draft, starters, typeNames } from "./draft.ts";
import { library } from "./library.ts";
import { useEventFields } from "../traces/event-fields.ts";

export type DefinitionFieldsProps = {
  readonly draft: Draft;
  readonly error: ApiError | null;
  readonly isNew: boolean;
  readonly set: (change: Partial<Draft>) => void;
};

type PartProps = Pick<DefinitionFieldsProps, "draft" | "set"> & {
  readonly fault: (field: string) => string | undefined;
};

const returnTypes = ["boolean", "float", "categorical", "string"].map((value) => ({
  value,
  label: value === "float" ? "number" : value,
}));

export function DefinitionFields({ draft, error, isNew, set }: DefinitionFieldsProps) {
  const fault = (field: string) => faultOf(error, field);
  const chosen = library.find(({ criteria }) => criteria === draft.criteria);
  const isStarter = chosen !== undefined || Object.values(starters).includes(draft.criteria);
  const setType = (type: string) =>
    set({
      type,
      ...(isStarter && { criteria: starters[type] ?? "" }),
      ...(isStarter && { returnType: type === "LLM" ? "float" : "boolean" }),
    });
  return (
    <>
      {isNew ? (
        <Segments
          label="Type of evaluator"
          options={Object.entries(typeNames).map(([value, label]) => ({ value, label }))}
          value={draft.type}
          onChange={setType}
        />
      ) : null}
      {isNew && draft.type !== "HUMAN" ? (
        <SelectField
          label="Start from"
          hint={chosen?.description}
          value={chosen?.name ?? ""}
          options={[
            { value: "", label: isStarter ? "an example" : "your own text" },
            ...library
              .filter(({ type }) => type === draft.type)
              .map(({ name }) => ({ value: name, label: name.replaceAll("_", " ") })),
          ]}
          onChange={(name) => set(startFrom(draft, name))}
        />
      ) : null}
      <div className="evaluator-pair">
        <TextField
          label="Name"
          hint="The key of its scores on events."
          error={fault("name")}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <SelectField
          label="Returns"
          error={fault("return_type")}
          value={draft.returnType}
          options={returnTypes}
          onChange={(returnType) => set({ returnType })}
        />
      </div>
      {draft.type === "LLM" ? <Judge draft={draft} fault={fault} set={set} /> : null}
      <Passing draft={draft} fault={fault} set={set} />
      {draft.type === "HUMAN" ? null : <RunsOn draft={draft} fault={fault} set={set} />}
      <TextField
        label="Description"
        error={fault("description")}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
    </>
  );
}

/** Returns the parts of the library's evaluator of a name; a name that the person chose stays. */
function startFrom({ type, name }: Draft, chosen: string): Partial<Draft> {
  const item = library.find((one) => one.name === chosen);
  if (!item) return { criteria: starters[type] ?? "" };
  const isOwnName = name !== "" && !library.some((one) => one.name === name);
  return { ...item, ...(isOwnName && { name }) };
}

function Judge({ draft, fault, set }: PartProps) {
  return (
    <div className="evaluator-pair">
      <TextField
        label="Provider"
        placeholder="openai"
        error={fault("model_provider")}
        value={draft.provider}
        onChange={(provider) => set({ provider })}
      />
      <TextField
        label="Model"
        placeholder="gpt-5-mini"
        error={fault("model_name")}
        value={draft.model}
        onChange={(model) => set({ model })}
      />
      {draft.returnType === "float" ? (
        <TextField
          label="Greatest score"
          type="number"
          error={fault("scale")}
          value={draft.scale}
          onChange={(scale) => set({ scale })}
        />
      ) : null}
    </div>
  );
}

function Passing({ draft, fault, set }: PartProps) {
  const error = fault("threshold");
  if (draft.returnType === "boolean") {
    return (
      <SelectField
        label="Passes when"
        error={error}
        value={draft.passWhen}
        options={[
          { value: "true", label: "true" },
          { value: "false", label: "false" },
          { value: "", label: "nothing is said" },
        ]}
        onChange={(passWhen) => set({ passWhen })}
      />
    );
  }
  if (draft.returnType === "categorical") {
    return (
      <TextAreaField
        label="Categories"
        error={fault("categories") ?? error}
        hint="One a line, such as “good: 1 *”: a score after a colon, * for those that pass."
        value={draft.categories}
        onChange={(text) => set({ categories: text })}
      />
    );
  }
  if (draft.returnType === "string") return null;
  return (
    <div className="evaluator-pair">
      <TextField
        label="Passes from"
        type="number"
        error={error}
        value={draft.least}
        onChange={(least) => set({ least })}
      />
      <TextField
        label="Passes up to"
        type="number"
        value={draft.greatest}
        onChange={(greatest) => set({ greatest })}
      />
      {draft.passAt === "" ? null : (
        <TextField
          label="Passes at exactly"
          type="number"
          value={draft.passAt}
          onChange={(passAt) => set({ passAt })}
        />
      )}
    </div>
  );
}

function RunsOn({ draft, fault, set }: PartProps) {
  const fields = useEventFields();
  return (
    <div className="evaluator-runs">
      <div className="field" role="group" aria-label="Filters">
        <span className="field-name">Runs on events with</span>
        <FilterBar
          filters={draft.filters}
          fields={fields}
          onChange={(filters) => set({ filters })}
        />
        {fault("filters") === undefined ? null : <p data-error="true">{fault("filters")}</p>}
      </div>
      <div className="evaluator-pair">
        <TextField
          label="Share of them, in percent"
          type="number"
          error={fault("sampling_percentage")}
          value={draft.sampling}
          onChange={(sampling) => set({ sampling })}
        />
        <Switch
          label="Run on events as they come"
          checked={draft.isEnabled}
          onChange={(isEnabled) => set({ isEnabled })}
        />
      </div>
    </div>
  );
}

// Aliases: a name for a list of models, of which the next is asked when one fails.

import { ArrowDown, ArrowUp, Plus, X } from "lucide-react";
import { useState } from "react";
import { type ModelAlias, ModelAliasService } from "../../../../../gen/waggle/v1/model_alias_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpcMutation, useRpcPages } from "../../api/query.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { TextField } from "../../design/fields.tsx";
import { Input } from "../../design/input.tsx";
import { ItemActs } from "../../design/item-acts.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ReadState } from "../../design/states.tsx";
import { useMay } from "../../session/use-may.ts";
import { faultOf } from "../../api/faults.ts";
import { modelMethods } from "./provider-form.tsx";
import { connectionScope, type ScopeRef } from "../../api/scope.ts";

const { method } = ModelAliasService;
const targetsMax = 10;

export function Aliases({ scope }: { readonly scope: ScopeRef }) {
  const [open, setOpen] = useState<ModelAlias | "new">();
  const [leaving, setLeaving] = useState<ModelAlias>();
  const may = useMay(scope);
  const list = useRpcPages(method.listModelAliases, {
    scope: connectionScope(scope),
    limit: 1_000,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const close = () => setOpen(undefined);
  return (
    <>
      <div className="settings-acts">
        <h2>Aliases</h2>
        {may(method.putModelAlias) ? (
          <Button icon={<Plus />} onClick={() => setOpen("new")}>
            Add alias
          </Button>
        ) : null}
      </div>
      <ReadState read={list} what="Loading aliases" isInline />
      {!list.data ? null : rows.length === 0 ? (
        <p className="settings-note">
          An alias is a name that programs call in place of a model: you change the model here, and
          fallbacks answer when it fails.
        </p>
      ) : (
        <ul className="alias-list" aria-label="Aliases">
          {rows.map((alias) => (
            <li key={alias.name}>
              <code>{alias.name}</code>
              <span className="alias-targets">{alias.targets.join(" → ")}</span>
              <ItemActs
                item={alias.name}
                onChange={may(method.putModelAlias) && (() => setOpen(alias))}
                onDelete={may(method.deleteModelAlias) && (() => setLeaving(alias))}
              />
            </li>
          ))}
        </ul>
      )}
      {open === undefined ? null : (
        <AliasForm
          scope={scope}
          before={open === "new" ? undefined : open}
          taken={rows.map(({ name }) => name)}
          onClose={close}
        />
      )}
      {leaving ? (
        <ConfirmCall
          onClose={() => setLeaving(undefined)}
          title={`Delete the alias ${leaving.name}`}
          description="Calls by this name fail from then on."
          action="Delete alias"
          busyLabel="Deleting…"
          method={method.deleteModelAlias}
          input={{ scope: connectionScope(scope), name: leaving.name }}
          changes={[method.listModelAliases, ...modelMethods]}
        />
      ) : null}
    </>
  );
}

type AliasFormProps = {
  readonly scope: ScopeRef;
  readonly before: ModelAlias | undefined;
  /** Names of the scope's aliases: a new one must not replace the models of another. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
};

function AliasForm({ scope, before, taken, onClose }: AliasFormProps) {
  const [name, setName] = useState(before?.name ?? "");
  const [targets, setTargets] = useState<readonly string[]>(before?.targets ?? [""]);
  const put = useRpcMutation(method.putModelAlias, {
    changes: [method.listModelAliases, ...modelMethods],
    onDone: onClose,
  });
  const isTaken = before === undefined && taken.includes(name.trim());
  const filled = targets.map((target) => target.trim()).filter(Boolean);
  return (
    <Dialog
      onClose={onClose}
      title={before ? `Change ${before.name}` : "Add an alias"}
      description="The first model is asked first, the next one when it fails."
      act={{
        label: "Save alias",
        disabled: name.trim() === "" || isTaken || filled.length === 0,
        busyLabel: "Saving…",
        run: () =>
          put.mutate({ scope: connectionScope(scope), name: name.trim(), targets: filled }),
        change: put,
        fields: [...(before ? [] : ["name"]), "targets"],
      }}
    >
      {before ? null : (
        <TextField
          label="Name"
          error={
            isTaken
              ? "There is an alias of this name: change that one."
              : faultOf(put.error, "name")
          }
          value={name}
          onChange={setName}
        />
      )}
      <Targets
        targets={targets}
        error={faultOfTargets(put.error, put.variables?.targets ?? [])}
        onChange={setTargets}
      />
    </Dialog>
  );
}

/** Returns what the service says about the models that were sent, by the name of the one. */
function faultOfTargets(error: ApiError | null, sent: readonly string[]): string | undefined {
  const fault = faultOf(error, "targets");
  const [, at] = /^targets\[(\d+)\]/.exec(error?.message ?? "") ?? [];
  return fault === undefined || at === undefined ? fault : `“${sent[Number(at)]}” ${fault}`;
}

type TargetsProps = {
  readonly targets: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (targets: readonly string[]) => void;
};

function Targets({ targets, error, onChange }: TargetsProps) {
  const move = (index: number, to: number) =>
    onChange(targets.toSpliced(index, 1).toSpliced(to, 0, targets[index] ?? ""));
  return (
    <fieldset className="permissions">
      <legend>Models</legend>
      {targets.map((target, index) => (
        <div key={index} className="alias-target">
          <Input
            aria-label={index === 0 ? "Model" : `Fallback ${index}`}
            placeholder="openai/gpt-5-mini"
            value={target}
            onChange={(event) => onChange(targets.with(index, event.target.value))}
          />
          <IconButton
            label={`Move model ${index + 1} up`}
            icon={<ArrowUp />}
            disabled={index === 0}
            onClick={() => move(index, index - 1)}
          />
          <IconButton
            label={`Move model ${index + 1} down`}
            icon={<ArrowDown />}
            disabled={index === targets.length - 1}
            onClick={() => move(index, index + 1)}
          />
          <IconButton
            label={`Remove model ${index + 1}`}
            icon={<X />}
            disabled={targets.length === 1}
            onClick={() => onChange(targets.toSpliced(index, 1))}
          />
        </div>
      ))}
      <Button
        size="small"
        icon={<Plus />}
        disabled={targets.length >= targetsMax}
        onClick={() => onChange([...targets, ""])}
      >
        Add fallback
      </Button>
      {error === undefined ? null : (
        <p role="alert" className="alias-fault">
          {error}
        </p>
      )}
    </fieldset>
  );
}

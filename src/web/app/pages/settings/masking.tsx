// Masking of a project: the form of its rules, and a sample to try them on.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Masking, MaskingService } from "../../../../../gen/waggle/v1/masking_pb.js";
import { renewAnswers, useChange, useRpc, useRpcMutation } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
import { Button } from "../../design/button.tsx";
import { TextAreaField, TextField } from "../../design/fields.tsx";
import { formatCounted, formatValue } from "../../design/format.ts";
import { Checkbox } from "../../design/input.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import { showToast } from "../../design/toast.tsx";
import { Time } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { type DraftState, useDraft } from "../../shell/drafts.ts";
import { fromValue, toValue } from "../datasets/to-value.ts";
import {
  faultInRules,
  mergeRules,
  nameOf,
  type RuleDraft,
  type RuleInput,
  type RulePart,
  toDraft,
  toRules,
  toSample,
  toStored,
} from "./masking-rules.ts";

const { method } = MaskingService;

/** What the service finds by itself, as people name it. */
const detectors: readonly (readonly [name: string, label: string])[] = [
  ["email", "E-mail addresses"],
  ["phone_number", "Phone numbers in international form (+49 30 901820)"],
  ["credit_card", "Card numbers"],
  ["iban", "Bank accounts (IBAN)"],
  ["us_ssn", "US social security numbers"],
  ["ip_address", "IP addresses"],
  ["secret", "Keys of known services, JSON Web Tokens, private keys"],
  ["url_password", "Passwords in URLs (postgres://user:password@host)"],
];

/** Characters of a replacement, at most. */
const replacementLengthMax = 100;

export function MaskingSettings({ projectId }: { readonly projectId: string }) {
  const answer = useRpc(method.getMasking, { projectId });
  const masking = answer.data?.data;
  if (!masking) return <ReadState read={answer} what="Loading the masking" />;
  // A form of its own for each stored state, so that it shows what is stored.
  const key = JSON.stringify(toStored(masking.rules));
  return <MaskingForm key={key} projectId={projectId} masking={masking} />;
}

type MaskingFormProps = { readonly projectId: string; readonly masking: Masking };

/** Draft, and the rules with which it began: another person may change them meanwhile. */
type MaskingDraft = { readonly before: readonly RuleInput[]; readonly draft: RuleDraft };

function MaskingForm({ projectId, masking }: MaskingFormProps) {
  const scope = { level: "project", id: projectId } as const;
  const isReadOnly = !useMay(scope)(method.putMasking);
  const stored = toStored(masking.rules);
  const edit = useDraft<MaskingDraft>(`masking ${projectId}`, {
    before: stored,
    draft: toDraft(stored),
  });
  const { before, draft: left } = edit.draft;
  const isBehind = !isSame(before, stored);
  const draft = isBehind ? toDraft(mergeRules(before, toRules(left, before), stored)) : left;
  const rules = toRules(draft, stored);
  const { put, end } = useSave(projectId, { stored, edit });
  const faultIn = (part: RulePart) => faultInRules(put.error, part, rules.length);
  const isShown = (faultIn("key") ?? faultIn("pattern")) !== undefined;
  const change = (next: RuleDraft) => edit.setDraft({ before: stored, draft: next });
  return (
    <div className="settings-sections">
      <p className="settings-note">
        What these rules find is replaced before an event is stored, whichever way it comes.
        Evaluators, exports and people read the replaced text; models get what the caller wrote.
        Stored events stay as they are.
      </p>
      <div className="settings-form">
        <ReadOnlyNote method={method.putMasking} scope={scope} />
        <RuleFields draft={draft} onChange={change} isReadOnly={isReadOnly} faultIn={faultIn} />
        <Replacements draft={draft} rules={rules} onChange={change} isReadOnly={isReadOnly} />
        {isBehind ? (
          <p className="soft" role="status">
            The masking was changed meanwhile. Saving keeps that, except in the rules that you
            changed here.
          </p>
        ) : null}
        {put.error && !isShown ? <ErrorState error={put.error} isInline /> : null}
        {end.error ? <ErrorState error={end.error} isInline /> : null}
        {masking.updatedAt === undefined ? null : (
          <p className="settings-note">
            Changed <Time value={masking.updatedAt} />.
          </p>
        )}
        <div className="settings-acts">
          {isReadOnly ? null : (
            <Button
              variant="primary"
              disabled={isSame(rules, stored) || rules.length === 0}
              busyLabel={put.isPending && "Setting…"}
              onClick={() => put.mutate(rules)}
            >
              Set masking
            </Button>
          )}
          {isReadOnly || stored.length === 0 ? null : (
            <Button busyLabel={end.isPending && "Ending…"} onClick={() => end.mutate()}>
              Mask nothing
            </Button>
          )}
        </div>
      </div>
      <Trial projectId={projectId} rules={rules} />
    </div>
  );
}

function isSame(one: readonly RuleInput[], other: readonly RuleInput[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

type SaveOptions = {
  readonly stored: readonly RuleInput[];
  readonly edit: DraftState<MaskingDraft>;
};

/** Saves, unless the page does not show yet that another person changed the rules meanwhile. */
function useSave(projectId: string, { stored, edit }: SaveOptions) {
  const client = useQueryClient();
  const save = async (call: () => Promise<unknown>): Promise<boolean> => {
    const { data } = await callRpc(method.getMasking, { projectId });
    const isShown = isSame(toStored(data?.rules ?? []), stored);
    if (isShown) await call();
    return isShown;
  };
  const put = useChange({
    mutationFn: (rules: RuleInput[]) =>
      save(() => callRpc(method.putMasking, { projectId, rules })),
    onSuccess: async (isDone) => {
      if (isDone) edit.forget();
      await renewAnswers(client, [method.getMasking]);
      if (isDone) showToast({ text: "Events are masked from now on.", tone: "good" });
    },
  });
  const end = useChange<boolean, void>({
    mutationFn: () => save(() => callRpc(method.deleteMasking, { projectId })),
    onSuccess: async (isDone) => {
      if (isDone) edit.forget();
      else showToast({ text: "The masking was changed meanwhile, and is shown anew." });
      await renewAnswers(client, [method.getMasking]);
    },
  });
  return { put, end };
}

type RuleFieldsProps = {
  readonly draft: RuleDraft;
  readonly onChange: (draft: RuleDraft) => void;
  readonly isReadOnly: boolean;
  readonly faultIn: (part: RulePart) => string | undefined;
};

function RuleFields({ draft, onChange, isReadOnly, faultIn }: RuleFieldsProps) {
  const { detectors: chosen } = draft;
  return (
    <>
      <fieldset className="masking-detectors">
        <legend>Found by the service</legend>
        {detectors.map(([name, label]) => (
          <Checkbox
            key={name}
            label={label}
            checked={chosen.includes(name)}
            disabled={isReadOnly}
            onChange={(isOn) =>
              onChange({
                ...draft,
                detectors: isOn ? [...chosen, name] : chosen.filter((one) => one !== name),
              })
            }
          />
        ))}
      </fieldset>
      <TextAreaField
        label="Fields whose whole value is replaced"
        hint="One name a line, such as password; at any depth, and in tool arguments."
        rows={3}
        readOnly={isReadOnly}
        error={faultIn("key")}
        value={draft.keys}
        onChange={(keys) => onChange({ ...draft, keys })}
      />
      <TextAreaField
        label="Patterns"
        hint="One regular expression (RE2) a line, such as EMP-[0-9]{6}."
        rows={3}
        readOnly={isReadOnly}
        error={faultIn("pattern")}
        value={draft.patterns}
        onChange={(patterns) => onChange({ ...draft, patterns })}
      />
    </>
  );
}

type ReplacementsProps = Omit<RuleFieldsProps, "faultIn"> & {
  readonly rules: readonly RuleInput[];
};

/** What stands in place of each rule's finds. */
function Replacements({ draft, rules, onChange, isReadOnly }: ReplacementsProps) {
  const { replacements } = draft;
  const named = new Map(rules.map((rule) => [nameOf(rule), rule]));
  if (named.size === 0) return null;
  return (
    <details className="masking-replacements">
      <summary>What stands in place</summary>
      <p className="settings-note">Empty: the default, which is shown.</p>
      {[...named].map(([name, { detector, key, pattern }]) => (
        <TextField
          key={name}
          label={detector === undefined ? <code>{key ?? pattern}</code> : labelOf(detector)}
          placeholder={
            replacements[name] ?? (detector === undefined ? "[masked]" : `[${detector}]`)
          }
          maxLength={replacementLengthMax}
          readOnly={isReadOnly}
          value={replacements[name] ?? ""}
          onChange={(text) => {
            const { [name]: _, ...rest } = replacements;
            onChange({ ...draft, replacements: text === "" ? rest : { ...rest, [name]: text } });
          }}
        />
      ))}
    </details>
  );
}

function labelOf(detector: string): string {
  return detectors.find(([name]) => name === detector)?.[1] ?? detector;
}

type TrialProps = { readonly projectId: string; readonly rules: RuleInput[] };

function Trial({ projectId, rules }: TrialProps) {
  const [text, setText] = useState("");
  const preview = useRpcMutation(method.previewMasking);
  const masked = preview.data?.data;
  return (
    <section className="settings-form">
      <h2>Try it</h2>
      <TextAreaField
        label="Sample"
        hint="A text, or JSON as it would stand in an event. Nothing of it is stored."
        rows={4}
        value={text}
        onChange={setText}
      />
      <div className="settings-acts">
        <Button
          disabled={text.trim() === "" || rules.length === 0}
          busyLabel={preview.isPending && "Masking…"}
          onClick={() => preview.mutate({ projectId, rules, sample: toValue(toSample(text)) })}
        >
          Mask sample
        </Button>
        {masked ? (
          <span role="status">{formatCounted(masked.replaced, "place")} replaced</span>
        ) : null}
      </div>
      {preview.error ? <ErrorState error={preview.error} isInline /> : null}
      {masked ? <TextView kind="mono" text={formatValue(fromValue(masked.sample))} /> : null}
    </section>
  );
}

// Masking of a project: the form of its rules, and a sample to try them on.

import { useState } from "react";
import { type Masking, MaskingService } from "../../../../../gen/waggle/v1/masking_pb.js";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { TextAreaField } from "../../design/fields.tsx";
import { formatCounted } from "../../design/format.ts";
import { Checkbox } from "../../design/input.tsx";
import { ErrorState, Loading } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import { showToast } from "../../design/toast.tsx";
import { Time } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useDraft } from "../../shell/drafts.ts";
import { toValue } from "../datasets/to-value.ts";
import {
  faultInRules,
  type RuleDraft,
  type RuleInput,
  type RulePart,
  toDraft,
  toRules,
  toSample,
  toText,
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
];

export function MaskingSettings({ projectId }: { readonly projectId: string }) {
  const { data, error, refetch } = useRpc(method.getMasking, { projectId });
  const masking = data?.data;
  if (error && !masking) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!masking) return <Loading what="Loading the masking" />;
  // A form of its own for each stored state, so that it shows what is stored.
  const key = JSON.stringify(toRules(toDraft(masking.rules), masking.rules));
  return <MaskingForm key={key} projectId={projectId} masking={masking} />;
}

type MaskingFormProps = { readonly projectId: string; readonly masking: Masking };

function MaskingForm({ projectId, masking }: MaskingFormProps) {
  const scope = { level: "project", id: projectId } as const;
  const isReadOnly = !useMay(scope)(method.putMasking);
  const { draft, setDraft, forget } = useDraft(`masking ${projectId}`, toDraft(masking.rules));
  const change = { changes: [method.getMasking] };
  const put = useRpcMutation(method.putMasking, {
    ...change,
    onDone: () => {
      forget();
      showToast({ text: "Events are masked from now on.", tone: "good" });
    },
  });
  const end = useRpcMutation(method.deleteMasking, { ...change, onDone: forget });
  const rules = toRules(draft, masking.rules);
  const faultIn = (part: RulePart) => faultInRules(put.error, part, rules.length);
  const isShown = (faultIn("key") ?? faultIn("pattern")) !== undefined;
  const isSame = JSON.stringify(draft) === JSON.stringify(toDraft(masking.rules));
  return (
    <div className="settings-sections">
      <p className="settings-note">
        What these rules find is replaced before an event is stored, whichever way it comes.
        Evaluators, exports and people read the replaced text; models get what the caller wrote.
        Stored events stay as they are.
      </p>
      <div className="settings-form">
        <ReadOnlyNote method={method.putMasking} scope={scope} />
        <RuleFields draft={draft} onChange={setDraft} isReadOnly={isReadOnly} faultIn={faultIn} />
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
              disabled={isSame || rules.length === 0}
              busyLabel={put.isPending && "Setting…"}
              onClick={() => put.mutate({ projectId, rules })}
            >
              Set masking
            </Button>
          )}
          {isReadOnly || masking.rules.length === 0 ? null : (
            <Button
              busyLabel={end.isPending && "Ending…"}
              onClick={() => end.mutate({ projectId })}
            >
              Mask nothing
            </Button>
          )}
        </div>
      </div>
      <Trial projectId={projectId} rules={rules} />
    </div>
  );
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
      {masked ? <TextView kind="mono" text={toText(masked.sample)} /> : null}
    </section>
  );
}

// Who hears of an alert or a budget: a webhook, Slack, or people by e-mail.

import type { ApiError } from "../../api/errors.ts";
import { TextField } from "../../design/fields.tsx";
import { Checkbox } from "../../design/input.tsx";
import { Segments } from "../../design/tabs.tsx";
import { faultOf } from "../../api/faults.ts";
import type { Draft, TargetDraft } from "./draft.ts";

export type TargetFieldsProps = {
  readonly draft: Draft;
  readonly error: ApiError | null;
  readonly isNew: boolean;
  readonly set: (change: Partial<Draft>) => void;
};

const channels = [
  { value: "WEBHOOK", label: "Webhook" },
  { value: "SLACK", label: "Slack" },
  { value: "EMAIL", label: "E-mail" },
];

export function TargetFields({ draft, error, isNew, set }: TargetFieldsProps) {
  const { target, isTargetChanged, tellsResolved } = draft;
  const setTarget = (change: Partial<TargetDraft>) => set({ target: { ...target, ...change } });
  return (
    <fieldset>
      <legend>Who hears of it</legend>
      {isNew ? null : (
        <Checkbox
          label="Send elsewhere than so far"
          checked={isTargetChanged}
          onChange={(isOn) => set({ isTargetChanged: isOn })}
        />
      )}
      {isTargetChanged ? (
        <>
          <TargetChoice target={target} error={error} set={setTarget} />
          <Checkbox
            label="Tell when it is resolved too"
            checked={tellsResolved}
            onChange={(isOn) => set({ tellsResolved: isOn })}
          />
        </>
      ) : null}
    </fieldset>
  );
}

type TargetChoiceProps = {
  readonly target: TargetDraft;
  readonly error: ApiError | null;
  readonly set: (change: Partial<TargetDraft>) => void;
};

/** Channel and address of one target. */
export function TargetChoice({ target, error, set }: TargetChoiceProps) {
  return (
    <>
      <Segments
        label="Channel"
        options={channels}
        value={target.channel}
        onChange={(channel) => set({ channel: channel as TargetDraft["channel"] })}
      />
      <Address target={target} error={faultOf(error, "notification_details")} set={set} />
    </>
  );
}

type AddressProps = {
  readonly target: TargetDraft;
  readonly error: string | undefined;
  readonly set: (change: Partial<TargetDraft>) => void;
};

function Address({ target, error, set }: AddressProps) {
  const { channel, url, emails } = target;
  const isEmail = channel === "EMAIL";
  const hint = isEmail
    ? "Apart by commas."
    : channel === "WEBHOOK"
      ? "A public https address. The answer has the secret that signs requests, once."
      : "The address of an incoming webhook of Slack.";
  return (
    <TextField
      label={isEmail ? "Addresses" : "Address"}
      error={error}
      hint={hint}
      type={isEmail ? "text" : "url"}
      placeholder={isEmail ? "mia@example.com, tom@example.com" : "https://"}
      value={isEmail ? emails : url}
      onChange={(text) => set(isEmail ? { emails: text } : { url: text })}
    />
  );
}

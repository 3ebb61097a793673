// FeedbackForm: a thumb, a comment and the ground truth of an event, in place. Feedback on a
// model's answer is also kept as a record of its own.

import { ThumbsDown, ThumbsUp } from "lucide-react";
import { type Event, EventService } from "../../../../../gen/waggle/v1/event_pb.js";
import { FeedbackService } from "../../../../../gen/waggle/v1/feedback_pb.js";
import { SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { TextAreaField } from "../../design/fields.tsx";
import { JsonView } from "../../design/json-view.tsx";
import { ErrorState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useDraft } from "../../shell/drafts.ts";
import { payloadMethod } from "./use-payload.ts";

export function FeedbackForm({ event }: { readonly event: Event }) {
  const stored = event.feedback ?? {};
  const { draft, setDraft, forget } = useDraft(`feedback ${event.eventId ?? ""}`, {
    isGood: goodOf(stored),
    comment: textOf(stored["comment"]),
    truth: textOf(stored["ground_truth"]),
  });
  const { isGood, comment, truth } = draft;
  const set = (change: Partial<typeof draft>) => setDraft({ ...draft, ...change });
  const { send, method, isPending, error } = useSend(event, forget);
  const isReadOnly = !useMay()(method);
  const others = Object.entries(stored).filter(([key]) => !ownKeys.includes(key));
  const items = {
    ...(isGood !== undefined && { thumbs_up: isGood }),
    ...(comment !== "" && { comment }),
  };
  const isEmpty = Object.keys(items).length === 0 && truth === "";
  return (
    <form
      className="event-bucket feedback-form"
      aria-label="Feedback"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        if (!isEmpty && !isReadOnly) send(items, truth);
      }}
    >
      <h3>
        Feedback
        <IconButton
          size="small"
          label="Good"
          icon={<ThumbsUp />}
          disabled={isReadOnly}
          isPressed={isGood === true}
          onClick={() => set({ isGood: isGood === true ? undefined : true })}
        />
        <IconButton
          size="small"
          label="Bad"
          icon={<ThumbsDown />}
          disabled={isReadOnly}
          isPressed={isGood === false}
          onClick={() => set({ isGood: isGood === false ? undefined : false })}
        />
      </h3>
      <TextAreaField
        label="Comment"
        rows={2}
        readOnly={isReadOnly}
        value={comment}
        onChange={(text) => set({ comment: text })}
      />
      <TextAreaField
        label="Ground truth"
        hint="The right answer; evaluators and datasets use it."
        rows={2}
        readOnly={isReadOnly}
        value={truth}
        onChange={(text) => set({ truth: text })}
      />
      {error ? <ErrorState error={error} isInline /> : null}
      <ReadOnlyNote method={method} />
      {isReadOnly ? null : (
        <Button type="submit" disabled={isEmpty} busyLabel={isPending && "Saving…"}>
          Save feedback
        </Button>
      )}
      {others.length === 0 ? null : (
        <JsonView label="Other feedback" value={Object.fromEntries(others)} linesMax={10} />
      )}
    </form>
  );
}

const ownKeys = ["thumbs_up", "comment", "ground_truth"];

function goodOf(feedback: Readonly<Record<string, unknown>>): boolean | undefined {
  const value = feedback["thumbs_up"];
  return typeof value === "boolean" ? value : undefined;
}

/** Returns a stored value as the text of a field. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

type Items = { readonly thumbs_up?: boolean; readonly comment?: string };

function useSend(event: Event, onSaved: () => void) {
  const options = {
    changes: [payloadMethod, SessionService.method.listSessionSkeleton],
    onDone: () => {
      onSaved();
      showToast({ text: "Saved the feedback." });
    },
  };
  const record = useRpcMutation(FeedbackService.method.createFeedback, options);
  const update = useRpcMutation(EventService.method.updateEvent, options);
  const { eventId = "", eventName = "", eventType } = event;
  const isModel = eventType === "model";
  return {
    /** Rpc that keeps the feedback. */
    method: isModel ? FeedbackService.method.createFeedback : EventService.method.updateEvent,
    isPending: record.isPending || update.isPending,
    error: record.error ?? update.error,
    send: (items: Items, truth: string): void => {
      if (isModel) {
        record.mutate({
          generationId: eventId,
          task: eventName,
          feedbackJson: { ...items },
          ...(truth !== "" && { groundTruth: truth }),
        });
      } else {
        const feedback = { ...items, ...(truth !== "" && { ground_truth: truth }) };
        update.mutate({ eventId, feedback });
      }
    },
  };
}

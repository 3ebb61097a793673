// QueueDialog: makes a queue, or changes one.

import { useState } from "react";
import { type Queue, QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { toChanged } from "../../api/changes.ts";
import { useRpcMutation } from "../../api/query.ts";
import { FilterBar } from "../../design/filter-bar.tsx";
import { type FilterRow, toMessage } from "../../design/filters.ts";
import { TextAreaField, TextField } from "../../design/fields.tsx";
import { Switch } from "../../design/input.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { fromFilter } from "../charts/chart-messages.ts";
import { useEventFields } from "../traces/event-fields.ts";
import "../../design/layout.css";

export type QueueDialogProps = {
  /** The queue to change; without it a new one is made. */
  readonly queue?: Queue;
  readonly onClose: () => void;
  readonly onSaved: (queueId: string) => void;
};

export function QueueDialog({ queue, onClose, onSaved }: QueueDialogProps) {
  const [name, setName] = useState(queue?.name ?? "");
  const [description, setDescription] = useState(queue?.description ?? "");
  const [reviewers, setReviewers] = useState(String(queue?.reviewersPerEvent ?? 1));
  const [enabled, setEnabled] = useState(queue?.enabled ?? true);
  const [filters, setFilters] = useState<readonly FilterRow[]>(() =>
    (queue?.filters?.filterArray ?? []).map(fromFilter),
  );
  const fields = useEventFields();
  const { listQueues, getQueue, createQueue, updateQueue } = QueueService.method;
  const options = {
    changes: [listQueues, getQueue],
    onDone: (answer: { readonly queue?: Queue | undefined }) => {
      if (answer.queue) onSaved(answer.queue.id);
    },
  };
  const create = useRpcMutation(createQueue, options);
  const update = useRpcMutation(updateQueue, options);
  const content = {
    name,
    description,
    enabled,
    reviewersPerEvent: Number(reviewers),
    filters: { filterArray: filters.map(toMessage) },
  };
  const [first] = useState(content);
  const submit = () => {
    if (queue) update.mutate({ id: queue.id, ...toChanged(first, content) });
    else create.mutate(content);
  };
  return (
    <Dialog
      onClose={onClose}
      title={queue ? "Change queue" : "Create queue"}
      act={{
        label: queue ? "Save queue" : "Create queue",
        disabled: name.trim() === "",
        busyLabel: "Saving",
        run: submit,
        change: queue ? update : create,
      }}
    >
      <div className="form">
        <TextField label="Name" value={name} onChange={setName} />
        <TextAreaField
          label="Description"
          hint="What reviewers are to look at."
          value={description}
          onChange={setDescription}
        />
        <TextField
          label="Reviewers an event"
          hint="1 to 10; with two or more, agreement is computed."
          type="number"
          step={1}
          min={1}
          max={10}
          value={reviewers}
          onChange={setReviewers}
        />
        <section className="section" aria-label="Filters">
          <h2>Events that come in</h2>
          <FilterBar filters={filters} fields={fields} onChange={setFilters} />
          <p className="faint">Without a filter no event comes in by itself.</p>
        </section>
        <Switch label="Take new events" checked={enabled} onChange={setEnabled} />
      </div>
    </Dialog>
  );
}

// Puts events into a dataset or an annotation queue: one that exists, or a new one by its name.

import { useRef, useState } from "react";
import { DatapointService } from "../../../../../gen/waggle/v1/datapoint_pb.js";
import { DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { queryClient, useChange, useRpc } from "../../api/query.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { callRpc } from "../../api/transport.ts";
import { SelectField, TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ReadState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { type May, useMay } from "../../session/use-may.ts";
import { listedMax, unlistedNote } from "../datasets/listed.ts";

export type AddDialogProps = {
  readonly target: "dataset" | "queue";
  readonly eventIds: readonly string[];
  /** The events in words, such as `3 sessions`. */
  readonly things: string;
  readonly onClose: () => void;
  readonly onDone?: () => void;
};

type Named = { readonly id: string; readonly name: string };

const methods = {
  dataset: {
    add: DatapointService.method.createDatapointsFromEvents,
    create: DatasetService.method.createDataset,
  },
  queue: { add: QueueService.method.updateQueue, create: QueueService.method.createQueue },
} as const;

/** Services whose answers the addition makes old. */
const changedServices = {
  dataset: [DatasetService, DatapointService],
  queue: [QueueService],
} as const;

/** Returns whether a person may put events into a dataset or queue. */
export function mayAddTo(may: May, target: AddDialogProps["target"]): boolean {
  const { add, create } = methods[target];
  // A queue is made with its events, a dataset without.
  return may(add) || (target === "queue" && may(create));
}

const isNew = "";

export function AddDialog({ target, eventIds, things, onClose, onDone }: AddDialogProps) {
  const may = useMay();
  const mayCreate = may(methods[target].create);
  const { found: all, note, asked } = useTargets(target);
  const found = may(methods[target].add) ? all : all && [];
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState("");
  const projectId = useCurrentProjectId();
  const id = chosen ?? found?.[0]?.id ?? isNew;
  const made = useRef<Named>(undefined);
  const add = useChange<string, void>({
    mutationFn: async () => {
      const addition = { target, projectId, eventIds, id, name: name.trim() };
      if (target === "queue" || id !== isNew) return addEvents(addition);
      // A dataset whose events could not be added is there already when the person tries again.
      if (made.current?.name !== addition.name) {
        made.current = { id: await createDataset(addition), name: addition.name };
      }
      return addEvents({ ...addition, id: made.current.id });
    },
    onSuccess: (addedTo) => {
      for (const { typeName } of changedServices[target]) {
        void queryClient.invalidateQueries({ queryKey: [typeName] });
      }
      const label = found?.find((one) => one.id === addedTo)?.name ?? name.trim();
      showToast({ text: `${things} added to “${label}”.` });
      onClose();
      onDone?.();
    },
  });
  const isComplete = id !== isNew || (mayCreate && name.trim() !== "");
  const title = target === "dataset" ? "Add to dataset" : "Add to annotation queue";
  const newLabel = target === "dataset" ? "New dataset…" : "New queue…";
  return (
    <Dialog
      onClose={onClose}
      width="narrow"
      title={title}
      description={texts[target]}
      act={
        found && {
          label: `Add ${things}`,
          isForm: true,
          disabled: !isComplete,
          busyLabel: "Adding…",
          run: () => add.mutate(),
          change: add,
        }
      }
    >
      <ReadState read={asked} what="Looking for them" isInline />
      {found === undefined ? null : (
        <>
          <SelectField
            label={target === "dataset" ? "Dataset" : "Queue"}
            hint={note}
            value={id}
            options={[
              ...found.map((one) => ({ value: one.id, label: one.name })),
              ...(mayCreate ? [{ value: isNew, label: newLabel }] : []),
            ]}
            onChange={setChosen}
          />
          {id === isNew && mayCreate ? (
            <TextField label="Name" autoFocus maxLength={256} value={name} onChange={setName} />
          ) : null}
        </>
      )}
    </Dialog>
  );
}

const texts = {
  dataset: "Inputs, chat history and outputs become a datapoint each; the events stay as they are.",
  queue: "People score them there, one after another.",
} as const;

function useTargets(target: AddDialogProps["target"]) {
  const isDataset = target === "dataset";
  const { method } = DatasetService;
  const datasets = useRpc(method.listDatasets, { limit: listedMax }, { isEnabled: isDataset });
  const queues = useRpc(QueueService.method.listQueues, {}, { isEnabled: !isDataset });
  const asked = isDataset ? datasets : queues;
  const found: readonly Named[] | undefined = isDataset
    ? datasets.data?.datasets
    : queues.data?.queues;
  const note = unlistedNote(datasets.data);
  return { found, note, asked };
}

type Addition = {
  readonly target: AddDialogProps["target"];
  readonly projectId: string;
  readonly eventIds: readonly string[];
  /** Empty for a new queue. */
  readonly id: string;
  readonly name: string;
};

/** Adds the events; returns the id of the dataset or queue. */
async function addEvents({ target, projectId, eventIds, id, name }: Addition): Promise<string> {
  const options = { projectId };
  const ids = [...eventIds];
  if (target === "queue") {
    if (id !== isNew) {
      await callRpc(QueueService.method.updateQueue, { id, addEventIds: ids }, options);
      return id;
    }
    // Only the chosen events: no filter brings in more.
    const { queue } = await callRpc(
      QueueService.method.createQueue,
      { name, enabled: false, eventIds: ids },
      options,
    );
    return queue?.id ?? "";
  }
  await callRpc(
    DatapointService.method.createDatapointsFromEvents,
    { events: ids, datasetId: id },
    options,
  );
  return id;
}

type Made = Pick<Addition, "name" | "projectId">;

async function createDataset({ name, projectId }: Made): Promise<string> {
  const { result } = await callRpc(DatasetService.method.createDataset, { name }, { projectId });
  return result?.insertedId ?? "";
}

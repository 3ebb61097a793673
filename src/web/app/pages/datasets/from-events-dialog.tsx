// FromEventsDialog: makes datapoints of all events that match filters in a time range.

import { useMemo, useState } from "react";
import { DatapointService } from "../../../../../gen/waggle/v1/datapoint_pb.js";
import { DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { serviceNow } from "../../api/clock.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { FilterBar } from "../../design/filter-bar.tsx";
import { type FilterRow, toMessage } from "../../design/filters.ts";
import { formatCounted } from "../../design/format.ts";
import { Dialog } from "../../design/overlay.tsx";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { boundsOf, type TimeRange } from "../../design/time-range.ts";
import { showToast } from "../../design/toast.tsx";
import { useEventFields } from "../traces/event-fields.ts";

const weekMinutes = 7 * 24 * 60;
const onlyModels: FilterRow = { field: "event_type", operator: "is", value: "model" };

export type FromEventsDialogProps = { readonly datasetId: string; readonly onClose: () => void };

export function FromEventsDialog({ datasetId, onClose }: FromEventsDialogProps) {
  const [filters, setFilters] = useState<readonly FilterRow[]>([onlyModels]);
  const [range, setRange] = useState<TimeRange>({ last: weekMinutes });
  const [openedMs] = useState(() => serviceNow());
  const fields = useEventFields();
  const { from, to } = useMemo(() => boundsOf(range, openedMs), [range, openedMs]);
  const chosen = { filters: filters.map(toMessage), dateRange: { gte: from, lte: to ?? openedMs } };
  const found = useRpc(ExportService.method.searchEvents, {
    ...chosen,
    limit: 1,
    projections: ["event_id"],
  });
  const add = useRpcMutation(DatapointService.method.createDatapointsFromEvents, {
    changes: [
      DatapointService.method.listDatapoints,
      DatasetService.method.getDataset,
      DatasetService.method.listDatasets,
      DatasetService.method.listDatasetVersions,
    ],
    onDone: ({ insertedIds }) => {
      showToast({ text: `Added ${formatCounted(insertedIds.length, "datapoint")}`, tone: "good" });
      onClose();
    },
  });
  const count = found.data?.count;
  return (
    <Dialog
      onClose={onClose}
      title="Add datapoints from events"
      description="The ground truth is that of the feedback or, without one, the outputs."
      width="wide"
      act={{
        label: count === undefined ? "Add events" : `Add ${formatCounted(count, "event")}`,
        disabled: count === undefined || count === 0,
        busyLabel: "Adding",
        run: () => add.mutate({ ...chosen, selectAll: true, datasetId }),
        change: { isPending: add.isPending, error: add.error ?? found.error },
      }}
    >
      <div className="form">
        <div className="form-row">
          <TimeRangePicker value={range} onChange={setRange} />
          <FilterBar filters={filters} fields={fields} onChange={setFilters} />
        </div>
        <p role="status">
          {found.isPending ? "Counting events…" : null}
          {count === undefined ? null : `Matching: ${formatCounted(count, "event")}`}
        </p>
      </div>
    </Dialog>
  );
}

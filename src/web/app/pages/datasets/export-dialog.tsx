// ExportDialog: a dataset as a file, with the bytes that have arrived.

import { useEffect, useRef, useState } from "react";
import type { Dataset } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { ApiError } from "../../api/errors.ts";
import { readFile, saveFile } from "../../api/file.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { formatBytes } from "../../design/format.ts";
import { Dialog } from "../../design/overlay.tsx";
import { Segments } from "../../design/tabs.tsx";
import { showToast } from "../../design/toast.tsx";

const formats = {
  jsonl: { label: "JSON Lines", accept: "application/x-ndjson" },
  csv: { label: "CSV", accept: "text/csv" },
  parquet: { label: "Parquet", accept: "application/vnd.apache.parquet" },
} as const;
type Format = keyof typeof formats;

export type ExportDialogProps = { readonly dataset: Dataset; readonly onClose: () => void };

export function ExportDialog({ dataset, onClose }: ExportDialogProps) {
  const projectId = useCurrentProjectId();
  const [format, setFormat] = useState<Format>("jsonl");
  const [bytes, setBytes] = useState<number>();
  const [error, setError] = useState<ApiError | null>(null);
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const run = async (): Promise<void> => {
    const controller = new AbortController();
    leaving.current = controller;
    setError(null);
    setBytes(0);
    try {
      const file = await readFile({
        projectId,
        path: `/v1/datasets/${dataset.id}/export?version=${dataset.version}`,
        accept: formats[format].accept,
        signal: controller.signal,
        onBytes: setBytes,
      });
      saveFile(file, `${dataset.name.replace(/[^\w.-]+/g, "-")}-v${dataset.version}.${format}`);
      showToast({ text: `The file has ${formatBytes(file.size)}.`, tone: "good" });
      onClose();
    } catch (failure) {
      if (!controller.signal.aborted && failure instanceof ApiError) setError(failure);
    }
    setBytes(undefined);
  };
  return (
    <Dialog
      onClose={onClose}
      title="Export dataset"
      description={`Version ${dataset.version}, in a form that can be imported again.`}
      width="narrow"
      act={{
        label: "Export dataset",
        busyLabel: "Exporting",
        run: () => void run(),
        change: { isPending: bytes !== undefined, error },
      }}
    >
      <div className="form">
        <Segments
          label="Format"
          value={format}
          options={Object.entries(formats).map(([value, { label }]) => ({ value, label }))}
          onChange={(next) => setFormat(next as Format)}
        />
        <p className="soft" role="status">
          {bytes === undefined ? "" : `${formatBytes(bytes)} have arrived.`}
        </p>
      </div>
    </Dialog>
  );
}

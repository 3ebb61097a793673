// ImportDialog: adds the rows of a file, chosen or dropped, with progress and the report of a
// refused row. The service takes all rows or none.

import { useState } from "react";
import type { ImportDatasetResponse } from "../../../../../gen/waggle/v1/dataset_file_pb.js";
import { Button } from "../../design/button.tsx";
import { formatBytes, formatExactCount } from "../../design/format.ts";
import { TextField } from "../../design/fields.tsx";
import { Checkbox } from "../../design/input.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ErrorState, Progress } from "../../design/states.tsx";
import { FileDrop } from "./file-drop.tsx";
import { type Mapping, useImport } from "./use-import.ts";

const refused = "No row was stored. Correct the row, and import the file again.";
const unknownEnd =
  "All rows were stored, or none: the versions of the dataset say which. Without a new version, " +
  "import the file again.";

const noMapping: Mapping = { inputs: "", groundTruth: "", history: "" };
const mapped = [
  { key: "inputs", label: "Columns that become inputs" },
  { key: "groundTruth", label: "Columns that become the ground truth" },
  { key: "history", label: "Columns that become the history" },
] as const;

export type ImportDialogProps = { readonly datasetId: string; readonly onClose: () => void };

export function ImportDialog({ datasetId, onClose }: ImportDialogProps) {
  const [file, setFile] = useState<File>();
  const [isMapped, setMapped] = useState(false);
  const [mapping, setMapping] = useState(noMapping);
  const { state, run } = useImport(datasetId);
  const { progress, error, isRunning } = state;
  const isDone = progress?.done === true;
  return (
    <Dialog
      isSticky={isRunning}
      onClose={onClose}
      title="Import a file"
      description="JSON Lines, CSV or Parquet: all rows as one version of the dataset, or none."
      actions={
        <>
          <Button onClick={onClose}>{isDone ? "Close" : "Cancel"}</Button>
          {isDone ? null : (
            <Button
              variant="primary"
              disabled={file === undefined}
              busyLabel={isRunning && "Importing"}
              onClick={() => file && void run(file, isMapped ? mapping : noMapping)}
            >
              Import file
            </Button>
          )}
        </>
      }
    >
      <div className="form">
        <FileDrop onFile={setFile}>
          {file ? `${file.name}, ${formatBytes(file.size)}` : "Drop a file here, or choose one"}
        </FileDrop>
        <Checkbox
          label="Name the columns (by default those of an export: id, inputs, ground_truth …)"
          checked={isMapped}
          onChange={setMapped}
        />
        {isMapped
          ? mapped.map(({ key, label }) => (
              <TextField
                key={key}
                label={label}
                hint="Names with commas between them."
                value={mapping[key]}
                onChange={(text) => setMapping({ ...mapping, [key]: text })}
              />
            ))
          : null}
        {progress ? <ImportProgress progress={progress} /> : null}
        {error ? (
          <>
            <ErrorState error={error} isInline />
            <p className="soft">{error.isTransient ? unknownEnd : refused}</p>
          </>
        ) : null}
      </div>
    </Dialog>
  );
}

function ImportProgress({ progress }: { readonly progress: ImportDatasetResponse }) {
  const { done, rows, stored, added, changed, unchanged, version } = progress;
  return (
    <div className="section" role="status">
      <Progress
        label={done ? "Imported" : "Importing"}
        value={done ? 1 : rows === 0 ? 0 : stored / rows}
        detail={`${formatExactCount(stored)} of ${formatExactCount(rows)} rows`}
      />
      {done ? (
        <p>
          {`${formatExactCount(added)} added, ${formatExactCount(changed)} changed, `}
          {`${formatExactCount(unchanged)} as they were: version ${version}.`}
        </p>
      ) : null}
    </div>
  );
}

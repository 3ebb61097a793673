// FileDrop: a place for a file, by choice or by drop.

import { FileUp } from "lucide-react";
import { type ReactNode, useState } from "react";
import "./file-drop.css";

export type FileDropProps = {
  readonly onFile: (file: File) => void;
  readonly children: ReactNode;
};

export function FileDrop({ onFile, children }: FileDropProps) {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null): void => {
    const file = files?.[0];
    if (file) onFile(file);
  };
  return (
    <label
      className="file-drop"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer.files);
      }}
    >
      <FileUp aria-hidden />
      <span>{children}</span>
      <input
        type="file"
        className="visually-hidden"
        aria-label="File"
        accept=".jsonl,.ndjson,.json,.csv,.parquet"
        onChange={(event) => take(event.target.files)}
      />
    </label>
  );
}

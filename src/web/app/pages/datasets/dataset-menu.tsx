// DatasetMenu: what can be done with a dataset.

import { Download, Ellipsis, FileUp, Pencil, Trash2, Waypoints } from "lucide-react";
import { DatapointService } from "../../../../../gen/waggle/v1/datapoint_pb.js";
import { DatasetFileService } from "../../../../../gen/waggle/v1/dataset_file_pb.js";
import { DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { Button } from "../../design/button.tsx";
import { Menu } from "../../design/menu.tsx";

export type DatasetAct = "add" | "events" | "import" | "export" | "rename" | "delete";

/** The rpc of each act. */
export const methodsOfActs = {
  add: DatapointService.method.createDatapoint,
  events: DatapointService.method.createDatapointsFromEvents,
  import: DatasetFileService.method.importDataset,
  export: DatasetFileService.method.exportDataset,
  rename: DatasetService.method.updateDataset,
  delete: DatasetService.method.deleteDataset,
} as const;

export type DatasetMenuProps = {
  readonly mayAct: (act: DatasetAct) => boolean;
  readonly onAct: (act: DatasetAct) => void;
};

export function DatasetMenu({ mayAct, onAct }: DatasetMenuProps) {
  return (
    <Menu
      align="end"
      trigger={
        <Button size="small" icon={<Ellipsis />}>
          More
        </Button>
      }
      items={[
        mayAct("events") && {
          label: "Add from events",
          icon: <Waypoints />,
          onSelect: () => onAct("events"),
        },
        mayAct("import") && {
          label: "Import a file",
          icon: <FileUp />,
          keys: "i",
          onSelect: () => onAct("import"),
        },
        mayAct("export") && {
          label: "Export",
          icon: <Download />,
          onSelect: () => onAct("export"),
        },
        "line",
        mayAct("rename") && { label: "Rename", icon: <Pencil />, onSelect: () => onAct("rename") },
        mayAct("delete") && {
          label: "Delete dataset",
          icon: <Trash2 />,
          isDanger: true,
          onSelect: () => onAct("delete"),
        },
      ]}
    />
  );
}

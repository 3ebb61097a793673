// DatasetMenu: what can be done with a dataset.

import { Download, Ellipsis, FileUp, Pencil, Trash2, Waypoints } from "lucide-react";
import { Button } from "../../design/button.tsx";
import { Menu } from "../../design/menu.tsx";

export type DatasetAct = "add" | "events" | "import" | "export" | "rename" | "delete";

export function DatasetMenu({ onAct }: { readonly onAct: (act: DatasetAct) => void }) {
  return (
    <Menu
      align="end"
      trigger={
        <Button size="small" icon={<Ellipsis />}>
          More
        </Button>
      }
      items={[
        { label: "Add from events", icon: <Waypoints />, onSelect: () => onAct("events") },
        { label: "Import a file", icon: <FileUp />, keys: "i", onSelect: () => onAct("import") },
        { label: "Export", icon: <Download />, onSelect: () => onAct("export") },
        "line",
        { label: "Rename", icon: <Pencil />, onSelect: () => onAct("rename") },
        {
          label: "Delete dataset",
          icon: <Trash2 />,
          isDanger: true,
          onSelect: () => onAct("delete"),
        },
      ]}
    />
  );
}

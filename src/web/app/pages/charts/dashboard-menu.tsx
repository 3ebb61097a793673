// DashboardMenu: chooses a dashboard, makes, renames and deletes them.

import { ChevronDown, LayoutDashboard, Plus } from "lucide-react";
import { useState } from "react";
import { type Dashboard, DashboardService } from "../../../../../gen/waggle/v1/dashboard_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { TextField } from "../../design/fields.tsx";
import { Menu } from "../../design/menu.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { useMay } from "../../session/use-may.ts";

export type DashboardMenuProps = {
  readonly dashboards: readonly Dashboard[];
  readonly shown: Dashboard | undefined;
  readonly onShow: (id: string) => void;
};

export function DashboardMenu({ dashboards, shown, onShow }: DashboardMenuProps) {
  const [panel, setPanel] = useState<"new" | "rename" | "delete">();
  const may = useMay();
  const { createDashboard, updateDashboard, deleteDashboard } = DashboardService.method;
  const close = () => setPanel(undefined);
  return (
    <>
      <Menu
        trigger={
          <Button size="small" icon={<LayoutDashboard />} className="dashboard-button">
            <span className="truncate">{shown?.name ?? "Overview"}</span>
            <ChevronDown aria-hidden />
          </Button>
        }
        items={[
          {
            label: "Overview",
            isChecked: shown === undefined,
            onSelect: () => onShow("overview"),
          },
          ...dashboards.map(({ id, name }) => ({
            label: name,
            isChecked: id === shown?.id,
            onSelect: () => onShow(id),
          })),
          "line",
          may(createDashboard) && {
            label: "New dashboard",
            icon: <Plus />,
            onSelect: () => setPanel("new"),
          },
          shown !== undefined &&
            may(updateDashboard) && { label: "Rename", onSelect: () => setPanel("rename") },
          shown !== undefined &&
            may(deleteDashboard) && {
              label: "Delete dashboard",
              isDanger: true,
              onSelect: () => setPanel("delete"),
            },
        ]}
      />
      {panel === "new" ? <NameDialog onClose={close} onDone={onShow} /> : null}
      {panel === "rename" && shown ? (
        <NameDialog dashboard={shown} onClose={close} onDone={onShow} />
      ) : null}
      {shown ? (
        <ConfirmCall
          isOpen={panel === "delete"}
          onClose={close}
          title={`Delete the dashboard “${shown.name}”?`}
          description="Its charts stay in the project. This cannot be undone."
          action="Delete dashboard"
          busyLabel="Deleting…"
          method={DashboardService.method.deleteDashboard}
          input={{ dashboardId: shown.id }}
          changes={[DashboardService.method.listDashboards]}
          onDone={() => {
            close();
            onShow("overview");
          }}
        />
      ) : null}
    </>
  );
}

type NameDialogProps = {
  readonly dashboard?: Dashboard;
  readonly onClose: () => void;
  readonly onDone: (id: string) => void;
};

function NameDialog({ dashboard, onClose, onDone }: NameDialogProps) {
  const [name, setName] = useState(dashboard?.name ?? "");
  const options = {
    changes: [DashboardService.method.listDashboards],
    onDone: ({ data }: { readonly data?: { readonly id: string } }) => {
      onDone(data?.id ?? "overview");
      onClose();
    },
  };
  const create = useRpcMutation(DashboardService.method.createDashboard, options);
  const update = useRpcMutation(DashboardService.method.updateDashboard, options);
  const save = (): void => {
    if (dashboard) update.mutate({ dashboardId: dashboard.id, dashboard: { name } });
    else create.mutate({ dashboard: { name } });
  };
  return (
    <Dialog
      onClose={onClose}
      title={dashboard ? "Rename the dashboard" : "New dashboard"}
      width="narrow"
      act={{
        label: dashboard ? "Rename" : "Create dashboard",
        isForm: true,
        disabled: name.trim() === "",
        busyLabel: "Saving…",
        run: save,
        change: dashboard ? update : create,
      }}
    >
      <TextField label="Name" autoFocus maxLength={256} value={name} onChange={setName} />
    </Dialog>
  );
}

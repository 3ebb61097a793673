// The form of an alert, with the values of past periods beside it and the threshold as a line.

import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { AlertService } from "../../../../../gen/waggle/v1/alert_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { toChanged } from "../../api/changes.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { toNumber } from "../../design/format.ts";
import { ReadState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { LeaveGuard } from "../../shell/leave-guard.tsx";
import { Crumbs } from "../../shell/crumbs.tsx";
import { Page } from "../../shell/page.tsx";
import { AlertForm } from "./alert-form.tsx";
import { AlertPreview } from "./alert-preview.tsx";
import { type Draft, draftDefault, fromAlert, toAlertFields } from "./draft.ts";
import { alertEditRoute } from "./route.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import "../charts/chart-edit-page.css";
import "./alert-page.css";

export function AlertEditPage() {
  const { alert: alertId } = alertEditRoute.useSearch();
  const stored = useRpc(
    AlertService.method.getAlert,
    { alertId: alertId ?? "" },
    { isEnabled: alertId !== undefined },
  );
  const alert = stored.data?.data;
  if (alertId !== undefined && !alert) {
    return (
      <Page title="Alert">
        <ReadState read={stored} what="Loading the alert" />
      </Page>
    );
  }
  return (
    <Editor
      key={alertId ?? "new"}
      alertId={alertId}
      first={alert ? fromAlert(alert) : draftDefault}
    />
  );
}

type EditorProps = { readonly alertId: string | undefined; readonly first: Draft };

function Editor({ alertId, first: stored }: EditorProps) {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const [first] = useState(stored);
  const [draft, setDraft] = useState(first);
  const isSaved = useRef(false);
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string }>();
  const open = (id: string) =>
    void navigate({
      to: "/app/p/$projectId/alerts/$alertId",
      params: { projectId, alertId: id },
    });
  const options = {
    changes: [AlertService.method.listAlerts, AlertService.method.getAlert],
    onDone: (answer: { data?: { id: string }; signingSecret?: string | undefined }) => {
      const id = answer.data?.id ?? "";
      isSaved.current = true;
      showToast({ text: "Saved the alert" });
      if (answer.signingSecret) setMade({ id, secret: answer.signingSecret });
      else open(id);
    },
  };
  const { createAlert, updateAlert } = AlertService.method;
  const method = alertId === undefined ? createAlert : updateAlert;
  const maySave = useMay()(method);
  const create = useRpcMutation(createAlert, options);
  const update = useRpcMutation(updateAlert, options);
  const canSave = draft.name.trim() !== "" && toNumber(draft.value) !== undefined;
  const save = (): void => {
    if (!canSave) return;
    const alert = toAlertFields(draft);
    if (alertId === undefined) create.mutate({ alert });
    else update.mutate({ alertId, alert: toChanged(toAlertFields(first), alert) as typeof alert });
  };
  useCommands([
    maySave && { id: "alert.save", title: "Save the alert", keys: "mod+enter", run: save },
  ]);
  const error = create.error ?? update.error;
  return (
    <Page
      title={alertId === undefined ? "New alert" : "Change alert"}
      breadcrumb={<Crumbs list="alerts" name={alertId === undefined ? "New alert" : first.name} />}
      actions={
        maySave ? (
          <Button
            variant="primary"
            disabled={!canSave}
            title={canSave ? undefined : "Give a name and a threshold first"}
            busyLabel={(create.isPending || update.isPending) && "Saving…"}
            onClick={save}
          >
            Save alert
          </Button>
        ) : null
      }
    >
      {maySave ? (
        <div className="chart-edit">
          <AlertForm
            draft={draft}
            error={error}
            isNew={alertId === undefined}
            onChange={setDraft}
          />
          <AlertPreview draft={draft} error={error} />
        </div>
      ) : (
        <div className="scroll">
          <ReadOnlyNote method={method} act="change alerts" />
        </div>
      )}
      <LeaveGuard
        isUnsaved={() => !isSaved.current && JSON.stringify(draft) !== JSON.stringify(first)}
      />
      <SecretDialog secret={made?.secret} onClose={() => open(made?.id ?? "")} />
    </Page>
  );
}

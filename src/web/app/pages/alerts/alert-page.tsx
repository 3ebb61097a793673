// One alert: its state and condition, the values that its checks saw, and every delivery.

import { useNavigate } from "@tanstack/react-router";
import { EllipsisVertical, Pause, Pencil, Play, Volume2, VolumeX } from "lucide-react";
import { useState } from "react";
import { type Alert, AlertService } from "../../../../../gen/waggle/v1/alert_pb.js";
import type { Filter } from "../../../../../gen/waggle/v1/filter_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import type { ApiError } from "../../api/errors.ts";
import { sharedRefreshMs, useRpc, useRpcMutation } from "../../api/query.ts";
import { Badge, Status } from "../../design/badge.tsx";
import { Button, IconButton } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { type Operator, takesValue } from "../../design/filters.ts";
import { Menu } from "../../design/menu.tsx";
import { ErrorState, Loading } from "../../design/states.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { KeyValue, Time } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Crumbs } from "../../shell/crumbs.tsx";
import { Page } from "../../shell/page.tsx";
import { Checks } from "./checks.tsx";
import { Deliveries } from "./deliveries.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { TargetLine } from "./target-line.tsx";
import { TestButton } from "./test-button.tsx";
import { stateTones } from "./alert-tones.ts";
import { describeCondition, describeThreshold } from "./alert-words.ts";
import { alertRoute, type AlertSearch } from "./route.tsx";
import "./alert-page.css";

const changes = [AlertService.method.getAlert, AlertService.method.listAlerts];

export function AlertPage() {
  const { alertId } = alertRoute.useParams();
  const { data, error, refetch } = useRpc(
    AlertService.method.getAlert,
    { alertId },
    { refreshMs: sharedRefreshMs },
  );
  const alert = data?.data;
  // A poll that fails must not close a dialog, which may show a secret for the only time.
  if (error && (!alert || error.errorCode === "NOT_FOUND")) {
    return (
      <Page title="Alert" breadcrumb={<Crumbs list="alerts" name="Alert" />}>
        <ErrorState error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  return alert ? <AlertView alert={alert} unread={error} /> : <Loading what="Loading the alert" />;
}

function AlertView({ alert, unread }: { readonly alert: Alert; readonly unread: ApiError | null }) {
  const { tab = "checks" } = alertRoute.useSearch();
  const navigate = useNavigate();
  const { id: alertId, isActive, isMuted, name, state } = alert;
  const update = useRpcMutation(AlertService.method.updateAlert, { changes });
  const setTab = (next: string) => {
    const search: AlertSearch = next === "deliveries" ? { tab: next } : {};
    void navigate({ to: ".", search });
  };
  return (
    <Page
      title={name}
      breadcrumb={
        <Crumbs list="alerts" name={name}>
          <Status tone={stateTones[state] ?? "neutral"}>{state}</Status>
        </Crumbs>
      }
      actions={
        <Acts alert={alert} update={(fields) => update.mutate({ alertId, alert: fields })} />
      }
    >
      <div className="alert-page">
        {unread ? <ErrorState error={unread} isInline /> : null}
        {update.error ? <ErrorState error={update.error} isInline /> : null}
        <AlertFacts alert={alert} />
        {isActive && isMuted ? (
          <p className="alert-note">Muted: checks go on, nothing is sent.</p>
        ) : null}
        {isActive ? null : <p className="alert-note">Paused: it is not checked.</p>}
        <Tabs
          label="History"
          value={tab}
          onChange={setTab}
          tabs={[
            { value: "checks", label: "Checks", content: <Checks alert={alert} /> },
            { value: "deliveries", label: "Deliveries", content: <Deliveries alertId={alertId} /> },
          ]}
        />
      </div>
    </Page>
  );
}

type ActsProps = {
  readonly alert: Alert;
  readonly update: (fields: { isActive?: boolean; isMuted?: boolean }) => void;
};

function Acts({ alert, update }: ActsProps) {
  const { id, isActive, isMuted } = alert;
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const [panel, setPanel] = useState<"delete" | "secret">();
  const edit = () =>
    void navigate({
      to: "/app/p/$projectId/alerts/edit",
      params: { projectId },
      search: { alert: id },
    });
  const may = useMay();
  const mayChange = may(AlertService.method.updateAlert);
  const muteTitle = isMuted ? "Unmute" : "Mute";
  const pauseTitle = isActive ? "Pause" : "Resume";
  const mute = () => update({ isMuted: !isMuted });
  const pause = () => update({ isActive: !isActive });
  useCommands([
    mayChange && { id: "alert.edit", title: "Change the alert", keys: "e", run: edit },
    mayChange && { id: "alert.mute", title: muteTitle, keys: "m", run: mute },
    mayChange && { id: "alert.pause", title: pauseTitle, keys: "p", run: pause },
  ]);
  const hasWebhook = alert.notificationDetails?.critical?.channel === "WEBHOOK";
  return (
    <>
      {may(AlertService.method.testAlert) ? <TestButton alertId={id} /> : null}
      {mayChange ? (
        <Button icon={<Pencil />} onClick={edit}>
          Change
        </Button>
      ) : null}
      <Menu
        align="end"
        trigger={<IconButton label="More acts" icon={<EllipsisVertical />} />}
        items={[
          mayChange && {
            label: muteTitle,
            icon: isMuted ? <Volume2 /> : <VolumeX />,
            keys: "m",
            onSelect: mute,
          },
          mayChange && {
            label: pauseTitle,
            icon: isActive ? <Pause /> : <Play />,
            keys: "p",
            onSelect: pause,
          },
          mayChange &&
            hasWebhook && {
              label: "Replace the signing secret",
              onSelect: () => setPanel("secret"),
            },
          "line",
          may(AlertService.method.deleteAlert) && {
            label: "Delete alert",
            isDanger: true,
            onSelect: () => setPanel("delete"),
          },
        ]}
      />
      <ConfirmCall
        isOpen={panel === "delete"}
        onClose={() => setPanel(undefined)}
        title={`Delete “${alert.name}”?`}
        description="Its checks and deliveries go with it. This cannot be undone."
        action="Delete alert"
        busyLabel="Deleting…"
        method={AlertService.method.deleteAlert}
        input={{ alertId: id }}
        changes={[AlertService.method.listAlerts]}
        onDone={() => void navigate({ to: "/app/p/$projectId/alerts", params: { projectId } })}
      />
      <ReplaceSecret
        alert={alert}
        isOpen={panel === "secret"}
        onClose={() => setPanel(undefined)}
      />
    </>
  );
}

type PanelProps = {
  readonly alert: Alert;
  readonly isOpen: boolean;
  readonly onClose: () => void;
};

function ReplaceSecret({ alert, isOpen, onClose }: PanelProps) {
  const [secret, setSecret] = useState<string>();
  return (
    <>
      <ConfirmCall
        isOpen={isOpen}
        onClose={onClose}
        title="Replace the signing secret?"
        description="Receivers that check signatures need the new one at once."
        action="Replace secret"
        busyLabel="Replacing…"
        method={AlertService.method.updateAlert}
        input={{ alertId: alert.id, alert: { rotateSigningSecret: true } }}
        onDone={({ signingSecret }) => {
          onClose();
          setSecret(signingSecret);
        }}
      />
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}

function AlertFacts({ alert }: { readonly alert: Alert }) {
  const { thresholds, notificationDetails, minimumSampleSize } = alert;
  const { isActive, lastTrigger, nextWindowEnd } = alert;
  const { resolved } = thresholds ?? {};
  return (
    <section className="alert-facts" aria-label="Condition">
      {alert.description ? <p>{alert.description}</p> : null}
      <KeyValue
        items={[
          { label: "Triggers when", value: describeCondition(alert, thresholds?.critical) },
          {
            label: "Resolved when",
            value: resolved ? describeThreshold(alert, resolved) : "it no longer triggers",
          },
          {
            label: "Events",
            value: (
              <span className="alert-filters">
                {alert.filters.map((filter, index) => (
                  <Badge key={index}>
                    {filter.field} {filter.operator} {textOf(filter)}
                  </Badge>
                ))}
                {minimumSampleSize > 0 ? <Badge>at least {minimumSampleSize}</Badge> : null}
              </span>
            ),
          },
          { label: "Tells", value: <TargetLine target={notificationDetails?.critical} /> },
          notificationDetails?.resolved && {
            label: "When resolved",
            value: <TargetLine target={notificationDetails.resolved} />,
          },
          { label: "Last triggered", value: <Time value={lastTrigger} /> },
          { label: "Next check", value: <Time value={isActive ? nextWindowEnd : undefined} /> },
        ]}
      />
    </section>
  );
}

function textOf({ operator, value }: Filter): string {
  const kind = value?.kind;
  if (kind?.case === "nullValue") return takesValue(operator as Operator) ? "null" : "";
  return kind && "value" in kind && typeof kind.value !== "object" ? String(kind.value) : "";
}

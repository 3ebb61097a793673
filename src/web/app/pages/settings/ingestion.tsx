// Ingestion of a project: what its callers sent in the last hours, and why some was refused.

import { useSearch } from "@tanstack/react-router";
import { Inbox } from "lucide-react";
import {
  type Ingestion,
  type IngestionGroup,
  IngestionService,
} from "../../../../../gen/waggle/v1/ingestion_pb.js";
import { useRpc } from "../../api/query.ts";
import { toMs } from "../../api/scope.ts";
import { Status } from "../../design/badge.tsx";
import { HistogramChart } from "../../design/chart.tsx";
import { formatCount, formatExactCount } from "../../design/format.ts";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { Segments } from "../../design/tabs.tsx";
import { Count, KeyValue, Time } from "../../design/values.tsx";
import { useSearchChange } from "../../shell/search.ts";
import type { ProjectSettingsSearch } from "./route.tsx";
import { type SettingsColumn, SettingsTable } from "./settings-table.tsx";

const refreshMs = 5_000;
const hourMs = 3_600_000;

const ranges = [
  { value: "24", label: "24 hours" },
  { value: "168", label: "7 days" },
  { value: "720", label: "30 days" },
] as const;

export function IngestionSettings({ projectId }: { readonly projectId: string }) {
  const search = useSearch({ strict: false });
  const change = useSearchChange<ProjectSettingsSearch>();
  const range = ranges.find(({ value }) => value === search.hours) ?? ranges[0];
  const input = { projectId, hours: Number(range.value) };
  const answer = useRpc(IngestionService.method.getIngestion, input, { refreshMs });
  const ingestion = answer.data?.data;
  return (
    <div className="settings-sections">
      <div className="settings-acts">
        <Segments
          label="Time"
          options={ranges}
          value={range.value}
          onChange={(hours) => change({ hours })}
        />
      </div>
      <p className="settings-note">
        Calls that write events, by SDK, HTTP, gRPC or OpenTelemetry. A call with a key that is
        unknown here, revoked or of another project is not among them.
      </p>
      <ReadState read={answer} what="Loading the ingestion" />
      {ingestion ? <Report ingestion={ingestion} hours={input.hours} /> : null}
    </div>
  );
}

type ReportProps = { readonly ingestion: Ingestion; readonly hours: number };

function Report({ ingestion, hours }: ReportProps) {
  const { groups, groupsTotal } = ingestion;
  if (groups.length === 0) {
    return (
      <EmptyState icon={<Inbox />} title="Nothing was sent">
        Check the address and the key of what should send here, or choose a longer time.
      </EmptyState>
    );
  }
  const refused = groups.filter(isRefused);
  const accepted = groups.filter(({ reason }) => reason === "OK");
  return (
    <>
      <Totals ingestion={ingestion} />
      <Course ingestion={ingestion} hours={hours} />
      <section>
        <h2>Refused</h2>
        {refused.length === 0 ? (
          <p className="settings-note">Nothing was refused.</p>
        ) : (
          <SettingsTable label="Refused" columns={refusedColumns} rows={refused} idOf={idOf} />
        )}
      </section>
      {accepted.length === 0 ? null : (
        <section>
          <h2>Accepted</h2>
          <SettingsTable label="Accepted" columns={acceptedColumns} rows={accepted} idOf={idOf} />
        </section>
      )}
      {groupsTotal > groups.length ? (
        <p className="settings-note">
          The latest {formatExactCount(groups.length)} of {formatExactCount(groupsTotal)} rows.
        </p>
      ) : null}
    </>
  );
}

const isRefused = (group: IngestionGroup) => group.reason !== "OK" || group.rejectedEvents > 0;

function Totals({ ingestion: { hours } }: Pick<ReportProps, "ingestion">) {
  const sum = (read: (hour: Ingestion["hours"][number]) => number): number =>
    hours.reduce((total, hour) => total + read(hour), 0);
  return (
    <KeyValue
      isRow
      items={[
        { label: "Events stored", value: <Count value={sum((hour) => hour.storedEvents)} /> },
        { label: "Calls accepted", value: <Count value={sum((hour) => hour.acceptedCalls)} /> },
        { label: "Events rejected", value: <Count value={sum((hour) => hour.rejectedEvents)} /> },
        { label: "Calls refused", value: <Count value={sum((hour) => hour.refusedCalls)} /> },
      ]}
    />
  );
}

function Course({ ingestion, hours }: ReportProps) {
  const from = toMs(ingestion.from) ?? 0;
  const times = Array.from({ length: hours }, (_, index) => from + index * hourMs);
  const byTime = new Map(ingestion.hours.map((hour) => [toMs(hour.at), hour]));
  const found = times.map((time) => byTime.get(time));
  return (
    <HistogramChart
      label="Events by hour"
      times={times}
      unit="hour"
      series={[
        { label: "Events stored", values: found.map((hour) => hour?.storedEvents ?? 0), color: 1 },
        {
          label: "Events rejected and calls refused",
          values: found.map((hour) => (hour ? hour.rejectedEvents + hour.refusedCalls : 0)),
          color: "bad",
        },
      ]}
      format={formatCount}
      heightPx={160}
    />
  );
}

const idOf = ({ actorId, rpc, reason }: IngestionGroup) => `${actorId} ${rpc} ${reason}`;

/** Ways in by their rpc, as those who send know them. */
const ways: Readonly<Record<string, string>> = {
  "opentelemetry.proto.collector.trace.v1.TraceService/Export": "OpenTelemetry traces",
  "opentelemetry.proto.collector.logs.v1.LogsService/Export": "OpenTelemetry logs",
};

const nameOf = (rpc: string) => ways[rpc] ?? rpc.slice(rpc.indexOf("/") + 1);

const callerColumn: SettingsColumn<IngestionGroup> = {
  header: "Caller",
  titleOf: ({ actorType, actorName, actorId }) => `${actorType} ${actorName} (${actorId})`,
  cell: ({ actorName, rpc }) => (
    <>
      <span className="truncate">{actorName}</span>
      <small className="truncate">{nameOf(rpc)}</small>
    </>
  ),
};

const lastColumn: SettingsColumn<IngestionGroup> = {
  header: "Last",
  cell: ({ lastAt }) => <Time value={lastAt} />,
};

const callsColumn: SettingsColumn<IngestionGroup> = {
  header: "Calls",
  align: "end",
  cell: ({ calls }) => <Count value={calls} />,
};

const acceptedColumns: readonly SettingsColumn<IngestionGroup>[] = [
  callerColumn,
  callsColumn,
  {
    header: "Events stored",
    align: "end",
    isMajor: true,
    cell: ({ storedEvents }) => <Count value={storedEvents} />,
  },
  lastColumn,
];

const refusedColumns: readonly SettingsColumn<IngestionGroup>[] = [
  {
    header: "What the last refusal said",
    className: "ingestion-said",
    cell: ({ reason, message = "" }) => (
      <>
        <Status tone={reason === "CANCELED" ? "warn" : "bad"}>{titleOf(reason)}</Status>
        <p>{message}</p>
      </>
    ),
  },
  callerColumn,
  callsColumn,
  {
    header: "Events rejected",
    align: "end",
    cell: ({ rejectedEvents }) => <Count value={rejectedEvents} />,
  },
  lastColumn,
];

/** Outcomes whose names do not say what happened; the others are the reasons of errors. */
function titleOf(reason: string): string {
  if (reason === "OK") return "Some events rejected";
  if (reason === "CANCELED") return "The client left before the answer";
  if (reason === "NOT_FOUND") return "The caller may not send this (404)";
  return reason;
}

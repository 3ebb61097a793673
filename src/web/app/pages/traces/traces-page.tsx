// The traces: sessions and events of a time range, with filters, search, saved views, totals, a
// histogram, what went wrong, and a list that can be followed as it grows.

import { Radio } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { serviceNow } from "../../api/clock.ts";
import { Button } from "../../design/button.tsx";
import { Loading } from "../../design/states.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { rangeDefault, type TimeRange } from "../../design/time-range.ts";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { ColumnPicker } from "./column-picker.tsx";
import { pickColumns } from "./columns.ts";
import { CopyMenu } from "./copy-menu.tsx";
import { eventColumns, eventDefaults } from "./event-columns.tsx";
import { EventList, type ListViewProps } from "./event-list.tsx";
import { useFirstSession } from "./first-visit/use-first-session.ts";
import { OverviewStrip } from "./overview.tsx";
import { sessionColumns, sessionDefaults } from "./session-columns.tsx";
import { SessionList } from "./session-list.tsx";
import { TracesToolbar } from "./traces-toolbar.tsx";
import { useOverview } from "./use-overview.ts";
import { noRows, useTracesView } from "./use-traces-view.ts";
import { ViewsMenu } from "./views-menu.tsx";
import "./traces-page.css";

// Parts that most visits do without load when they are needed.
const FirstVisit = lazy(async () => ({
  default: (await import("./first-visit/first-visit.tsx")).FirstVisit,
}));
const SelectionBar = lazy(async () => ({
  default: (await import("./selection-bar.tsx")).SelectionBar,
}));

export function TracesPage() {
  // A project without any trace shows how to send the first one.
  const { session, isFirstVisit, fault } = useFirstSession();
  if (!isFirstVisit) return <Traces />;
  return (
    <Page title="Traces">
      <Suspense fallback={<Loading what="Loading the first steps" />}>
        <FirstVisit arrived={session} fault={fault} />
      </Suspense>
    </Page>
  );
}

function Traces() {
  const view = useTracesView();
  const { search, setSearch, question, isLive, selected, setSelected } = view;
  const overview = useOverview(question, isLive);
  const isEvents = question.tab === "events";
  return (
    <Page
      title="Traces"
      actions={<TracesActions view={view} />}
      toolbar={<TracesToolbar search={search} setSearch={setSearch} question={question} />}
    >
      <OverviewStrip
        overview={overview}
        isSessions={!isEvents}
        onRange={(range) => setSearch({ range })}
        onError={view.showError}
      />
      <TracesTabs view={view} />
      {selected.size === 0 ? null : (
        <Suspense>
          <SelectionBar
            ids={[...selected]}
            noun={isEvents ? ["event", "events"] : ["session", "sessions"]}
            onClear={() => setSelected(noRows)}
          />
        </Suspense>
      )}
    </Page>
  );
}

type ViewProps = { readonly view: ReturnType<typeof useTracesView> };

/** Saved views, live, and the time range. */
function TracesActions({ view }: ViewProps) {
  const { search, setSearch, question, isLive } = view;
  const [isRangeOpen, setRangeOpen] = useState(false);
  const setRange = (range: TimeRange) => setSearch({ range });
  const toggleLive = () => setSearch({ live: isLive ? undefined : true });
  const chooseRange = () => setRangeOpen(true);
  const zoomOut = () => setRange(widened(question));
  useCommands([
    { id: "traces.range", title: "Choose the time range", keys: "t", run: chooseRange },
    { id: "traces.renew", title: "Read everything anew", keys: "r", run: view.renew },
    { id: "traces.out", title: "Zoom out", keys: "-", run: zoomOut },
    { id: "traces.live", title: liveTitles[String(isLive)] ?? "", keys: "l", run: toggleLive },
  ]);
  return (
    <>
      <ViewsMenu search={search} onApply={view.apply} />
      <Button
        size="small"
        icon={<Radio />}
        aria-pressed={isLive}
        data-state={isLive ? "open" : undefined}
        onClick={toggleLive}
      >
        Live
      </Button>
      <TimeRangePicker
        value={search.range ?? rangeDefault}
        onChange={setRange}
        isOpen={isRangeOpen}
        onOpenChange={setRangeOpen}
      />
    </>
  );
}

/** The two lists, of which one is shown. */
function TracesTabs({ view }: ViewProps) {
  const { search, setSearch, question, isLive, round, selected, setSelected } = view;
  const isEvents = question.tab === "events";
  const { ids } = isEvents
    ? pickColumns(eventColumns, search.columns, eventDefaults)
    : pickColumns(sessionColumns, search.columns, sessionDefaults);
  const lists: ListViewProps = {
    ...view.listProps,
    question,
    isLive,
    round,
    selected,
    onSelect: setSelected,
  };
  return (
    <Tabs
      label="Traces"
      value={question.tab}
      onChange={(tab) => view.setTab(tab === "events" ? "events" : undefined)}
      actions={
        <span className="traces-tab-actions">
          <CopyMenu question={question} />
          <ColumnPicker
            all={isEvents ? eventColumns : sessionColumns}
            shown={ids}
            onChange={(columns) => setSearch({ columns })}
          />
        </span>
      }
      tabs={[
        { value: "sessions", label: "Sessions", content: <SessionList {...lists} /> },
        { value: "events", label: "Events", content: <EventList {...lists} /> },
      ]}
    />
  );
}

const liveTitles: Readonly<Record<string, string>> = {
  true: "Stop following",
  false: "Follow live",
};

/** Returns a range of twice the width around the shown one. */
function widened({ from, to = serviceNow() }: { from: number; to?: number }): TimeRange {
  const half = Math.round((to - from) / 2);
  return { from: from - half, to: Math.min(to + half, serviceNow()) };
}

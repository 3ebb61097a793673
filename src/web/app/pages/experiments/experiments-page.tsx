// The experiment runs of a project; two that are selected are compared.

import { GitCompareArrows, FlaskConical } from "lucide-react";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import {
  type ListRunsResponse,
  type Run,
  RunService,
} from "../../../../../gen/waggle/v1/run_pb.js";
import { ExecutionService } from "../../../../../gen/waggle/v1/execution_pb.js";
import { useRpc } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { formatCounted } from "../../design/format.ts";
import { SearchBox } from "../../design/search-box.tsx";
import { EmptyState } from "../../design/states.tsx";
import { useCommands } from "../../shell/commands.ts";
import { ItemTable, useNewItem } from "../../shell/item-table.tsx";
import { Page } from "../../shell/page.tsx";
import { useSearchChange } from "../../shell/search.ts";
import { Comparison } from "./comparison.tsx";
import { NewRunDialog } from "./new-run-dialog.tsx";
import { experimentsRoute, type ExperimentsSearch } from "./route.tsx";
import { runColumns } from "./run-columns.tsx";
import "../../design/layout.css";
import "./experiments.css";

const refreshMs = 5_000;

export function ExperimentsPage() {
  const { base, new: newer } = experimentsRoute.useSearch();
  return base !== undefined && newer !== undefined ? (
    <Comparison baseId={base} newId={newer} />
  ) : (
    <Runs />
  );
}

function Runs() {
  const { name = "", page = 1 } = experimentsRoute.useSearch();
  const setSearch = useSearchChange<ExperimentsSearch>();
  const [selected, setSelected] = useState<ReadonlyMap<string, Run>>(new Map());
  const list = useRpc(
    RunService.method.listRuns,
    { name, page, limit: 100 },
    { keepsPrevious: true, refreshMs },
  );
  const { data } = list;
  // The two may stand on different pages. The older one is the base.
  const [later, earlier] = [...selected.values()].sort((a, b) => createdMs(b) - createdMs(a));
  const selectedIds = useMemo(() => new Set(selected.keys()), [selected]);
  const select = (ids: ReadonlySet<string>): void => {
    const known = new Map([
      ...selected,
      ...(data?.evaluations ?? []).map((run) => [run.id, run] as const),
    ]);
    setSelected(new Map([...known].filter(([id]) => ids.has(id))));
  };
  const compare = () => {
    if (later && earlier) setSearch({ base: earlier.id, new: later.id });
  };
  const { create, creating } = useNewItem({
    path: "experiments",
    method: ExecutionService.method.executeRun,
    title: "Start a run",
    label: "Start run",
    dialog: (onClose, onStarted) => <NewRunDialog onClose={onClose} onStarted={onStarted} />,
  });
  useCommands([
    { id: "runs.compare", title: "Compare the two selected runs", keys: "c", run: compare },
  ]);
  return (
    <Page
      title="Experiments"
      actions={
        <>
          <Button
            size="small"
            icon={<GitCompareArrows />}
            disabled={selected.size !== 2}
            onClick={compare}
          >
            Compare two
          </Button>
          {create}
        </>
      }
      toolbar={<RunsToolbar name={name} page={page} list={data} />}
    >
      <ItemTable
        path="experiments"
        label="Runs"
        read={list}
        columns={runColumns}
        rows={data?.evaluations}
        selected={selectedIds}
        onSelect={select}
        empty={<NoRuns name={name} page={page} create={create} />}
      />
      {creating}
    </Page>
  );
}

type NoRunsProps = {
  readonly name: string;
  readonly page: number;
  readonly create: ReactNode;
};

function NoRuns({ name, page, create }: NoRunsProps) {
  const setSearch = useSearchChange<ExperimentsSearch>();
  if (name === "" && page === 1) {
    return (
      <EmptyState icon={<FlaskConical />} title="No runs yet" action={create}>
        A run has a prompt answer each datapoint of a dataset, and scores the answers. Select two
        runs to compare them.
      </EmptyState>
    );
  }
  const showNewest = (
    <Button size="small" onClick={() => setSearch({ name: undefined, page: undefined })}>
      Show the newest runs
    </Button>
  );
  const title = name === "" ? "No runs on this page" : `No run has “${name}” in its name`;
  return <EmptyState icon={<FlaskConical />} title={title} action={showNewest} />;
}

function createdMs({ createdAt }: Run): number {
  return createdAt ? timestampMs(createdAt) : 0;
}

type PagerProps = {
  readonly page: number;
  readonly hasNext: boolean;
  readonly onPage: (page: number) => void;
};

function Pager({ page, hasNext, onPage }: PagerProps) {
  if (page === 1 && !hasNext) return null;
  return (
    <>
      <Button size="small" disabled={page === 1} onClick={() => onPage(page - 1)}>
        Newer
      </Button>
      <Button size="small" disabled={!hasNext} onClick={() => onPage(page + 1)}>
        Older
      </Button>
    </>
  );
}

type RunsToolbarProps = {
  readonly name: string;
  readonly page: number;
  readonly list: ListRunsResponse | undefined;
};

function RunsToolbar({ name, page, list: data }: RunsToolbarProps) {
  const setSearch = useSearchChange<ExperimentsSearch>();
  const rename = useCallback(
    (words: string) => setSearch({ name: words === "" ? undefined : words, page: undefined }),
    [setSearch],
  );
  return (
    <>
      <SearchBox label="Name of a run" placeholder="Name of a run" words={name} onChange={rename} />
      <span className="soft" role="status">
        {data?.pagination ? formatCounted(data.pagination.total, "run") : ""}
      </span>
      <Pager
        page={page}
        hasNext={data?.pagination?.hasNext === true}
        onPage={(next) => setSearch({ page: next === 1 ? undefined : next })}
      />
    </>
  );
}

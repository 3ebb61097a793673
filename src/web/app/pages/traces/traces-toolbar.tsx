// Search, kinds of events and filters of the traces.

import { useRef, useState } from "react";
import { FilterBar } from "../../design/filter-bar.tsx";
import { Segments } from "../../design/tabs.tsx";
import { useCommands } from "../../shell/commands.ts";
import type { Question } from "./question.ts";
import type { Changes, EventKind, TracesSearch } from "./search.ts";
import { SearchBox } from "../../design/search-box.tsx";
import { useFields, useSuggestions } from "./use-catalogue.ts";

export type TracesToolbarProps = {
  readonly search: TracesSearch;
  readonly setSearch: (change: Changes) => void;
  readonly question: Question;
};

const kinds = [
  { value: "", label: "All" },
  { value: "model", label: "Models" },
  { value: "tool", label: "Tools" },
  { value: "chain", label: "Chains" },
] as const;

export function TracesToolbar({ search, setSearch, question }: TracesToolbarProps) {
  const field = useRef<HTMLInputElement>(null);
  const [isAdding, setAdding] = useState(false);
  const fields = useFields(question.tab);
  const suggest = useSuggestions(question);
  useCommands([
    { id: "traces.search", title: "Search text", keys: "/", run: () => field.current?.focus() },
    { id: "traces.filter", title: "Add a filter", keys: "f", run: () => setAdding(true) },
  ]);
  return (
    <>
      <SearchBox
        label="Search in names, errors, inputs and outputs"
        placeholder="Search text…"
        field={field}
        words={search.q ?? ""}
        onChange={(words) => setSearch({ q: words === "" ? undefined : words })}
      />
      {question.tab === "events" ? (
        <Segments
          label="Type of events"
          options={kinds}
          value={search.kind ?? ""}
          onChange={(kind) => setSearch({ kind: kind === "" ? undefined : (kind as EventKind) })}
        />
      ) : null}
      <FilterBar
        filters={search.filters ?? []}
        fields={fields}
        suggest={suggest}
        isAdding={isAdding}
        onAddingChange={setAdding}
        onChange={(next) => setSearch({ filters: next.length === 0 ? undefined : next })}
      />
    </>
  );
}

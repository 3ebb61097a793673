// The filters of the audit log, as the service compares them: who, what, which resource, and when.

import { useEffect, useState } from "react";
import { Button } from "../../design/button.tsx";
import { Input } from "../../design/input.tsx";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { boundsOf, parseTimeRange, rangeDefault, type TimeRange } from "../../design/time-range.ts";

export type AuditSearch = {
  readonly actor?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly range?: TimeRange;
};

/** Reads the filters of an address and leaves out values of another type. */
export function parseAuditSearch(value: unknown): AuditSearch {
  if (typeof value !== "object" || value === null) return {};
  const search = value as Record<string, unknown>;
  const texts = fields.flatMap(({ name }) => {
    const text = search[name];
    return typeof text === "string" && text !== "" ? [[name, text]] : [];
  });
  const range = parseTimeRange(search["range"]);
  return { ...(Object.fromEntries(texts) as AuditSearch), ...(range && { range }) };
}

/** Returns the filters as the log is asked with them. */
export function toAuditInput({ range, ...texts }: AuditSearch, nowMs: number) {
  if (!range) return texts;
  const { from, to } = boundsOf(range, nowMs);
  return { ...texts, startTime: from, ...(to !== undefined && { endTime: to }) };
}

export type AuditFiltersProps = {
  readonly value: AuditSearch;
  readonly onChange: (value: AuditSearch) => void;
};

const fields = [
  { name: "actor", label: "Who", placeholder: "Person, key or id" },
  { name: "action", label: "What", placeholder: "workspace.archive, api_key.*" },
  { name: "resource", label: "Changed resource", placeholder: "Kind or id" },
] as const;

/** Time after the last key at which the log is asked. */
const quietMs = 350;

export function AuditFilters({ value, onChange }: AuditFiltersProps) {
  const [typed, setTyped] = useState(value);
  const current = JSON.stringify(value);
  const [shown, setShown] = useState(current);
  // The address changed by itself, such as by the browser's back button.
  if (shown !== current) {
    setShown(current);
    setTyped(value);
  }
  useEffect(() => {
    if (JSON.stringify(typed) === current) return undefined;
    const timer = setTimeout(() => onChange(typed), quietMs);
    return () => clearTimeout(timer);
  }, [typed, current, onChange]);
  const isNarrowed = Object.keys(typed).length > 0;
  return (
    <>
      {fields.map(({ name, label, placeholder }) => (
        <Input
          key={name}
          aria-label={label}
          placeholder={placeholder}
          value={typed[name] ?? ""}
          onChange={(event) => setTyped(withText(typed, name, event.target.value))}
        />
      ))}
      {value.range ? (
        <TimeRangePicker value={value.range} onChange={(range) => onChange({ ...typed, range })} />
      ) : (
        <Button size="small" onClick={() => onChange({ ...typed, range: rangeDefault })}>
          Any time
        </Button>
      )}
      {isNarrowed ? (
        <Button size="small" variant="ghost" onClick={() => onChange({})}>
          Clear
        </Button>
      ) : null}
    </>
  );
}

type TextName = (typeof fields)[number]["name"];

function withText(search: AuditSearch, name: TextName, text: string): AuditSearch {
  const entries = Object.entries({ ...search, [name]: text });
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}

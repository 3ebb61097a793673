// Time, Duration, Cost, CostSum, Tokens, Count, Identifier, Copy and KeyValue: values as people
// read them, with the exact form on hover. An absent value is a dash, never a zero.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { Check, Copy as CopyIcon } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { IconButton } from "./button.tsx";
import {
  formatAge,
  formatCost,
  formatCount,
  formatDuration,
  formatExactCost,
  formatExactCount,
  formatExactNumber,
  formatId,
  formatTime,
} from "./format.ts";
import { useNow } from "./now.ts";
import { showToast } from "./toast.tsx";
import "./values.css";

type Maybe<T> = { readonly value: T | null | undefined };

function Absent() {
  return (
    <span className="absent" aria-label="none">
      –
    </span>
  );
}

export type TimeProps = Maybe<number | Timestamp>;

/** A time, as of an answer or in Unix milliseconds, as its age. */
export function Time({ value }: TimeProps) {
  const nowMs = useNow();
  if (value === null || value === undefined) return <Absent />;
  const atMs = typeof value === "number" ? value : timestampMs(value);
  return (
    <time className="numeric" dateTime={new Date(atMs).toISOString()} title={formatTime(atMs)}>
      {formatAge(atMs, nowMs)}
    </time>
  );
}

/** Milliseconds. */
export function Duration({ value }: Maybe<number>) {
  if (value === null || value === undefined) return <Absent />;
  return (
    <span className="numeric" title={`${formatExactNumber(value)} ms`}>
      {formatDuration(value)}
    </span>
  );
}

/** US dollars; an estimate by the price table begins with `~`. */
export function Cost({ value, isEstimate }: Maybe<number> & { readonly isEstimate?: boolean }) {
  if (value === null || value === undefined) return <Absent />;
  return isEstimate === true ? (
    <span className="numeric" title={`${formatExactCost(value)}, estimated by the price table`}>
      ~{formatCost(value)}
    </span>
  ) : (
    <span className="numeric" title={formatExactCost(value)}>
      {formatCost(value)}
    </span>
  );
}

/** US dollars of several calls. A sum of 0 means that no call has a known price. */
export function CostSum({ value }: Maybe<number>) {
  return <Cost value={value === 0 ? undefined : value} />;
}

/** Tokens; prompt and completion on hover. A sum of 0 means that none were sent. */
export function Tokens(props: Maybe<number> & { prompt?: number; completion?: number }) {
  const { value, prompt, completion } = props;
  if (value === null || value === undefined || value === 0) return <Absent />;
  const parts =
    prompt === undefined || completion === undefined
      ? ""
      : `: ${formatExactCount(prompt)} in, ${formatExactCount(completion)} out`;
  return (
    <span className="numeric" title={`${formatExactCount(value)} tokens${parts}`}>
      {formatCount(value)}
    </span>
  );
}

export function Count({ value }: Maybe<number>) {
  if (value === null || value === undefined) return <Absent />;
  return (
    <span className="numeric" title={formatExactCount(value)}>
      {formatCount(value)}
    </span>
  );
}

/** An id, shortened in its middle, with a button that copies all of it. */
export function Identifier({ value }: { readonly value: string }) {
  return (
    <span className="identifier">
      <code title={value}>{formatId(value)}</code>
      <Copy text={value} what="id" />
    </span>
  );
}

export type CopyProps = {
  readonly text: string | (() => string);
  /** The copied thing, such as `id` or `curl command`. */
  readonly what: string;
};

export function Copy({ text, what }: CopyProps) {
  const { isCopied, copy } = useCopy(what);
  return (
    <IconButton
      className="copy"
      size="small"
      label={isCopied ? "Copied" : `Copy ${what}`}
      icon={isCopied ? <Check /> : <CopyIcon />}
      onClick={(event) => {
        event.stopPropagation();
        copy(typeof text === "function" ? text() : text);
      }}
    />
  );
}

const copiedMs = 1_500;

/** Returns how a button copies a text, and whether it did so a moment ago. */
export function useCopy(what: string) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (text: string): void => void copyText(text, what).then(setCopied);
  return { isCopied, copy };
}

/** Copies a text; says so where the browser refuses. Resolves to whether it was copied. */
export async function copyText(text: string, what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers refuse without HTTPS, except on this machine.
    showToast({ text: `The browser does not let this page copy the ${what}.`, tone: "bad" });
    return false;
  }
}

type KeyValueItem = { readonly label: string; readonly value: ReactNode };

export type KeyValueProps = {
  /** False and undefined are none. */
  readonly items: readonly (KeyValueItem | false | undefined)[];
  /** Beside one another, for a line of totals. */
  readonly isRow?: boolean;
};

export function KeyValue({ items, isRow = false }: KeyValueProps) {
  return (
    <dl className="key-value" data-row={isRow}>
      {items
        .filter((item) => item !== false && item !== undefined)
        .map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

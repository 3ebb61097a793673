// EmptyState, ErrorState, Loading, ReadState, Skeleton, Progress: what stands where content is not
// (yet).

import { CircleAlert } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import type { ApiError } from "../api/errors.ts";
import { Button } from "./button.tsx";
import "./states.css";

export type EmptyStateProps = {
  readonly icon?: ReactNode;
  readonly title: string;
  /** The next step, as a sentence. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
};

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="empty-state">
      {icon === undefined ? null : <span className="empty-state-icon">{icon}</span>}
      <h2>{title}</h2>
      {children === undefined ? null : <div>{children}</div>}
      {action}
    </div>
  );
}

export type ErrorStateProps = {
  readonly error: ApiError | Error;
  readonly onRetry?: () => void;
  /** A line beside what failed, rather than in place of the content. */
  readonly isInline?: boolean;
};

export function ErrorState({ error, onRetry, isInline = false }: ErrorStateProps) {
  const advice = "advice" in error ? error.advice : "Load the page again.";
  const code = "errorCode" in error ? error.errorCode : undefined;
  return (
    <div className="error-state" role="alert" data-inline={isInline}>
      <CircleAlert aria-hidden />
      <div>
        <p className="error-state-message">{error.message}</p>
        <p>
          {advice} {code === undefined ? null : <code>{code}</code>}
        </p>
      </div>
      {onRetry === undefined ? null : (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export type ReadStateProps = {
  /** A call that reads, as `useRpc` and `useRpcPages` return it. */
  readonly read: {
    readonly error: ApiError | null;
    readonly data: unknown;
    readonly refetch: () => unknown;
  };
  readonly what: string;
  /** A line also without an answer, beside other content. */
  readonly isInline?: boolean;
};

/**
 * The state of a read: that it is awaited, or its error, in place of the answer or above the last
 * one; nothing once there is an answer.
 */
export function ReadState({ read, what, isInline = read.data !== undefined }: ReadStateProps) {
  const { error, data, refetch } = read;
  if (error) {
    return <ErrorState error={error} isInline={isInline} onRetry={() => void refetch()} />;
  }
  return data === undefined ? <Loading what={what} /> : null;
}

/** Time before anything says that it waits: shorter waits would only flicker. */
const quietMs = 200;

/** Names the awaited thing once the wait takes longer than a moment. */
export function Loading({ what }: { readonly what: string }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), quietMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status">
      {isShown ? (
        <>
          <span className="loading-bar" />
          {what}…
        </>
      ) : null}
    </div>
  );
}

export type SkeletonProps = { readonly width?: string; readonly height?: string };

/** The place of something that is on its way, in its size. */
export function Skeleton({ width = "100%", height = "0.9em" }: SkeletonProps) {
  return <span className="skeleton" style={{ width, height }} aria-hidden />;
}

/** Returns a share as a percentage that reads 100 only when nothing is left. */
export function formatDone(share: number): string {
  const percent = Math.round(share * 100);
  return `${share < 1 ? Math.min(99, percent) : percent} %`;
}

export type ProgressProps = {
  readonly label: string;
  /** 0 to 1. */
  readonly value: number;
  /** The part that is done so far, such as `1,200 of 5,000 events`. */
  readonly detail?: ReactNode;
};

export function Progress({ label, value, detail }: ProgressProps) {
  return (
    <div className="progress">
      <span>{label}</span>
      <span className="numeric">{detail ?? formatDone(value)}</span>
      <progress aria-label={label} value={value} max={1} />
    </div>
  );
}

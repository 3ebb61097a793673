// ChartAnswer: asks a question and shows the answer, or why there is none and what to do.

import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import { useMemo, useState } from "react";
import type { ApiError } from "../../api/errors.ts";
import { useRpc } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { useNow } from "../../design/now.ts";
import { ErrorState, Skeleton } from "../../design/states.tsx";
import type { TimeRange } from "../../design/time-range.ts";
import { type Answer, toAnswer } from "./answer.ts";
import { toRequest } from "./chart-messages.ts";
import { ChartView } from "./chart-view.tsx";
import type { Question } from "./question.ts";

const minuteMs = 60_000;

/** Asks a question about a range; the answer to the one before stays until the new one is there. */
export function useAnswer(question: Question, range: TimeRange, isEnabled = true) {
  const now = useNow();
  const nowMs = Math.floor(now / minuteMs) * minuteMs;
  const asked = useRpc(ChartService.method.queryChart, toRequest(question, range, nowMs), {
    keepsPrevious: true,
    staleMs: minuteMs,
    isEnabled,
  });
  const { data } = asked;
  const hasSplit = question.splitBy !== undefined;
  const answer = useMemo(() => data?.data && toAnswer(data.data, hasSplit), [data, hasSplit]);
  return { ...asked, answer };
}

export type ChartAnswerProps = {
  readonly label: string;
  readonly question: Question;
  readonly range: TimeRange;
  readonly heightPx?: number;
  readonly onRange?: (range: TimeRange) => void;
};

export function ChartAnswer({ label, question, range, heightPx, onRange }: ChartAnswerProps) {
  const asked = useAnswer(question, range);
  const { error, refetch } = asked;
  const answer = useLastAnswer(JSON.stringify([question, range]), asked);
  const isUnread = error?.isTransient === true && answer !== undefined;
  if (error && !isUnread) {
    return <ChartError error={error} onRetry={() => void refetch()} onRange={onRange} />;
  }
  if (!answer) return <Skeleton height="100%" />;
  if (answer.matched === 0) return <p className="chart-none">No event of this time matches.</p>;
  const shown = answer.kind === question.kind ? question : undefined;
  if (!shown) return <Skeleton height="100%" />;
  return (
    <>
      {isUnread ? (
        <p className="chart-unread" role="status">
          Not up to date: {error.message}
        </p>
      ) : null}
      <ChartView
        label={label}
        question={question}
        answer={answer}
        {...(heightPx !== undefined && { heightPx })}
        {...(onRange && { onRange })}
      />
    </>
  );
}

type Asked = Pick<ReturnType<typeof useAnswer>, "answer" | "isPlaceholderData">;

/**
 * Returns the answer, or the last one to the same question while it cannot be read again: a range
 * up to now is asked for anew each minute.
 */
function useLastAnswer(key: string, { answer, isPlaceholderData }: Asked): Answer | undefined {
  const [last, setLast] = useState<{ readonly key: string; readonly answer: Answer }>();
  const isNew = last?.key !== key || last.answer !== answer;
  if (answer && !isPlaceholderData && isNew) setLast({ key, answer });
  return answer ?? (last?.key === key ? last.answer : undefined);
}

type ChartErrorProps = {
  readonly error: ApiError;
  readonly onRetry: () => void;
  readonly onRange: ((range: TimeRange) => void) | undefined;
};

const dayMinutes = 24 * 60;

/** Says why; a question that took too long can be asked about one day at once. */
function ChartError({ error, onRetry, onRange }: ChartErrorProps) {
  const { unrecordedField } = error;
  if (unrecordedField !== undefined) {
    return <p className="chart-none">No event has the field {unrecordedField} yet.</p>;
  }
  const isTooLong = error.errorCode === "DEADLINE_EXCEEDED";
  return (
    <div className="chart-error">
      <ErrorState error={error} isInline onRetry={onRetry} />
      {isTooLong && onRange ? (
        <Button size="small" onClick={() => onRange({ last: dayMinutes })}>
          Show the last 24 hours
        </Button>
      ) : null}
    </div>
  );
}

// One line with a question or an answer; an error replaces the answer.

import { Skeleton } from "../../design/states.tsx";
import type { EventSummary } from "./event-summary.ts";

export type SummaryLineProps = {
  readonly text: string | undefined;
  readonly error?: string | undefined;
  readonly isAnswer?: boolean;
  readonly isLoading?: boolean;
  readonly hasNone?: boolean;
};

const titleMax = 600;

export type RowLineProps = {
  /** Undefined while it is read, null without a preview. */
  readonly summary: EventSummary | null | undefined;
};

/** The question of a row whose summary is read after the row. */
export function QuestionLine({ summary }: RowLineProps) {
  return (
    <SummaryLine
      text={summary?.question}
      isLoading={summary === undefined}
      hasNone={summary === null}
    />
  );
}

/** The answer of such a row; its question says that there is no preview. */
export function AnswerLine({ summary }: RowLineProps) {
  return <SummaryLine text={summary?.answer} isAnswer isLoading={summary === undefined} />;
}

export function SummaryLine(props: SummaryLineProps) {
  const { text, error, isAnswer = false, isLoading = false, hasNone = false } = props;
  if (error !== undefined) {
    return (
      <span className="summary-line truncate" data-tone="bad" title={error.slice(0, titleMax)}>
        {error.slice(0, titleMax)}
      </span>
    );
  }
  if (isLoading) return <Skeleton width="70%" />;
  if (hasNone) return <span className="summary-line absent">no preview</span>;
  if (text === undefined) {
    return (
      <span className="absent" aria-label="none">
        –
      </span>
    );
  }
  return (
    <bdi className="summary-line truncate" data-answer={isAnswer} title={text}>
      {text}
    </bdi>
  );
}

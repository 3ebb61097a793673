// The answer beside the form: the chart in full size, and how many events it is about.

import { formatExactCount } from "../../design/format.ts";
import type { TimeRange } from "../../design/time-range.ts";
import { ChartAnswer, useAnswer } from "./chart-answer.tsx";
import { needsSplit, type Question } from "./question.ts";

export type QuestionAnswerProps = {
  readonly label: string;
  readonly question: Question;
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
};

const heightPx = 420;

export function QuestionAnswer({ label, question, range, onRange }: QuestionAnswerProps) {
  const isIncomplete = needsSplit(question.kind) && question.splitBy === undefined;
  const { answer, isFetching, error } = useAnswer(question, range, !isIncomplete);
  return (
    <>
      <div className="chart-edit-picture" data-waiting={isFetching}>
        {isIncomplete ? (
          <p className="chart-none">Pick the field to split by: each of its values is shown.</p>
        ) : (
          <ChartAnswer
            label={label}
            question={question}
            range={range}
            heightPx={heightPx}
            onRange={onRange}
          />
        )}
      </div>
      <p className="chart-edit-facts" role="status">
        {answer && !error && !isIncomplete ? (
          <>
            <b className="numeric">{formatExactCount(answer.matched)}</b>
            {answer.matched === 1 ? " event matched" : " events matched"}
            {answer.isExact ? ", every value is exact" : ""}
            {answer.splitCount > 0
              ? `, ${formatExactCount(answer.splitCount)} different values`
              : ""}
            {answer.unit === undefined ? "" : `, by ${answer.unit}`}
            {answer.warnings.map((warning) => ` · ${warning}`)}
          </>
        ) : null}
      </p>
    </>
  );
}

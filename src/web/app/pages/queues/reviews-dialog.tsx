// ReviewsDialog: what each person gave an event of a queue and why, metric by metric, so that
// differences are seen.

import type { JsonValue } from "@bufbuild/protobuf";
import { MetricService } from "../../../../../gen/waggle/v1/metric_pb.js";
import { type QueueReview, QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { formatValue } from "../../design/format.ts";
import { Dialog } from "../../design/overlay.tsx";
import { ReadState } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import { Time } from "../../design/values.tsx";
import { fromValue } from "../datasets/to-value.ts";

export type ReviewsDialogProps = {
  readonly queueId: string;
  readonly eventId: string;
  readonly onClose: () => void;
};

export function ReviewsDialog({ queueId, eventId, onClose }: ReviewsDialogProps) {
  const item = useRpc(QueueService.method.getQueueItem, { id: queueId, eventId });
  const metrics = useRpc(MetricService.method.listMetrics, { type: "HUMAN" });
  const names = new Map(metrics.data?.metrics.map(({ id, name }) => [id, name]));
  return (
    <Dialog
      title="Scores of the reviewers"
      description="What stands on the event is made of these scores."
      onClose={onClose}
    >
      {item.data && !metrics.isPending ? (
        [...Map.groupBy(givenIn(item.data.reviews), ({ metric }) => metric)].map(
          ([metric, given]) => (
            <MetricScores key={metric} name={names.get(metric) ?? metric} given={given} />
          ),
        )
      ) : (
        <ReadState read={item} what="Loading the scores" />
      )}
    </Dialog>
  );
}

type Given = ReturnType<typeof givenIn>[number];

/** Returns the scores of all reviews in their order, each with its reviewer. */
function givenIn(reviews: readonly QueueReview[]) {
  return reviews.flatMap(({ reviewer, name, completedAt, scores }) =>
    scores.map(({ metric, value, explanation }) => ({
      metric,
      reviewer,
      name,
      completedAt,
      value: fromValue(value),
      explanation,
    })),
  );
}

type MetricScoresProps = { readonly name: string; readonly given: readonly Given[] };

function MetricScores({ name, given }: MetricScoresProps) {
  const differ = given.some(({ value }) => value !== given[0]?.value);
  return (
    <section className="reviewer-scores" aria-label={name}>
      <h3>
        {name} {differ ? <Status tone="warn">different</Status> : null}
      </h3>
      <ul>
        {given.map(({ reviewer, name: person, completedAt, value, explanation }) => (
          <li key={reviewer}>
            <b dir="auto">{person}</b>
            <span className="numeric">{scoreText(value)}</span>
            <Time value={completedAt} />
            {explanation === undefined ? null : <TextView text={explanation} previewChars={600} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function scoreText(value: JsonValue): string {
  return typeof value === "boolean" ? (value ? "Yes" : "No") : formatValue(value);
}

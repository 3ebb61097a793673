// The page where a person reviews a queue by keys: the next event is claimed, read at the left,
// scored at the right, and completed.

import { Link } from "@tanstack/react-router";
import { CircleCheckBig } from "lucide-react";
import { useEffect } from "react";
import { MetricService } from "../../../../../gen/waggle/v1/metric_pb.js";
import { QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { Button } from "../../design/button.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { Page } from "../../shell/page.tsx";
import { addByHand, isByHand } from "./by-hand.ts";
import { QueueProgressView } from "./queue-progress.tsx";
import { ReviewedEvent } from "./reviewed-event.tsx";
import { annotateRoute } from "./route.tsx";
import { ScoreForm } from "./score-form.tsx";
import "../../design/layout.css";
import "./queues.css";

const { listQueueItems, getQueueAgreement, claimQueueItem, releaseQueueItem, completeQueueItem } =
  QueueService.method;
const changes = [listQueueItems, getQueueAgreement];

export function AnnotatePage() {
  const { projectId, queueId } = annotateRoute.useParams();
  const queueAnswer = useRpc(QueueService.method.getQueue, { id: queueId });
  const queue = queueAnswer.data;
  const metrics = useRpc(MetricService.method.listMetrics, { type: "HUMAN" });
  const unread = [queueAnswer, metrics].find((answer) => answer.error && !answer.data);
  const mayReview = useMay()(claimQueueItem);
  const { data } = useRpc(listQueueItems, { id: queueId, limit: 1 }, { refreshMs: 5_000 });
  const title = `Review ${queue?.name ?? "queue"}`;
  return (
    <Page
      title={title}
      breadcrumb={
        <>
          <Link
            className="truncate"
            to="/app/p/$projectId/queues/$queueId"
            params={{ projectId, queueId }}
          >
            {queue?.name ?? "Queue"}
          </Link>
          <span aria-hidden>/</span>
          <span>Review</span>
        </>
      }
      toolbar={data?.progress ? <QueueProgressView progress={data.progress} /> : undefined}
    >
      {!mayReview ? (
        <div className="scroll">
          <ReadOnlyNote method={claimQueueItem} act="review events" />
        </div>
      ) : unread?.error ? (
        <ErrorState error={unread.error} onRetry={() => void unread.refetch()} />
      ) : metrics.data?.metrics.length === 0 ? (
        <EmptyState title="Nothing to fill in">
          Create an evaluator of the type People first: it says what people are asked.
        </EmptyState>
      ) : metrics.data ? (
        <Review
          key={queueId}
          queueId={queueId}
          metrics={metrics.data.metrics}
          isByHand={queue !== undefined && isByHand(queue)}
        />
      ) : (
        <Loading what="Loading the criteria" />
      )}
    </Page>
  );
}

type ReviewProps = {
  readonly queueId: string;
  readonly metrics: Parameters<typeof ScoreForm>[0]["metrics"];
  readonly isByHand: boolean;
};

function Review({ queueId, metrics, isByHand: isFilledByHand }: ReviewProps) {
  const claim = useRpcMutation(claimQueueItem, { changes });
  const { mutate } = claim;
  const next = () => mutate({ id: queueId });
  const complete = useRpcMutation(completeQueueItem, { changes, onDone: next });
  const release = useRpcMutation(releaseQueueItem, { changes });
  useEffect(() => mutate({ id: queueId }), [mutate, queueId]);
  const item = claim.data?.item;
  if (claim.error) return <ErrorState error={claim.error} onRetry={next} />;
  if (!claim.data) return <Loading what="Claiming the next event" />;
  if (!item || release.isSuccess) {
    return (
      <EmptyState
        icon={<CircleCheckBig />}
        title={item ? "The event was released" : "Nothing left to review"}
        action={
          <Button
            // The focus was in the form of the event that is gone.
            autoFocus={complete.isSuccess || release.isSuccess}
            onClick={() => {
              // What failed was about the event that was released.
              if (complete.isError) complete.reset();
              release.reset();
              next();
            }}
          >
            Look for the next event
          </Button>
        }
      >
        {item
          ? "Another reviewer can take it now."
          : isFilledByHand
            ? addByHand
            : "New events come in by the filters of the queue."}
      </EmptyState>
    );
  }
  return (
    <div className="annotate">
      <ReviewedEvent eventId={item.eventId} />
      <ScoreForm
        key={item.eventId}
        metrics={metrics}
        isBusy={[claim, complete, release].some(({ isPending }) => isPending)}
        error={complete.error ?? release.error}
        onSkip={() => release.mutate({ id: queueId, eventId: item.eventId })}
        onComplete={(scores) => complete.mutate({ id: queueId, eventId: item.eventId, scores })}
      />
    </div>
  );
}

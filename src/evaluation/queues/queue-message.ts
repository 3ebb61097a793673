// Converts queues, their events and the agreement of people to messages.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  QueueAgreementSchema,
  QueueItemSchema,
  QueueSchema,
} from "../../../gen/waggle/v1/queue_pb.js";
import { toFilterMessage } from "../../tracing/export/filter-message.ts";
import type { MetricAgreement } from "./agreements.ts";
import type { QueueItem } from "./items.ts";
import type { Queue } from "./queues.ts";
import type { ReviewRow, ScoreRow } from "./review-store.ts";
import { toValueMessage } from "../../base/value-message.ts";

export function toQueueMessage(queue: Queue): MessageInitShape<typeof QueueSchema> {
  const { id, name, description, createdAt, updatedAt } = queue;
  return {
    id,
    name,
    description,
    filters: { filterArray: queue.filters.filterArray.map(toFilterMessage) },
    enabled: queue.isEnabled,
    scopeId: queue.projectId,
    scopeType: "project",
    isActive: true,
    createdAt: timestampFromDate(createdAt),
    ...(updatedAt && { updatedAt: timestampFromDate(updatedAt) }),
    reviewersPerEvent: queue.reviewers,
    claimSeconds: queue.claimSeconds,
  };
}

export function toItemMessage(
  { eventId, state, addedAt, completedAt, reviews }: QueueItem,
  scores: readonly ScoreRow[] = [],
): MessageInitShape<typeof QueueItemSchema> {
  const given = Map.groupBy(scores, ({ reviewer }) => reviewer);
  return {
    eventId,
    state,
    addedAt: timestampFromDate(addedAt),
    ...(completedAt && { completedAt: timestampFromDate(completedAt) }),
    reviews: reviews.map((review) => toReviewMessage(review, given.get(review.reviewer) ?? [])),
  };
}

function toReviewMessage(
  { reviewer, name, claimedAt, expiresAt, completedAt }: ReviewRow,
  scores: readonly ScoreRow[],
) {
  return {
    reviewer,
    name,
    claimedAt: timestampFromDate(claimedAt),
    ...(completedAt
      ? { completedAt: timestampFromDate(completedAt) }
      : { expiresAt: timestampFromDate(expiresAt) }),
    scores: scores.map(({ evaluatorId, value, explanation }) => ({
      metric: evaluatorId,
      value: toValueMessage(value),
      ...(explanation !== null && { explanation }),
    })),
  };
}

export function toAgreementMessage({
  metric: { id, name, returnType },
  level,
  ...agreement
}: MetricAgreement): MessageInitShape<typeof QueueAgreementSchema> {
  const { events, scores, reviewers, observed, kappa, alpha } = agreement;
  return {
    metricId: id,
    name,
    returnType,
    level,
    events,
    scores,
    reviewers,
    ...(observed !== undefined && { observedAgreement: observed }),
    ...(kappa !== undefined && { cohenKappa: kappa }),
    ...(alpha !== undefined && { krippendorffAlpha: alpha }),
  };
}

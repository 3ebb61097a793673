// QueueService: a message in, a message out, no decisions.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type {
  CreateQueueRequest,
  QueueScore,
  QueueService,
  UpdateQueueRequest,
} from "../../../gen/waggle/v1/queue_pb.js";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import { toStruct } from "../../base/struct.ts";
import { toFilterInput, toScalar } from "../../tracing/export/filter-message.ts";
import type { Agreements } from "./agreements.ts";
import type { QueueItems } from "./items.ts";
import { toAgreementMessage, toItemMessage, toQueueMessage } from "./queue-message.ts";
import type { QueueFields, Queues } from "./queues.ts";
import { type AskedScore, type Reviews, toReviewer } from "./reviews.ts";

export type QueueParts = {
  readonly queues: Queues;
  readonly items: QueueItems;
  readonly reviews: Reviews;
  readonly agreements: Agreements;
};

export function queueHandlers(parts: QueueParts): ServiceImpl<typeof QueueService> {
  return { ...resourceHandlers(parts), ...reviewHandlers(parts) };
}

function resourceHandlers({ queues, items }: QueueParts) {
  return {
    async createQueue(request, context) {
      const fields = { ...toFields(request), added: request.eventIds };
      const queue = await queues.create(projectOf(context), fields, actorOf(context));
      return { queue: toQueueMessage(queue), message: "The queue is created" };
    },
    async listQueues({ enabled }, context) {
      const found = await queues.list(projectOf(context).projectId, enabled);
      return { queues: found.map(toQueueMessage) };
    },
    async getQueue({ id }, context) {
      return toQueueMessage(await queues.get(projectOf(context).projectId, id));
    },
    async updateQueue(request, context) {
      const { addEventIds: added, removeEventIds: removed } = request;
      const fields = { ...toFields(request), added, removed };
      const queue = await queues.update(whoseOf(request.id, context), fields);
      return { queue: toQueueMessage(queue), message: "The queue is updated" };
    },
    async deleteQueue(request, context) {
      await queues.delete(whoseOf(request.id, context));
      return { message: "The queue is deleted" };
    },
    async listQueueItems({ id, ...request }, context) {
      const project = projectOf(context);
      const { id: queueId } = await queues.get(project.projectId, id);
      const page = await items.list(project, queueId, request);
      const counts = await items.count(project, queueId);
      const { pending, claimed, completed, passedOver } = counts;
      return {
        items: page.items.map((item) => toItemMessage(item)),
        progress: { pending, claimed, completed, passedOver },
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      };
    },
  } satisfies Partial<ServiceImpl<typeof QueueService>>;
}

function reviewHandlers({ queues, reviews, agreements }: QueueParts) {
  const queueOf = ({ id }: { readonly id: string }, context: HandlerContext) =>
    queues.get(projectOf(context).projectId, id);
  return {
    async getQueueItem(request, context) {
      const queue = await queueOf(request, context);
      const { item, scores } = await reviews.get(projectOf(context), queue, request.eventId);
      return toItemMessage(item, scores);
    },
    async claimQueueItem(request, context) {
      const reviewer = toReviewer(actorOf(context), request.reviewer);
      const queue = await queueOf(request, context);
      const wanted = { reviewer, eventId: request.eventId };
      const item = await reviews.claim(projectOf(context), queue, wanted);
      return { ...(item && { item: toItemMessage(item) }), reviewer: reviewer.id };
    },
    async releaseQueueItem(request, context) {
      const reviewer = toReviewer(actorOf(context), request.reviewer);
      const queue = await queueOf(request, context);
      const held = { reviewer, eventId: request.eventId };
      return { released: await reviews.release(projectOf(context), queue, held) };
    },
    async completeQueueItem(request, context) {
      const { eventId } = request;
      const reviewer = toReviewer(actorOf(context), request.reviewer);
      const queue = await queueOf(request, context);
      const given = { reviewer, eventId, scores: request.scores.map(toScore) };
      const { item, metrics } = await reviews.complete(projectOf(context), queue, given);
      return { item: toItemMessage(item), metrics: toStruct(metrics) };
    },
    async getQueueAgreement(request, context) {
      const { id } = await queueOf(request, context);
      const found = await agreements.get(projectOf(context), id, request.metric);
      return { metrics: found.map(toAgreementMessage) };
    },
  } satisfies Partial<ServiceImpl<typeof QueueService>>;
}

function toFields(request: CreateQueueRequest | UpdateQueueRequest): QueueFields {
  return {
    name: request.name,
    description: request.description,
    filters: request.filters?.filterArray.map(toFilterInput),
    enabled: request.enabled,
    reviewers_per_event: request.reviewersPerEvent,
    claim_seconds: request.claimSeconds,
  };
}

function toScore({ metric, value, explanation }: QueueScore): AskedScore {
  return { metric, value: value && (toScalar(value) ?? null), explanation };
}

// The cases of golden.test.ts on annotation queues.
// Source: the published clients of this API; docs/decisions.md, 45.1 to 45.5.

import type { JsonObject } from "@bufbuild/protobuf";
import { QueueService } from "../../gen/waggle/v1/queue_pb.js";
import { type Case, golden, type Request } from "./golden-case.ts";

const queue = QueueService.method;

const eventId = "e7e17000-0000-4000-8000-0000000000a1";
const anEvent: Request = {
  route: "POST /v1/events",
  body: { event_id: eventId, event_type: "tool", source: "sdk", inputs: {} },
};
const aMetric: Request = {
  route: "POST /v1/metrics",
  body: { name: "stars", type: "HUMAN", criteria: "How good is it?", scale: 5 },
};
const filters: JsonObject = {
  filterArray: [{ field: "event_type", operator: "is", value: "model", type: "string" }],
};
const fields: JsonObject = { name: "answers", description: "Of models", filters };
const aQueue: Request = {
  route: "POST /v1/queues",
  body: { ...fields, event_ids: [eventId], reviewers_per_event: 2 },
};
const both: readonly Request[] = [anEvent, aQueue];
const all: readonly Request[] = [aMetric, ...both];

const one = "/v1/queues/{queue_id}";
const id: JsonObject = { id: "{queue_id}" };
const absent = "e7e17000-0000-4000-8000-000000000404";

/** A review of the event; its body is the message without the id. */
function reviewOf(reviewer: string, value: number | string): JsonObject {
  const score = { metric: "stars", value, explanation: "As it is" };
  return { event_id: eventId, reviewer, scores: [score] };
}

const ann = reviewOf("Ann", 3);
const review = (body: JsonObject): Request => ({ route: `POST ${one}/complete`, body });
const claim: Request = { route: `POST ${one}/claim`, body: { reviewer: "Ann" } };

const resources: readonly Case[] = [
  golden("post-v1-queues/created", "POST /v1/queues", queue.createQueue, { body: fields }),
  golden("post-v1-queues/least", "POST /v1/queues", queue.createQueue, { body: { name: "least" } }),
  golden("post-v1-queues/absent-event", "POST /v1/queues", queue.createQueue, {
    body: { ...fields, event_ids: [absent] },
  }),
  golden("get-v1-queues/listed", "GET /v1/queues?enabled=true", queue.listQueues, {
    given: both,
    message: { enabled: true },
    key: "readOnly",
  }),
  golden("get-v1-queue/found", `GET ${one}`, queue.getQueue, { given: both, message: id }),
  golden("get-v1-queue/absent", `GET /v1/queues/${absent}`, queue.getQueue, {
    message: { id: absent },
  }),
  golden("put-v1-queue/changed", `PUT ${one}`, queue.updateQueue, {
    given: both,
    body: { ...id, name: "renamed", enabled: false, remove_event_ids: [eventId] },
  }),
  golden("delete-v1-queue/deleted", `DELETE ${one}`, queue.deleteQueue, {
    given: both,
    message: id,
  }),
];

const reviews: readonly Case[] = [
  golden("get-v1-queue-items/listed", `GET ${one}/items`, queue.listQueueItems, {
    given: [...all, claim],
    message: id,
  }),
  golden("get-v1-queue-item/completed", `GET ${one}/items/${eventId}`, queue.getQueueItem, {
    given: [...all, review(ann), review(reviewOf("Bob", 4))],
    message: { ...id, event_id: eventId },
  }),
  golden("post-v1-queue-claim/given", `POST ${one}/claim`, queue.claimQueueItem, {
    given: both,
    body: { reviewer: "Ann" },
    message: { ...id, reviewer: "Ann" },
  }),
  golden("post-v1-queue-claim/none", `POST ${one}/claim`, queue.claimQueueItem, {
    given: [{ route: "POST /v1/queues", body: fields }],
    body: {},
    message: id,
  }),
  golden("post-v1-queue-release/none", `POST ${one}/release`, queue.releaseQueueItem, {
    given: both,
    body: { event_id: eventId },
    message: { ...id, event_id: eventId },
  }),
  golden("post-v1-queue-complete/first", `POST ${one}/complete`, queue.completeQueueItem, {
    given: all,
    body: ann,
    message: { ...id, ...ann },
  }),
  golden("post-v1-queue-complete/taken", `POST ${one}/complete`, queue.completeQueueItem, {
    given: [...all, review(ann), review(reviewOf("Bob", 4))],
    body: ann,
    message: { ...id, ...ann },
  }),
  golden("post-v1-queue-complete/wrong", `POST ${one}/complete`, queue.completeQueueItem, {
    given: all,
    body: reviewOf("Ann", 6),
    message: { ...id, ...reviewOf("Ann", 6) },
  }),
  golden("get-v1-queue-agreement/two", `GET ${one}/agreement`, queue.getQueueAgreement, {
    given: [...all, review(ann), review(reviewOf("Bob", 4))],
    message: id,
  }),
];

export const queueCases: readonly Case[] = [...resources, ...reviews];

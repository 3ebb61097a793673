// Agreement over stored scores, against Postgres: pages end inside an event, other queues and other
// return types do not count, and too many scores are an error.
// Source: docs/decisions.md, 45.4.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { createAgreements } from "../../src/evaluation/queues/agreements.ts";
import type { HumanMetric } from "../../src/evaluation/queues/human-metrics.ts";
import type { Clusters } from "../../src/postgres/clusters.ts";
import { givenTestDatabase, openTestClusters } from "../support/database.ts";
import { givenAProject } from "../support/project.ts";

const testDatabase = givenTestDatabase();
let clusters: Clusters;
let project: LocalProject;
const [queueId, otherQueueId] = [createUuid(), createUuid()];
const stars: HumanMetric = { id: createUuid(), name: "stars", returnType: "float" };
const tone: HumanMetric = { id: createUuid(), name: "tone", returnType: "string" };

/** More than two pages of scores, three an event. */
const events = 4_001;
const people = 3;

beforeAll(async () => {
  clusters = openTestClusters(testDatabase.database);
  project = await givenAProject(testDatabase.database, createUuid());
  const sql = testDatabase.database.sql();
  for (const queue of [queueId, otherQueueId]) {
    await sql`
      insert into annotation_scores (
        project_id, queue_id, event_id, evaluator_id, reviewer, version, return_type, value
      )
      select
        ${project.projectId}, ${queue}::uuid, 'e' || event, ${stars.id}::uuid, 'p' || person, 1,
        'float', to_jsonb(event % 5)
      from generate_series(1, ${events}::integer) as event,
        generate_series(1, ${people}::integer) as person`;
  }
  const texts = [
    { person: "a", type: "string", value: "kind" },
    { person: "b", type: "string", value: "kind" },
    { person: "c", type: "boolean", value: true },
  ];
  for (const { person, type, value } of texts) {
    await sql`
      insert into annotation_scores (
        project_id, queue_id, event_id, evaluator_id, reviewer, version, return_type, value
      )
      values (
        ${project.projectId}, ${queueId}, 'e1', ${tone.id}, ${person}, 1, ${type},
        ${JSON.stringify(value)}::text::jsonb
      )`;
  }
});

afterAll(() => clusters.close());

function agreementsUpTo(scoresMax?: number) {
  return createAgreements({
    clusters,
    humanMetrics: {
      find: () => Promise.resolve(new Map()),
      list: () => Promise.resolve([stars, tone]),
    },
    ...(scoresMax !== undefined && { scoresMax }),
  });
}

const place = () => ({ projectId: project.projectId, clusterId: "default" });

test("scores of an event count together, wherever a page ends", async () => {
  const [ofStars] = await agreementsUpTo().get(place(), queueId, "stars");

  expect(ofStars).toMatchObject({ events, scores: events * people, reviewers: people });
  expect(ofStars?.observed).toBe(1);
  expect(ofStars?.alpha).toBeCloseTo(1, 9);
});

test("texts are compared, and scores of an earlier return type do not count", async () => {
  const [, ofTone] = await agreementsUpTo().get(place(), queueId, undefined);

  expect(ofTone).toMatchObject({ level: "nominal", events: 1, scores: 2, observed: 1 });
});

test("too many scores are an error that says to ask for one metric", async () => {
  const most = events * people + 1;

  const all = agreementsUpTo(most).get(place(), queueId, undefined);
  await expect(all).rejects.toMatchObject({ reason: "ANSWER_TOO_LARGE" });
  expect(await agreementsUpTo(most).get(place(), queueId, tone.id)).toHaveLength(1);
});

// Annotation queues over the whole service: the shapes of the published client, places at events
// for several people, their scores, what stands on the event, and agreement.
// Source: docs/queues.md; docs/decisions.md, 45.1 to 45.5.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";
import { withSignIn } from "../support/tenants.ts";

const service = givenStarted(startService);

type Json = Readonly<Record<string, unknown>>;
type Item = {
  readonly event_id: string;
  readonly state: string;
  readonly reviews: readonly Json[];
};

const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;
const notFound = { status: 404 };
const someFilters = {
  filterArray: [{ field: "event_type", operator: "is", value: "model", type: "string" }],
};

/** A project with some events. */
async function givenEvents(...ids: readonly string[]): Promise<MetricProject> {
  const project = await givenAMetricProject(service);
  const events = ids.map((event_id) => ({
    event_id,
    event_type: "tool",
    source: "sdk",
    inputs: { id: event_id },
  }));
  if (events.length > 0) await project.ok("POST /v1/events/batch", { events });
  return project;
}

/** Creates a queue, which must succeed, and returns its id. */
async function create(project: MetricProject, fields: Json = {}): Promise<string> {
  const made = await project.call("POST /v1/queues", { name: "to review", ...fields });
  if (made.status !== 201) throw new Error(made.text);
  return (made.json["queue"] as { id: string }).id;
}

const human = { type: "HUMAN", criteria: "How is it?" };

async function metricsOf(project: MetricProject, eventId: string): Promise<unknown> {
  const filters = [{ field: "event_id", operator: "is", value: eventId, type: "id" }];
  const { events } = (await project.ok("POST /v1/events/export", { filters })) as {
    events: readonly Json[];
  };
  return events[0]?.["metrics"];
}

async function itemsOf(project: MetricProject, id: string, query = ""): Promise<Item[]> {
  const { items } = await project.ok(`GET /v1/queues/${id}/items?${query}`);
  return items as Item[];
}

const progressOf = async (project: MetricProject, id: string): Promise<unknown> =>
  (await project.ok(`GET /v1/queues/${id}/items?limit=1`))["progress"];

describe("queues", () => {
  test("are created with a 201, read, changed, listed and deleted", async () => {
    const project = await givenEvents("e1", "e2");

    const made = await project.call("POST /v1/queues", {
      name: "to review",
      description: "of models",
      enabled: false,
      filters: someFilters,
      event_ids: ["e1"],
    });
    const queue = made.json["queue"] as Json & { id: string };
    const path = `/v1/queues/${queue.id}`;

    expect(made).toMatchObject({ status: 201, json: { message: "The queue is created" } });
    expect(queue).toEqual({
      id: queue.id,
      name: "to review",
      description: "of models",
      filters: someFilters,
      enabled: false,
      scope_id: project.projectId,
      scope_type: "project",
      is_active: true,
      created_at: aTime,
      updated_at: null,
      reviewers_per_event: 1,
      claim_seconds: 900,
    });
    expect(await project.ok(`GET ${path}`)).toEqual(queue);

    const changed = await project.ok(`PUT ${path}`, {
      id: queue.id,
      name: "renamed",
      add_event_ids: ["e2"],
      remove_event_ids: ["e1"],
    });
    expect(changed).toEqual({
      queue: { ...queue, name: "renamed", updated_at: aTime },
      message: "The queue is updated",
    });
    expect((await itemsOf(project, queue.id)).map((item) => item.event_id)).toEqual(["e2"]);

    expect(await project.ok("GET /v1/queues?enabled=false")).toEqual({
      queues: [changed["queue"]],
    });
    expect(await project.ok("GET /v1/queues?enabled=true")).toEqual({ queues: [] });

    expect(await project.ok(`DELETE ${path}`)).toEqual({ message: "The queue is deleted" });
    for (const route of [`GET ${path}`, `DELETE ${path}`, `GET ${path}/items`]) {
      expect(await project.call(route)).toMatchObject(notFound);
    }
    expect(await project.ok("GET /v1/queues")).toEqual({ queues: [] });
  });

  test("are not changed by events that are in or out already", async () => {
    const project = await givenEvents("e1", "e2");
    const id = await create(project, { event_ids: ["e1"] });
    const path = `/v1/queues/${id}`;

    const { queue } = await project.ok(`PUT ${path}`, {
      add_event_ids: ["e1"],
      remove_event_ids: ["e2"],
    });
    expect(queue).toMatchObject({ updated_at: null });
    await project.ok(`PUT ${path}`, { add_event_ids: ["e1", "e2"] });

    const rows = await service.database.sql()<{ after: object }[]>`
      select after from audit_log where target_id = ${id} and action = 'queue.update'`;
    expect(rows).toMatchObject([{ after: { added: 1, removed: 0 } }]);
  });

  test("answer in /openapi.json what they answer: a 201 for a new one", async () => {
    const response = await fetch(`${service.url}/openapi.json`);
    const { paths } = (await response.json()) as {
      paths: Record<string, Record<string, { responses: object }>>;
    };

    const { post, get } = paths["/v1/queues"] ?? {};
    expect(Object.keys(post?.responses ?? {})).toEqual(["201", "400", "404", "default"]);
    expect(Object.keys(get?.responses ?? {})).toContain("200");
  });

  test("have an audit row for each change", async () => {
    const project = await givenEvents();
    const id = await create(project);
    await project.ok(`PUT /v1/queues/${id}`, { name: "renamed" });
    await project.ok(`DELETE /v1/queues/${id}`);

    const rows = await service.database.sql()<{ action: string }[]>`
      select action from audit_log where target_id = ${id} order by sequence`;
    expect(rows.map(({ action }) => action)).toEqual([
      "queue.create",
      "queue.update",
      "queue.delete",
    ]);
  });

  test.each([
    { name: "no name", body: {}, says: "name" },
    { name: "a blank name", body: { name: " " }, says: "name: must not be blank" },
    { name: "an absent event", body: { event_ids: ["absent"] }, says: "event_ids[0]" },
    { name: "no reviewers", body: { reviewers_per_event: 0 }, says: "reviewers_per_event" },
    { name: "an endless claim", body: { claim_seconds: 86_401 }, says: "claim_seconds" },
    {
      name: "a wrong filter",
      body: { filters: { filterArray: [{ field: "a", operator: "like", value: 1 }] } },
      says: "operator",
    },
  ])("refuse $name", async ({ name, body, says }) => {
    const project = await givenEvents();
    const named = name === "no name" ? {} : { name: "n" };

    const refused = await project.call("POST /v1/queues", { ...named, ...body });

    expect(refused.status).toBe(400);
    expect(refused.text).toContain(says);
    expect(await project.ok("GET /v1/queues")).toEqual({ queues: [] });
  });

  test("of another project are the 404, and so are its events", async () => {
    const [project, other] = [await givenEvents("e1"), await givenEvents("e2")];
    const id = await create(project, { event_ids: ["e1"] });
    const path = `/v1/queues/${id}`;
    const event = { event_id: "e1" };
    const scores = [{ metric: await other.make({ ...human, name: "kind" }), value: 1 }];

    for (const [route, body] of [
      [`GET ${path}`],
      [`PUT ${path}`, { name: "mine" }],
      [`DELETE ${path}`],
      [`GET ${path}/items`],
      [`GET ${path}/items/e1`],
      [`POST ${path}/claim`, event],
      [`POST ${path}/release`, event],
      [`POST ${path}/complete`, { ...event, scores }],
      [`GET ${path}/agreement`],
    ] as const) {
      expect(await other.call(route, body), route).toMatchObject(notFound);
    }
    expect(await other.call("POST /v1/queues", { name: "n", event_ids: ["e1"] })).toMatchObject({
      status: 400,
    });
    expect(await project.ok(`GET ${path}`)).toMatchObject({ name: "to review" });
  });

  test("with filters make the commits of the project's events known to the router", async () => {
    const project = await givenEvents();
    await create(project, { filters: someFilters });
    await project.ok("POST /v1/events", { event_id: "m1", event_type: "model", inputs: {} });

    const rows = await service.database.sql()<{ event_ids: string[] }[]>`
      select event_ids from evaluation_queue where project_id = ${project.projectId}`;
    expect(rows.flatMap(({ event_ids: ids }) => ids)).toContain("m1");
  });
});

describe("claims", () => {
  test("give each person another event, and the same person the same", async () => {
    const project = await givenEvents("e1", "e2");
    const id = await create(project, { event_ids: ["e1", "e2"] });
    const claim = (reviewer?: string) =>
      project.ok(`POST /v1/queues/${id}/claim`, { ...(reviewer && { reviewer }) });

    const ann = await claim("Ann");
    const again = await claim("Ann");
    const bob = await claim("Bob");
    const none = await claim("Cid");

    expect(ann).toMatchObject({
      item: { event_id: "e1", state: "claimed", completed_at: null },
      reviewer: expect.stringMatching(/^key:.*\/Ann$/) as string,
    });
    expect(again["item"]).toMatchObject({ event_id: "e1", reviews: [{ name: "Ann" }] });
    expect(bob["item"]).toMatchObject({ event_id: "e2" });
    expect(none["item"]).toBeNull();
    const progress = { pending: 0, claimed: 2, completed: 0, passed_over: 0 };
    expect(await progressOf(project, id)).toEqual(progress);
  });

  test("go to one person each, of many who ask at once", async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `e${index}`);
    const project = await givenEvents(...ids);
    const id = await create(project, { event_ids: ids, reviewers_per_event: 2 });

    const claims = await Promise.all(
      Array.from({ length: 25 }, (_, index) =>
        project.ok(`POST /v1/queues/${id}/claim`, { reviewer: `person ${index}` }),
      ),
    );

    const given = claims.flatMap(({ item }) => (item ? [(item as Item).event_id] : []));
    expect(given.toSorted()).toEqual(ids.flatMap((event) => [event, event]));
  });

  test("of a given event fail while others hold it, and when it is not in the queue", async () => {
    const project = await givenEvents("e1", "e2");
    const id = await create(project, { event_ids: ["e1"] });
    const path = `POST /v1/queues/${id}/claim`;

    await project.ok(path, { event_id: "e1", reviewer: "Ann" });
    const taken = await project.call(path, { event_id: "e1", reviewer: "Bob" });

    expect(taken).toMatchObject({ status: 409 });
    expect(taken.text).toContain("the event is claimed by other reviewers");
    expect(await project.call(path, { event_id: "e2" })).toMatchObject(notFound);
    expect(await project.call(path, { reviewer: " " })).toMatchObject({ status: 400 });
  });

  test("are free again when they are released and when they expire", async () => {
    const project = await givenEvents("e1");
    const id = await create(project, { event_ids: ["e1"] });
    const path = `/v1/queues/${id}`;
    const ann = { event_id: "e1", reviewer: "Ann" };
    const bob = { event_id: "e1", reviewer: "Bob" };

    await project.ok(`POST ${path}/claim`, ann);
    expect(await project.ok(`POST ${path}/release`, ann)).toEqual({ released: true });
    expect(await project.ok(`POST ${path}/release`, ann)).toEqual({ released: false });
    await project.ok(`POST ${path}/claim`, bob);
    await service.database.sql()`
      update annotation_reviews set expires_at = now()
      where project_id = ${project.projectId}`;

    expect(await itemsOf(project, id, "state=claimed")).toEqual([]);
    expect(await project.ok(`POST ${path}/claim`, { reviewer: "Ann" })).toMatchObject({
      item: { reviews: [{ name: "Ann" }] },
    });
    expect(await project.call(`POST ${path}/claim`, bob)).toMatchObject({ status: 409 });
  });

  test("of the next event prefer others to what the person has released", async () => {
    const project = await givenEvents("e1", "e2");
    const id = await create(project, { event_ids: ["e1", "e2"], reviewers_per_event: 2 });
    const next = async (reviewer: string, releases: boolean) => {
      const { item } = await project.ok(`POST /v1/queues/${id}/claim`, { reviewer });
      const event = { event_id: (item as Item).event_id, reviewer };
      if (releases) await project.ok(`POST /v1/queues/${id}/release`, event);
      return event.event_id;
    };

    expect(await next("Ann", true)).toBe("e1");
    expect(await next("Bob", false)).toBe("e1");
    expect(await next("Ann", true)).toBe("e2");
    // When there is no other, the released ones come again in turn.
    expect(await next("Ann", true)).toBe("e1");
    expect(await next("Ann", false)).toBe("e2");
    const progress = { pending: 0, claimed: 2, completed: 0, passed_over: 0 };
    expect(await progressOf(project, id)).toEqual(progress);
  });
});

describe("reviews", () => {
  test("write the mean, the majority and the reasons into the event's metrics", async () => {
    const project = await givenEvents("e1");
    const stars = await project.make({ ...human, name: "stars", scale: 5 });
    await project.make({ ...human, name: "kind", return_type: "boolean" });
    const id = await create(project, { event_ids: ["e1"], reviewers_per_event: 3 });
    const path = `/v1/queues/${id}`;
    const complete = (reviewer: string, value: number, kind: boolean, explanation?: string) =>
      project.ok(`POST ${path}/complete`, {
        event_id: "e1",
        reviewer,
        scores: [
          { metric: stars, value, explanation },
          { metric: "kind", value: kind },
        ],
      });

    await project.ok(`POST ${path}/claim`, { reviewer: "Ann" });
    const first = await complete("Ann", 1, false, "too long");
    expect(first).toMatchObject({ metrics: { stars: 1, kind: false }, item: { state: "pending" } });
    expect(await metricsOf(project, "e1")).toMatchObject({ stars_explanation: "too long" });
    const hidden = await project.ok(`GET ${path}/items/e1`);
    expect(hidden).toMatchObject({ reviews: [{ name: "Ann", scores: [] }] });

    await complete("Bob", 2, true);
    const last = await complete("Cid", 5, true);

    expect(last).toMatchObject({ item: { state: "completed", completed_at: aTime } });
    expect(await metricsOf(project, "e1")).toMatchObject({ kind: true });
    expect(((await metricsOf(project, "e1")) as Json)["stars"]).toBeCloseTo(8 / 3, 12);
    const shown = (await project.ok(`GET ${path}/items/e1`)) as unknown as Item;
    expect(shown.reviews.map(({ name }) => name)).toEqual(["Ann", "Bob", "Cid"]);
    expect(shown.reviews[0]?.["scores"]).toEqual(
      expect.arrayContaining([{ metric: stars, value: 1, explanation: "too long" }]),
    );
  });

  test("are one for each person and event, and as many as the queue asks for", async () => {
    const project = await givenEvents("e1");
    await project.make({ ...human, name: "stars" });
    const id = await create(project, { event_ids: ["e1"], reviewers_per_event: 2 });
    const path = `/v1/queues/${id}`;
    const review = (reviewer: string) =>
      project.call(`POST ${path}/complete`, {
        event_id: "e1",
        reviewer,
        scores: [{ metric: "stars", value: 1 }],
      });

    expect(await review("Ann")).toMatchObject({ status: 200 });
    expect((await review("Ann")).text).toContain("you have reviewed the event");
    expect(await project.ok(`POST ${path}/claim`, { reviewer: "Ann" })).toMatchObject({
      item: null,
    });
    expect(await review("Bob")).toMatchObject({ status: 200 });
    expect(await review("Cid")).toMatchObject({ status: 409 });
  });

  test("fill the places of an event once, by many people who complete at once", async () => {
    const project = await givenEvents("e1");
    await project.make({ ...human, name: "stars" });
    const id = await create(project, { event_ids: ["e1"], reviewers_per_event: 3 });

    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        project.call(`POST /v1/queues/${id}/complete`, {
          event_id: "e1",
          reviewer: `person ${index}`,
          scores: [{ metric: "stars", value: 2 }],
        }),
      ),
    );

    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array<number>(3).fill(200), ...Array<number>(9).fill(409)]);
    const shown = (await project.ok(`GET /v1/queues/${id}/items/e1`)) as unknown as Item;
    expect(shown.reviews).toHaveLength(3);
  });

  test("complete an event when the queue asks for fewer people", async () => {
    const project = await givenEvents("e1", "e2");
    await project.make({ ...human, name: "stars" });
    const id = await create(project, { event_ids: ["e1", "e2"], reviewers_per_event: 2 });
    const path = `/v1/queues/${id}`;
    const scores = [{ metric: "stars", value: 1 }];
    await project.ok(`POST ${path}/complete`, { event_id: "e1", scores });

    await project.ok(`PUT ${path}`, { reviewers_per_event: 1 });

    const completed = await itemsOf(project, id, "state=completed");
    expect(completed.map((item) => item.event_id)).toEqual(["e1"]);
    expect(await progressOf(project, id)).toMatchObject({ pending: 1, completed: 1 });
  });

  test("of signed-in people are theirs, without a name", async () => {
    const project = await givenEvents("e1");
    const id = await create(project, { event_ids: ["e1"] });
    const role = { level: "project", role: "project_member" } as const;
    const credential = await withSignIn(service.database, project, {
      ...role,
      origin: service.url,
    });
    const claim = (body: Json) =>
      fetch(`${service.url}/v1/queues/${id}/claim`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { ...credential, "content-type": "application/json" },
      });

    const named = await claim({ reviewer: "Ann" });
    const own = await claim({});

    expect(named.status).toBe(400);
    expect(await own.json()).toMatchObject({ reviewer: expect.stringMatching(/^user:/) as string });
  });

  test.each([
    { name: "a text for a number", score: { metric: "stars", value: "four" }, says: "a number" },
    { name: "a number past the scale", score: { metric: "stars", value: 6 }, says: "0 to 5" },
    { name: "another category", score: { metric: "tone", value: "odd" }, says: "categories" },
    { name: "no value", score: { metric: "stars" }, says: "scores[0].value" },
    { name: "an object", score: { metric: "stars", value: {} }, says: "scores[0].value" },
    { name: "no such metric", score: { metric: "absent", value: 1 }, says: "scores[0].metric" },
    { name: "a metric of code", score: { metric: "length", value: 1 }, says: "of type HUMAN" },
  ])("are refused with $name, and change nothing", async ({ score, says }) => {
    const project = await givenEvents("e1");
    await project.make({ ...human, name: "stars", scale: 5 });
    await project.make({ name: "length", type: "PYTHON", criteria: "result = 1" });
    const categories = [{ category: "good", score: 1 }];
    await project.make({ ...human, name: "tone", return_type: "categorical", categories });
    const id = await create(project, { event_ids: ["e1"] });

    const refused = await project.call(`POST /v1/queues/${id}/complete`, {
      event_id: "e1",
      scores: [score],
    });

    expect(refused.status).toBe(400);
    expect(refused.text).toContain(says);
    expect(await metricsOf(project, "e1")).toEqual({});
    expect(await progressOf(project, id)).toMatchObject({ pending: 1 });
  });
});

test("items are listed in pages, by state", async () => {
  const ids = ["e1", "e2", "e3"];
  const project = await givenEvents(...ids);
  const id = await create(project, { event_ids: ids });
  await project.ok(`POST /v1/queues/${id}/claim`, { event_id: "e2" });

  const first = await project.ok(`GET /v1/queues/${id}/items?limit=2`);
  const rest = await itemsOf(project, id, `limit=2&cursor=${String(first["next_cursor"])}`);

  expect([...(first["items"] as Item[]), ...rest].map((item) => item.event_id)).toEqual(ids);
  const pending = await itemsOf(project, id, "state=pending");
  expect(pending.map((item) => item.event_id)).toEqual(["e1", "e3"]);
  expect(await itemsOf(project, id, "state=claimed")).toMatchObject([{ event_id: "e2" }]);
  const wrong = await project.call(`GET /v1/queues/${id}/items?state=open`);
  expect(wrong).toMatchObject({ status: 400 });
});

test("agreement is of events with two people, by metric", async () => {
  const ids = ["e1", "e2", "e3", "e4"];
  const project = await givenEvents(...ids);
  const kind = await project.make({ ...human, name: "kind", return_type: "boolean" });
  await project.make({ ...human, name: "unused" });
  const id = await create(project, { event_ids: ids, reviewers_per_event: 2 });
  const path = `/v1/queues/${id}`;
  const given = { Ann: [true, true, false, true], Bob: [true, false, false] };
  for (const [reviewer, values] of Object.entries(given)) {
    for (const [index, value] of values.entries()) {
      const scores = [{ metric: kind, value }];
      await project.ok(`POST ${path}/complete`, { event_id: ids[index], reviewer, scores });
    }
  }

  const { metrics } = await project.ok(`GET ${path}/agreement`);

  expect(metrics).toEqual([
    {
      metric_id: kind,
      name: "kind",
      return_type: "boolean",
      level: "nominal",
      events: 3,
      scores: 6,
      reviewers: 2,
      observed_agreement: expect.closeTo(2 / 3, 12) as number,
      cohen_kappa: expect.closeTo(0.4, 12) as number,
      krippendorff_alpha: expect.closeTo(1 - (5 * 2) / (2 * 3 * 3), 12) as number,
    },
  ]);
  const unused = await project.ok(`GET ${path}/agreement?metric=unused`);
  expect(unused["metrics"]).toMatchObject([{ events: 0, krippendorff_alpha: null }]);
  expect(await project.call(`GET ${path}/agreement?metric=absent`)).toMatchObject({ status: 400 });
});

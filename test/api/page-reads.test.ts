// What pages read of long sessions and of many events: skeletons in pages, events by their ids, and
// the values of a field. Source: docs/decisions.md, 57.3, 57.4.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";
import { withSignIn } from "../support/tenants.ts";

const service = givenStarted(startService);

type Json = Readonly<Record<string, unknown>>;

const at = 1_700_000_000_000;
const model = {
  event_type: "model",
  event_name: "call",
  source: "sdk",
  inputs: {},
  duration: 5,
  config: { model: "gpt-4o" },
  metadata: { prompt_tokens: 3, completion_tokens: "4", cost: 0.5 },
};
const error = "e".repeat(900);
const chain = { event_type: "chain", event_name: "step", source: "sdk", inputs: {} };

async function givenASession() {
  const project = await givenAMetricProject(service);
  await project.ok("POST /v1/sessions", { session_id: "s1", session_name: "a session" });
  const events = [
    { ...chain, event_id: "a", start_time: at, children_ids: ["b"], outputs: { big: "x" } },
    {
      ...model,
      event_id: "b",
      start_time: at + 1,
      feedback: { good: true },
      error,
    },
    { ...model, event_id: "c", start_time: at + 1, parent_id: "a", metrics: { quality: 1 } },
    { ...chain, event_id: "d", start_time: at + 2 },
  ];
  await project.ok("POST /v1/events/batch", {
    events: events.map((event) => ({ ...event, session_id: "s1" })),
  });
  return project;
}

function idsIn(json: Json): readonly unknown[] {
  return (json["events"] as readonly Json[]).map((event) => event["event_id"]);
}

test("a skeleton has places, times, tokens and costs, first the session's sums", async () => {
  const project = await givenASession();

  const json = await project.ok("GET /v1/sessions/s1/skeleton");

  const events = json["events"] as readonly Json[];
  expect(json["session"]).toMatchObject({ event_id: "s1", event_name: "a session" });
  expect(json["session"]).not.toHaveProperty("parent_id");
  expect(json["totals"]).toMatchObject({ num_events: 4, total_tokens: 14, cost: 1 });
  expect(events.map(({ event_id, parent_id }) => [event_id, parent_id])).toEqual([
    ["a", "s1"],
    ["b", "a"],
    ["c", "a"],
    ["d", "s1"],
  ]);
  expect(events[1]).toMatchObject({
    event_type: "model",
    event_name: "call",
    model: "gpt-4o",
    error: "e".repeat(300),
    start_time: at + 1,
    duration: 5,
    prompt_tokens: 3,
    completion_tokens: 4,
    total_tokens: 7,
    cost: 0.5,
    has_feedback: true,
    has_metrics: false,
  });
  expect(events[2]).toMatchObject({ has_feedback: false, has_metrics: true });
  expect(events[0]).not.toHaveProperty("outputs");
  expect(json).not.toHaveProperty("next_cursor");
});

test("pages of a skeleton hold every event once, those of one time too", async () => {
  const project = await givenASession();
  const pages: Json[] = [];
  let cursor = "";
  do {
    const query = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await project.ok(`GET /v1/sessions/s1/skeleton?limit=1${query}`);
    pages.push(page);
    cursor = (page["next_cursor"] as string | undefined) ?? "";
  } while (cursor !== "");

  expect(pages.flatMap(idsIn)).toEqual(["a", "b", "c", "d"]);
  expect(pages.map((page) => "session" in page)).toEqual([true, false, false, false]);
});

test("the skeleton of an absent session is absent, and limits are named", async () => {
  const project = await givenASession();

  expect((await project.call("GET /v1/sessions/none/skeleton")).status).toBe(404);
  expect((await project.call("GET /v1/sessions/a/skeleton")).status).toBe(404);
  const long = await project.call("GET /v1/sessions/s1/skeleton?limit=10001");
  expect(long).toMatchObject({ status: 400, text: expect.stringContaining("limit") as string });
});

test("events come in the order of the ids, without absent and foreign ones", async () => {
  const project = await givenASession();
  const other = await givenASession();
  await other.ok("POST /v1/events", { ...chain, event_id: "theirs" });

  const body = { event_ids: ["d", "none", "a", "theirs", "d"] };
  const all = await project.ok("POST /v1/events/get", body);
  const narrow = await project.ok("POST /v1/events/get", {
    event_ids: ["a"],
    projections: ["event_name"],
  });

  expect(idsIn(all)).toEqual(["d", "a"]);
  expect((all["events"] as readonly Json[])[1]).toMatchObject({ outputs: { big: "x" } });
  expect((narrow["events"] as readonly Json[])[0]).not.toHaveProperty("outputs");
  const many = Array.from({ length: 101 }, (_, index) => `e${index}`);
  expect((await project.call("POST /v1/events/get", { event_ids: many })).status).toBe(400);
  expect((await project.call("POST /v1/events/get", { event_ids: [] })).status).toBe(400);
});

async function givenUsers() {
  const project = await givenAMetricProject(service);
  const users = ["ana", "ana", "ana", "Anton", "bob", 7];
  await project.ok("POST /v1/events/batch", {
    events: users.map((user) => ({ ...chain, session_id: "s", metadata: { user } })),
  });
  return project;
}

test("values of a field are counted, the most frequent first", async () => {
  const project = await givenUsers();

  const all = await project.ok("GET /v1/events/fields/values?field=metadata.user");
  const some = await project.ok("GET /v1/events/fields/values?field=metadata.user&prefix=AN");
  const one = await project.ok("GET /v1/events/fields/values?field=metadata.user&limit=1");

  expect(all).toMatchObject({
    values: [
      { value: "ana", count: 3 },
      { value: "7", count: 1 },
      { value: "Anton", count: 1 },
      { value: "bob", count: 1 },
    ],
    is_exact: true,
  });
  expect(some["values"]).toEqual([
    { value: "ana", count: 3 },
    { value: "Anton", count: 1 },
  ]);
  expect(one).toMatchObject({ values: [{ value: "ana", count: 3 }], is_exact: false });
});

test("values keep to filters and dates, and columns have values too", async () => {
  const project = await givenUsers();
  const post = (body: Json) => project.ok("POST /v1/events/fields/values", body);
  const isBob = [{ field: "metadata.user", operator: "is", value: "bob" }];

  const filtered = await post({ field: "metadata.user", filters: isBob });
  const names = await post({ field: "event_name" });
  const past = await post({ field: "event_name", dateRange: { $gte: at, $lte: at + 1 } });
  const unknown = await project.call("GET /v1/events/fields/values?field=metadata.nothing");

  expect(filtered["values"]).toEqual([{ value: "bob", count: 1 }]);
  expect(names["values"]).toContainEqual({ value: "step", count: 6 });
  expect(past).toMatchObject({ values: [], scanned: 0, is_exact: true });
  expect(unknown).toMatchObject({ status: 400, text: expect.stringContaining("field") as string });
});

test("a signed-in viewer reads all of these", async () => {
  const project = await givenASession();
  const options = { level: "project", role: "project_viewer", origin: service.url } as const;
  const headers = {
    ...(await withSignIn(service.database, project, options)),
    "content-type": "application/json",
  };

  const got = await Promise.all([
    fetch(`${service.url}/v1/sessions/s1/skeleton`, { headers }),
    fetch(`${service.url}/v1/events/fields/values?field=event_name`, { headers }),
    fetch(`${service.url}/v1/events/get`, {
      method: "POST",
      headers,
      body: JSON.stringify({ event_ids: ["a"] }),
    }),
  ]);

  expect(got.map(({ status }) => status)).toEqual([200, 200, 200]);
});

/** Returns what lists the ids of the sessions that meet a filter. */
const finderOf =
  (project: MetricProject) => async (field: string, operator: string, value?: unknown) => {
    const filters = JSON.stringify([{ field, operator, value }]);
    const page = await project.ok(`GET /v1/sessions?filters=${encodeURIComponent(filters)}`);
    return (page["sessions"] as Json[]).map(({ session_id }) => session_id);
  };

test("sessions are found by the sums that their metadata shows", async () => {
  const project = await givenASession();
  const find = finderOf(project);
  await project.ok("POST /v1/sessions", { session_id: "own", metadata: { cost: 7 } });

  const listed = await project.ok("GET /v1/sessions");

  expect(listed["sessions"]).toMatchObject([
    { session_id: "own", metadata: { cost: 7, num_events: 0 } },
    { session_id: "s1", metadata: { cost: 1, prompt_tokens: 6 } },
  ]);
  expect(await find("metadata.cost", "is", 1)).toEqual(["s1"]);
  // The sender's own key wins, as in the answer.
  expect(await find("metadata.cost", "greater than", 1)).toEqual(["own"]);
  expect(await find("metadata.cost", "exists")).toEqual(["own", "s1"]);
  expect(await find("metadata.prompt_tokens", "is", "6")).toEqual(["s1"]);
  expect(await find("metadata.num_events", "is", 0)).toEqual(["own"]);
});

test("sessions are found by the feedback that their metadata shows", async () => {
  const project = await givenAMetricProject(service);
  const find = finderOf(project);
  const give = (session_id: string, more: object) =>
    project.ok("POST /v1/sessions", { session_id, start_time: 1_700_000_000_000, ...more });
  await give("a", {});
  await give("b", { feedback: { rating: 1 } });
  await give("c", { metadata: { has_feedback: true } });
  await give("d", { metadata: { has_feedback: "yes" } });

  const { sessions } = await project.ok("GET /v1/sessions");

  const shown = (sessions as Json[]).map((one) => (one["metadata"] as Json)["has_feedback"]);
  expect(shown).toEqual(["yes", true, true, false]);
  expect(await find("metadata.has_feedback", "is", true)).toEqual(["c", "b"]);
  expect(await find("metadata.has_feedback", "is", false)).toEqual(["a"]);
  expect(await find("has_feedback", "is", true)).toEqual(["b"]);
});

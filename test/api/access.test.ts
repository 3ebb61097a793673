// Every route × every kind of key: who may call what, and that every denial is the same bytes.
// A route added without a row fails here.
// Source: docs/spec.md, "Authentication"; docs/decisions.md, 10, 14 and 35.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../gen/google/api/http_pb.js";
import { TracingService } from "../../gen/waggle/compat/v0/tracing_pb.js";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../gen/waggle/v1/export_pb.js";
import { access } from "../../gen/waggle/v1/options_pb.js";
import { SessionService } from "../../gen/waggle/v1/session_pb.js";
import { createKeys } from "../../src/access/keys/keys.ts";
import { givenAProject } from "../support/project.ts";
import { startService, type TestService } from "../support/service.ts";

type Kind = "project" | "readOnly" | "ingestion";

/** What a key of another project gets: its own empty project, or the 404 of what is not there. */
type Elsewhere = "own project" | "absent";

type Row = {
  readonly route: string;
  readonly rpc: string;
  readonly permission: string;
  readonly kinds: readonly Kind[];
  readonly elsewhere: Elsewhere;
  readonly body?: unknown;
};

const all: readonly Kind[] = ["project", "readOnly", "ingestion"];
const writers: readonly Kind[] = ["project", "ingestion"];
const readers: readonly Kind[] = ["project", "readOnly"];
const owner: readonly Kind[] = ["project"];

const event = { event_type: "tool", inputs: {}, source: "test" };
const call = { model: "m", provider: "p", messages: [], response: {}, duration: 1 };
const update = { metadata: { seen: true } };

const rows: readonly Row[] = [
  row("POST /events", "CreateEvent", "project.event.create", writers, "own project", { event }),
  row("POST /v1/events", "CreateEvent", "project.event.create", writers, "own project", event),
  ...["/events/batch", "/v1/events/batch"].map((path) =>
    row(`POST ${path}`, "CreateEventBatch", "project.event.create", writers, "own project", {
      events: [event],
    }),
  ),
  row("PUT /events", "EnrichEvent", "project.event.update", writers, "own project", {
    event_id: "e1",
    ...update,
  }),
  row("PUT /v1/events/e1", "UpdateEvent", "project.event.update", writers, "absent", update),
  row("GET /v1/events/e1", "GetEvent", "project.event.get", readers, "absent"),
  row("DELETE /v1/events/e1", "DeleteEvent", "project.event.delete", owner, "absent"),
  row("POST /session/start", "StartSession", "project.session.create", writers, "own project", {
    session: {},
  }),
  row("POST /v1/sessions", "StartSession", "project.session.create", writers, "own project", {}),
  row("PUT /session/s1", "UpdateSession", "project.session.update", writers, "absent", {
    error: "",
    output: {},
  }),
  row("GET /session/s1", "GetSession", "project.session.get", readers, "absent"),
  row("GET /v1/sessions/s1", "GetSessionTree", "project.session.get", readers, "absent"),
  row("GET /v1/sessions", "ListSessions", "project.session.list", readers, "own project"),
  row("DELETE /v1/sessions/s1", "DeleteSession", "project.session.delete", owner, "absent"),
  row(
    "POST /v1/sessions/s1/events/batch",
    "AddSessionEvents",
    "project.event.create",
    writers,
    "own project",
    { events: [event] },
  ),
  row("POST /events/export", "ExportEvents", "project.event.list", readers, "own project", {}),
  row("POST /v1/events/export", "ExportEvents", "project.event.list", readers, "own project", {}),
  row("GET /events", "ExportEvents", "project.event.list", readers, "own project"),
  row("POST /v1/events/search", "SearchEvents", "project.event.list", readers, "own project", {}),
  row("POST /v1/events/stream", "StreamEvents", "project.event.list", readers, "own project", {}),
  row("GET /v1/events/schema", "GetEventSchema", "project.event.schema", readers, "own project"),
  row("POST /session/s1/traces", "AddTraces", "project.event.create", writers, "own project", {
    logs: [event],
  }),
  ...["/events/model", "/v1/events/model"].map((path) =>
    row(`POST ${path}`, "CreateModelEvent", "project.event.create", writers, "own project", {
      model_event: call,
    }),
  ),
  ...["/events/model/batch", "/v1/events/model/batch"].map((path) =>
    row(`POST ${path}`, "CreateModelEventBatch", "project.event.create", writers, "own project", {
      model_events: [{ ...call, source: "test" }],
    }),
  ),
  ...["/v1/traces", "/opentelemetry/v1/traces"].map((path) =>
    row(`POST ${path}`, "Export", "project.trace.export", writers, "own project", {
      resourceSpans: [],
    }),
  ),
];

function row(
  route: string,
  rpc: string,
  permission: string,
  kinds: readonly Kind[],
  elsewhere: Elsewhere,
  body?: unknown,
): Row {
  return { route, rpc, permission, kinds, elsewhere, body };
}

const methods: readonly DescMethod[] = [
  EventService,
  SessionService,
  ExportService,
  TracingService,
].flatMap((service) => service.methods);

const notFound = Buffer.from(
  '{"success":false,"statusCode":404,"errorCode":"NOT_FOUND","message":"Not found"}',
);

let service: TestService;
const badKeys: Record<string, string | undefined> = {};

beforeAll(async () => {
  service = await startService();
  const keys = createKeys({ database: service.database, cacheEntriesMax: 0, cacheAgeMs: 0 });
  const { projectId } = service;
  const revoked = await keys.create({ kind: "project", projectId, name: "k", createdBy: "test" });
  await keys.revoke(revoked.keyId, "test");
  badKeys["no key"] = undefined;
  badKeys["an empty key"] = "Bearer ";
  badKeys["another scheme"] = `Basic ${service.projectKey}`;
  badKeys["a malformed key"] = "Bearer hh_short";
  badKeys["an unknown key"] = `Bearer hh_${"A".repeat(40)}`;
  badKeys["a key with a tail"] = `Bearer ${service.projectKey}x`;
  badKeys["a revoked key"] = `Bearer ${revoked.secret}`;
  badKeys["a key of an archived project"] = `Bearer ${await archivedProjectKey()}`;
});

afterAll(() => service.stop());

async function archivedProjectKey(): Promise<string> {
  const { projectId } = await givenAProject(service.database, "archived");
  const keys = createKeys({ database: service.database, cacheEntriesMax: 0, cacheAgeMs: 0 });
  const options = { kind: "project", projectId, name: "k", createdBy: "test" } as const;
  const { secret } = await keys.create(options);
  const sql = service.database.sql();
  await sql`update projects set archived_at = now() where project_id = ${projectId}`;
  return secret;
}

async function send({ route, body }: Row, authorization: string | undefined) {
  const [method = "", path = ""] = route.split(" ");
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
}

// Each row begins with the session and the event it may read, change or delete.
async function givenTheSession(): Promise<void> {
  const response = await fetch(`${service.url}/events`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.projectKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ event: { ...event, event_id: "e1", session_id: "s1" } }),
  });
  expect(response.status).toBe(200);
}

const keyOf: Record<Kind, (from: TestService) => string> = {
  project: (from) => from.projectKey,
  readOnly: (from) => from.readOnlyKey,
  ingestion: (from) => from.ingestionKey,
};

describe("the rows", () => {
  test("cover every binding of every rpc", () => {
    const want = methods.flatMap((method) => bindingsOf(getOption(method, http)));
    const got = rows
      .map(({ route }) => route)
      .filter((route) => !route.endsWith("/traces") || route.includes("/session/"));

    const filled = want.map((route) =>
      route.replace("{event_id}", "e1").replace("{session_id}", "s1"),
    );
    expect(got.toSorted()).toEqual(filled.toSorted());
  });

  test.each(methods.map((method) => ({ name: method.name, method })))(
    "say of $name what its proto says",
    ({ method }) => {
      const rule = getOption(method, access);
      const mine = rows.filter(({ rpc }) => rpc === method.name);

      expect(mine.length).toBeGreaterThan(0);
      for (const { permission, kinds } of mine) {
        expect(permission).toBe(rule.permission);
        expect(kinds.map((kind) => all.indexOf(kind)).toSorted()).toEqual(
          rule.keys.map((key) => kindNumbers[key]).toSorted(),
        );
      }
    },
  );
});

// KeyKind of the proto → position in `all`.
const kindNumbers: Record<number, number> = { 1: 0, 2: 1, 3: 2 };

function bindingsOf(rule: HttpRule): string[] {
  const { case: verb, value } = rule.pattern;
  const own = verb === undefined || verb === "custom" ? [] : [`${verb.toUpperCase()} ${value}`];
  return [...own, ...rule.additionalBindings.flatMap(bindingsOf)];
}

describe.each(rows)("$route", (one) => {
  test.each(all)("answers a key of kind %s as its row says", async (kind) => {
    await givenTheSession();

    const got = await send(one, `Bearer ${keyOf[kind](service)}`);

    if (one.kinds.includes(kind)) expect(got.status).toBe(200);
    else expect(got).toEqual({ status: 404, body: notFound });
  });

  test("answers every bad key with the same bytes", async () => {
    await givenTheSession();

    for (const [name, authorization] of Object.entries(badKeys)) {
      const got = await send(one, authorization);
      expect({ name, ...got }).toEqual({ name, status: 404, body: notFound });
    }
  });

  test("shows and changes nothing of this project to another's key", async () => {
    await givenTheSession();

    const got = await send(one, `Bearer ${service.otherProject.projectKey}`);

    if (one.elsewhere === "absent") expect(got).toEqual({ status: 404, body: notFound });
    else expect(got.body.includes(service.projectId)).toBe(false);
    const mine = await fetch(`${service.url}/v1/events/e1`, {
      headers: { authorization: `Bearer ${service.projectKey}` },
    });
    expect(mine.status).toBe(200);
    const { event: kept } = (await mine.json()) as { event: { metadata: unknown } };
    expect(kept.metadata).not.toHaveProperty("elsewhere");
  });
});

describe("RPC", () => {
  test.each(methods.map((method) => ({ name: method.toString(), method })))(
    "$name denies with one constant answer",
    async ({ method }) => {
      const answers = new Set<string>();
      const isStream = method.methodKind !== "unary";
      for (const authorization of Object.values(badKeys)) {
        const response = await fetch(`${service.url}/${method.parent.typeName}/${method.name}`, {
          method: "POST",
          headers: {
            "content-type": isStream ? "application/connect+json" : "application/json",
            ...(authorization !== undefined && { authorization }),
          },
          body: isStream ? Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]) : "{}",
        });
        answers.add(`${response.status} ${await response.text()}`);
      }

      expect(answers.size).toBe(1);
      expect([...answers][0]).toContain('"code":"not_found"');
      expect([...answers][0]).toContain('"message":"Not found"');
    },
  );
});

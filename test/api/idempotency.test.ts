// Idempotency-Key over the whole service: the first answer again, over every protocol.

import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { createIdempotency } from "../../src/access/idempotency/idempotency.ts";
import { ServiceError } from "../../src/base/errors.ts";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { callRoute } from "../support/call-route.ts";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import { withSignIn } from "../support/tenants.ts";

const service = givenStarted(startService);

async function post(path: string, key: string, body: unknown, bearer = service.projectKey) {
  const headers = { authorization: `Bearer ${bearer}`, "idempotency-key": key };
  const { status, text } = await callRoute({ url: service.url, headers }, `POST ${path}`, body);
  return { status, text };
}

async function countRecords(): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select count(*)::int as count from idempotency_records`;
  return row?.count ?? 0;
}

async function countEvents(): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select count(*)::int as count from events`;
  return row?.count ?? 0;
}

test("an answer far larger than its request is not kept: 400, and nothing is stored", async () => {
  const session_id = "a large session";
  const inputs = { text: "t".repeat(1_500_000) };
  await post("/events", randomUUID(), {
    event: { event_type: "session", event_id: session_id, session_id, inputs },
  });
  const records = await countRecords();
  const start = { session: { session_id, session_name: "small" } };

  const got = await post("/session/start", randomUUID(), start);
  const plain = await fetch(`${service.url}/session/start`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.projectKey}` },
    body: JSON.stringify(start),
  });

  expect(got.status).toBe(400);
  expect(got.text).toContain("the answer has over 1000000 bytes");
  expect(plain.status).toBe(200);
  // The refusal is kept, the answer is not.
  expect(await countRecords()).toBe(records + 1);
});

const anEvent = { event: { event_type: "model", inputs: { a: 1 } } };

describe("Idempotency-Key", () => {
  test("gives a person the same key again, whatever the other cookies are", async () => {
    const { url, database, project } = service;
    const signIn = await withSignIn(database, project, {
      level: "org",
      role: "org_admin",
      origin: url,
    });
    const create = async (otherCookie: string) => {
      const response = await fetch(`${url}/v1/projects/${project.projectId}/ingestion_api_keys`, {
        method: "POST",
        headers: {
          ...signIn,
          cookie: `theme=${otherCookie}; ${signIn["cookie"] ?? ""}`,
          "idempotency-key": "a key by cookie",
        },
        body: JSON.stringify({ name: "ci" }),
      });
      return { status: response.status, text: await response.text() };
    };

    const first = await create("light");
    const second = await create("dark");

    expect(first.status).toBe(200);
    expect(second).toEqual(first);
  });

  test("gives the first answer again and stores once", async () => {
    const first = await post("/events", "k1", anEvent);
    const events = await countEvents();
    const second = await post("/events", "k1", anEvent);

    expect(first.status).toBe(200);
    expect(second).toEqual(first);
    expect(await countEvents()).toBe(events);
  });

  test("with another body is a 422", async () => {
    await post("/events", "k2", anEvent);
    const got = await post("/events", "k2", { event: { event_type: "tool", inputs: {} } });
    expect(got.status).toBe(422);
    expect(JSON.parse(got.text)).toMatchObject({ errorCode: "IDEMPOTENCY_MISMATCH" });
  });

  test("is each route's and each project's own", async () => {
    const first = await post("/events", "k3", anEvent);
    const other = await post("/events", "k3", anEvent, service.otherProject.projectKey);
    const batch = await post("/events/batch", "k3", {
      events: [{ ...anEvent.event, source: "test" }],
    });
    expect([first.status, other.status, batch.status]).toEqual([200, 200, 200]);
    expect(other.text).not.toBe(first.text);
  });

  test("keeps a refusal that explains itself", async () => {
    const bad = { events: [{ event_type: "model" }] };
    const first = await post("/events/batch", "k4", bad);
    const second = await post("/events/batch", "k4", bad);
    expect(first.status).toBe(400);
    expect(second).toEqual(first);
  });

  test("keeps no 404", async () => {
    const records = await countRecords();
    const update = { error: "", output: {} };
    const put = () =>
      fetch(`${service.url}/session/none`, {
        method: "PUT",
        headers: { authorization: `Bearer ${service.projectKey}`, "idempotency-key": "k5" },
        body: JSON.stringify(update),
      });
    expect((await put()).status).toBe(404);
    expect(await countRecords()).toBe(records);
  });

  test("lets exactly one of many at once through", async () => {
    const events = await countEvents();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post("/events", "k6", anEvent)),
    );

    const stored = answers.filter((one) => one.status === 200);
    expect(stored.length).toBeGreaterThan(0);
    expect(new Set(stored.map((one) => one.text)).size).toBe(1);
    expect(answers.every((one) => one.status === 200 || one.status === 409)).toBe(true);
    // One model event and the session that it brought.
    expect(await countEvents()).toBe(events + 2);
  });

  test("works over gRPC", async () => {
    const client = createClient(EventService, createGrpcTransport({ baseUrl: service.url }));
    const headers = { authorization: `Bearer ${service.projectKey}`, "idempotency-key": "k7" };
    const event = { eventType: "model", inputs: {} };
    const first = await client.createEvent({ event }, { headers });
    const second = await client.createEvent({ event }, { headers });
    expect(second).toEqual(first);
  });

  test("is not asked for on reads", async () => {
    const records = await countRecords();
    const got = await post("/v1/events/search", "k8", {});
    expect(got.status).toBe(200);
    expect(await countRecords()).toBe(records);
  });

  test("tells no more of an archived scope than of one that never was", async () => {
    const authorization = `Bearer ${service.controlPlaneKey}`;
    const send = async (method: string, path: string, body: unknown, key?: string) => {
      const headers = { authorization, ...(key !== undefined && { "idempotency-key": key }) };
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await fetch(service.url + path, init);
      return { status: response.status, text: await response.text() };
    };
    const made = await send("POST", `/v1/workspaces/${service.project.workspaceId}/projects`, {
      name: "soon gone",
    });
    const { data } = JSON.parse(made.text) as { data: { id: string } };
    await send("DELETE", `/v1/projects/${data.id}`, undefined);
    const absent = await send("GET", "/v1/projects/none", undefined);

    const members = `/v1/projects/${data.id}/members`;
    const malformed = await send("POST", members, { email: "", role: "" }, "malformed");
    const oddKey = await send("POST", members, { email: "a@b.org", role: "x" }, "x".repeat(256));
    const valid = await send("POST", members, { email: "a@b.org", role: "x" }, "valid");

    expect(absent.status).toBe(404);
    expect([malformed, oddKey, valid]).toEqual([absent, absent, absent]);
  });

  test("must be printable", async () => {
    const got = await post("/events", "x".repeat(300), anEvent);
    expect(JSON.parse(got.text)).toMatchObject({ statusCode: 400, errorCode: "INVALID_ARGUMENT" });
  });
});

describe("createIdempotency", () => {
  const claimOf = (key: string) => ({
    scopeId: service.projectId,
    route: "test/Route",
    key,
    requestHash: Buffer.alloc(32),
  });

  test("forgets after 24 hours, and deletes what is old in passing, idle scopes' too", async () => {
    const idle = { ...claimOf("idle"), scopeId: randomUUID() };
    const idempotency = createIdempotency(service.database);
    const answer = (text: string) => () => Promise.resolve(Buffer.from(text));
    for (const claim of [claimOf("old"), claimOf("older"), idle]) {
      await idempotency.run(claim, answer("first"));
    }
    await service.database.sql()`
      update idempotency_records
      set created_at = now() - interval '25 hours'
      where route = 'test/Route'`;

    // One that has just swept would wait a second.
    const sweeping = createIdempotency(service.database);
    const got = await sweeping.run(claimOf("old"), answer("second"));
    await sweeping.drain();

    expect(Buffer.from(got).toString()).toBe("second");
    const rows = await service.database.sql()`
      select idempotency_key from idempotency_records where route = 'test/Route'`;
    expect(rows.map((row) => row["idempotency_key"] as string)).toEqual(["old"]);
  });

  test("keeps nothing of an expired record of the same key", async () => {
    const idempotency = createIdempotency(service.database);
    const claim = claimOf("reused");
    const answer = (text: string) => () => Promise.resolve(Buffer.from(text));
    await idempotency.run(claim, answer("first"));
    await service.database.sql()`
      update idempotency_records
      set
        created_at = now() - interval '25 hours',
        claimed_until = now() - interval '24 hours',
        headers = '{"content-type": "text/plain"}',
        relayed_status = 429
      where idempotency_key = 'reused'`;

    await idempotency.run(claim, answer("second"));

    const rows = await service.database.sql()`
      select response, headers, relayed_status, claimed_until
      from idempotency_records
      where idempotency_key = 'reused'`;
    expect(rows).toEqual([
      { response: Buffer.from("second"), headers: null, relayed_status: null, claimed_until: null },
    ]);
  });

  test("undoes the effect of work that fails, and keeps nothing for a bug", async () => {
    const idempotency = createIdempotency(service.database);
    const records = await countRecords();
    const failing = idempotency.run(claimOf("bug"), async () => {
      await service.database.sql()`
        insert into idempotency_records
          (project_id, route, idempotency_key, request_hash)
        values (${service.projectId}, 'effect', 'effect', ${Buffer.alloc(1)})`;
      throw new Error("bug");
    });
    await expect(failing).rejects.toThrow("bug");
    expect(await countRecords()).toBe(records);
  });

  test("keeps a refusal whose words Postgres would refuse", async () => {
    const idempotency = createIdempotency(service.database);
    const refuse = () =>
      Promise.reject(
        new ServiceError("INVALID_ARGUMENT", "a\0b \ud800", { details: { errors: ["\0"] } }),
      );
    await expect(idempotency.run(claimOf("odd"), refuse)).rejects.toThrow(ServiceError);
    const again = idempotency.run(claimOf("odd"), () => Promise.resolve(Buffer.alloc(0)));
    await expect(again).rejects.toMatchObject({ reason: "INVALID_ARGUMENT" });
  });

  test("keeps no megabytes of a refusal that repeats what was sent", async () => {
    const idempotency = createIdempotency(service.database);
    const refuse = () =>
      Promise.reject(new ServiceError("INVALID_ARGUMENT", "a".repeat(1_000_000)));
    await expect(idempotency.run(claimOf("long"), refuse)).rejects.toThrow(ServiceError);
    const [row] = await service.database.sql()<{ length: number }[]>`
      select length(message) as length from idempotency_records where idempotency_key = 'long'`;
    expect(row?.length).toBe(4_096);
  });
});

// Tenants that run models side by side: the credentials, aliases, sessions, answers and limits of
// one are never another's. Who may call at all is in access.test.ts.
// Source: docs/decisions.md, 12, 20.1, 21.3, 28.

import { describe, expect, test, vi } from "vitest";
import { anEncryptionKey } from "../support/credentials.ts";
import { givenStarted } from "../support/given.ts";
import { givenAKey } from "../support/keys.ts";
import { type StandIn, startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { givenAProject, givenASibling } from "../support/project.ts";
import { is, readEvents, type ReadEvent } from "../support/read-back.ts";
import { startService } from "../support/service.ts";
import { type KeyRoot, scopeIdOf, type Tenant, withKey } from "../support/tenants.ts";
import { patience } from "../support/patience.ts";

const messages = [{ role: "user", content: "hi" }];
const concurrencyMax = 2;

/** Starts a provider that takes one key only and says who it is. */
const givenAProvider = (key: string, text: string) =>
  givenStarted(() => startOpenAiStandIn(0, { keys: [key], text }));
const first = givenAProvider("first-key", "the first's");
const second = givenAProvider("second-key", "the second's");
const operators = givenAProvider("operators-key", "the operator's");
const service = givenStarted(() =>
  startService({
    "encryption-keys": anEncryptionKey("main").text,
    "provider-private-hosts": "127.0.0.1",
    "provider-attempts": "1",
    "generation-concurrency": String(concurrencyMax),
    providers: JSON.stringify({
      common: { provider: "openai", base_url: operators.url, api_key: "operators-key" },
    }),
  }),
);

type Caller = { readonly tenant: Tenant; readonly key: string };

async function givenACaller(tenant?: Tenant): Promise<Caller> {
  const project = tenant ?? (await givenAProject(service.database));
  return { tenant: project, key: (await givenAKey(service.database, project, ofProject)).secret };
}

const ofProject = { kind: "project" } as const;

const folders: Readonly<Record<KeyRoot, string>> = {
  org: "orgs",
  workspace: "workspaces",
  project: "projects",
};

type Given = {
  readonly name: string;
  readonly standIn: StandIn;
  readonly apiKey: string;
  readonly level?: KeyRoot;
  readonly provider?: "openai" | "anthropic" | "openai_compatible";
};

/** Gives a tenant's scope credentials, and returns their path. */
async function giveCredentials({ tenant }: Caller, given: Given): Promise<string> {
  const { name, standIn, apiKey, level = "project", provider = "openai" } = given;
  const path = `/v1/${folders[level]}/${scopeIdOf(tenant, level)}/provider_credentials`;
  const body = { name, provider, base_url: standIn.urls[provider], api_key: apiKey };
  const { status, text } = await callAsOwner(tenant, "POST", path, body);
  expect({ status, text }).toMatchObject({ status: 200 });
  const { data } = JSON.parse(text) as { data: { credential_id: string } };
  return `${path}/${data.credential_id}`;
}

async function callAsOwner(tenant: Tenant, method: string, path: string, body?: unknown) {
  const owner = { kind: "control_plane", root: "org" } as const;
  const credential = await withKey(service.database, tenant, owner);
  return send(method, path, credential, body);
}

type Answer = { readonly status: number; readonly text: string; readonly headers: Headers };

async function send(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(service.url + path, {
    method,
    headers: { ...headers, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

function post({ key }: Caller, path: string, body: object, more = {}): Promise<Answer> {
  return send("POST", path, { authorization: `Bearer ${key}`, ...more }, body);
}

const complete = (caller: Caller, model: string, more: Record<string, string> = {}) =>
  post(caller, "/v1/chat/completions", { model, messages }, more);

/** The ways to run a model that answers words. */
const ways = {
  "POST /chat": (caller: Caller, model: string) =>
    post(caller, "/chat", { project: caller.tenant.projectId, model, messages }),
  "POST /chat, streamed": (caller: Caller, model: string) =>
    post(caller, "/chat", { project: caller.tenant.projectId, model, messages, stream: true }),
  "POST /v1/chat/completions": complete,
  "POST /v1/chat/completions, streamed": (caller: Caller, model: string) =>
    post(caller, "/v1/chat/completions", { model, messages, stream: true }),
};

/** Names whose words are in an answer; the pieces of a stream are put together. */
function tellers({ text }: Answer): readonly string[] {
  const words = text.replace(/"[^"]*?"content":\s*"([^"]*)"[^\n]*\n*/g, "$1");
  return ["first", "second", "operator"].filter((name) => words.includes(name));
}

function eventsOf({ key }: Caller, field = "event_type", value = "model") {
  return readEvents({ url: service.url, key }, [is(field, value)]);
}

async function giveBoth(provider: NonNullable<Given["provider"]>, level: KeyRoot = "project") {
  const [a, b] = [await givenACaller(), await givenACaller()];
  const mine = { name: "mine", provider, level };
  await giveCredentials(a, { ...mine, standIn: first, apiKey: "first-key" });
  await giveCredentials(b, { ...mine, standIn: second, apiKey: "second-key" });
  return { a, b };
}

describe("credentials of one name", () => {
  test.each(
    (["openai", "anthropic"] as const).flatMap((provider) =>
      Object.entries(ways).map(([name, call]) => ({ provider, name, call })),
    ),
  )("of two tenants reach each its own $provider by $name", async ({ provider, call }) => {
    const { a, b } = await giveBoth(provider);
    first.clear();
    second.clear();

    const answers: Answer[] = [];
    // Two at a time, so that one request finds the memory that the other left.
    for (let turn = 0; turn < 5; turn += 1) {
      answers.push(...(await Promise.all([a, b].map((caller) => call(caller, "mine/m")))));
    }

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.map(tellers)).toEqual(
      answers.map((_, index) => [index % 2 === 0 ? "first" : "second"]),
    );
    expect([first.requests.length, second.requests.length]).toEqual([5, 5]);
    const told = (events: readonly ReadEvent[]) => events.map(({ outputs }) => outputs["content"]);
    expect(told(await eventsOf(a))).toEqual(Array<string>(5).fill("the first's"));
    expect(told(await eventsOf(b))).toEqual(Array<string>(5).fill("the second's"));
  });

  test("embed each with its own, and list each its own models", async () => {
    const { a, b } = await giveBoth("openai");
    first.clear();
    second.clear();

    const embedded = await Promise.all(
      [a, b].map((caller) => post(caller, "/v1/embeddings", { model: "mine/m", input: "hi" })),
    );
    const listed = await send("GET", "/v1/models", { authorization: `Bearer ${a.key}` });

    expect(embedded.map(({ status }) => status)).toEqual([200, 200]);
    expect([first, second].map(({ requests }) => requests.map(({ path }) => path))).toEqual([
      ["/v1/embeddings", "/v1/models"],
      ["/v1/embeddings"],
    ]);
    expect(JSON.parse(listed.text)).toMatchObject({
      data: [{ id: "mine/stand-in" }, { id: "common/stand-in" }],
    });
  });

  test("go from the project to the workspace, the organization and the operator", async () => {
    const caller = await givenACaller();
    const sibling = await givenACaller(await givenASibling(service.database, caller.tenant));
    const common = { name: "common" };
    const seen: (readonly string[])[] = [];
    const look = async (): Promise<void> => {
      seen.push(
        ...(await Promise.all(
          [caller, sibling].map(async (one) => tellers(await complete(one, "common/m"))),
        )),
      );
    };

    await look();
    const org = { ...common, level: "org", standIn: second, apiKey: "second-key" } as const;
    await giveCredentials(caller, org);
    await look();
    const path = await giveCredentials(caller, { ...common, standIn: first, apiKey: "first-key" });
    await look();
    await callAsOwner(caller.tenant, "DELETE", path);
    await look();

    expect(seen).toEqual([
      ["operator"],
      ["operator"],
      ["second"],
      ["second"],
      ["first"],
      ["second"],
      ["second"],
      ["second"],
    ]);
  });
});

describe("a tenant without credentials", () => {
  test("cannot run another's, by name, by alias or by guess", async () => {
    const { a } = await giveBoth("openai_compatible");
    await callAsOwner(a.tenant, "PUT", `/v1/projects/${a.tenant.projectId}/model_aliases/fast`, {
      targets: ["mine/m"],
    });
    const stranger = await givenACaller();
    const sibling = await givenACaller(await givenASibling(service.database, a.tenant));
    first.clear();

    const mine = await complete(a, "fast");
    const refused: Answer[] = [];
    for (const caller of [stranger, sibling]) {
      for (const call of Object.values(ways)) {
        for (const model of ["mine/m", "fast/m", "mine"]) refused.push(await call(caller, model));
      }
    }

    expect(mine.status).toBe(200);
    expect(first.requests).toHaveLength(1);
    expect(refused.map(tellers).filter((names) => names.includes("first"))).toEqual([]);
    const named = refused.filter(({ text }) => text.includes("first-key"));
    expect(named).toEqual([]);
    const listed = await send("GET", "/v1/models", { authorization: `Bearer ${sibling.key}` });
    expect(listed.text).not.toMatch(/mine|fast/);
  });

  test("cannot read, change or delete another's", async () => {
    const { a, b } = await giveBoth("openai");
    const path = await giveCredentials(a, { name: "other", standIn: first, apiKey: "first-key" });

    const answers = await Promise.all([
      callAsOwner(b.tenant, "GET", path),
      callAsOwner(b.tenant, "PUT", path, { base_url: second.url, api_key: "second-key" }),
      callAsOwner(b.tenant, "DELETE", path),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(tellers(await complete(a, "other/m"))).toEqual(["first"]);
  });

  test("cannot chat in another's project", async () => {
    const { a, b } = await giveBoth("openai");
    first.clear();
    second.clear();

    const got = await post(b, "/chat", { project: a.tenant.projectId, model: "mine/m", messages });

    expect(got.status).toBe(404);
    expect(first.requests.length + second.requests.length).toBe(0);
  });
});

describe("what tenants name alike", () => {
  test("a session of another stays as it is", async () => {
    const { a, b } = await giveBoth("openai");
    const header = { "x-waggle-session-id": "one session" };
    await complete(a, "mine/m", { ...header, "x-waggle-name": "own" });

    await complete(b, "mine/m", { ...header, "x-waggle-name": "intruder" });

    const names = async (caller: Caller) =>
      (await eventsOf(caller, "session_id", "one session"))
        .filter(({ event_type }) => event_type === "model")
        .map(({ event_name }) => event_name);
    expect(await names(a)).toEqual(["own"]);
    expect(await names(b)).toEqual(["intruder"]);
  });

  test("an Idempotency-Key of another answers nothing of it", async () => {
    const { a, b } = await giveBoth("openai");
    const header = { "idempotency-key": "the same" };

    const answers = [
      await complete(a, "mine/m", header),
      await complete(b, "mine/m", header),
      await complete(a, "mine/m", header),
    ];

    expect(answers.map(tellers)).toEqual([["first"], ["second"], ["first"]]);
    expect(await eventsOf(a)).toHaveLength(1);
    expect(await eventsOf(b)).toHaveLength(1);
  });

  test("a generation of another takes no feedback", async () => {
    const { a, b } = await giveBoth("openai");
    const { headers } = await complete(a, "mine/m");
    const generationId = headers.get("x-waggle-generation-id") ?? "";

    const got = await post(b, "/feedback", {
      task: "t",
      generation_id: generationId,
      feedback_json: { rating: 1 },
    });

    expect(got.status).toBe(404);
    expect(await eventsOf(a)).toMatchObject([{ feedback: {} }]);
  });
});

describe("the cap on running calls", () => {
  test("holds for a project, and another is not made to wait", async () => {
    const { a, b } = await giveBoth("openai");
    first.clear();
    const running = Array.from({ length: concurrencyMax }, () => complete(a, "mine/slow-2000"));
    await vi.waitFor(() => expect(first.running()).toBe(concurrencyMax), patience);

    const refused = await complete(a, "mine/m");
    const answered = await complete(b, "mine/m");

    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answered.status).toBe(200);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await complete(a, "mine/m")).status).toBe(200);
  });

  test("holds for an organization with many projects, and another does not wait", async () => {
    const { a, b } = await giveBoth("openai", "org");
    const callers = [a];
    for (let count = 0; count < 3; count += 1) {
      callers.push(await givenACaller(await givenASibling(service.database, a.tenant)));
    }
    const [last, ...others] = callers.toReversed();
    first.clear();
    const running = others.flatMap((caller) =>
      Array.from({ length: concurrencyMax }, () => complete(caller, "mine/slow-2000")),
    );
    await vi.waitFor(() => expect(first.running()).toBe(3 * concurrencyMax), patience);

    const refused = await complete(last ?? a, "mine/m");
    const answered = await complete(b, "mine/m");

    expect(refused.status).toBe(503);
    expect(refused.text).toContain("OVERLOADED");
    expect(answered.status).toBe(200);
    expect((await Promise.all(running)).every(({ status }) => status === 200)).toBe(true);
  });
});

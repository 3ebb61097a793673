// Golden answers: each case of golden-cases.ts over REST against golden/<endpoint>/<case>.json, and
// over Connect (JSON and binary), gRPC and gRPC-Web, which must answer the same. `vitest -u`
// rewrites the files; their diff is a change of the API.

import {
  fromJson,
  toJson,
  type DescMessage,
  type DescMethod,
  type Message,
} from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { afterAll, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import type { KeyKind } from "../../src/access/principal.ts";
import { createOrgKey } from "../../src/commands/credentials.ts";
import { formatTimeText } from "../../src/transport/rest/answer-times.ts";
import { givenAKey } from "../support/keys.ts";
import { encryptionKeyFlag } from "../support/alerts.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { givenAProject } from "../support/project.ts";
import { startService } from "../support/service.ts";
import { nowhere } from "./access-rows.ts";
import type { Case, Request } from "./golden-case.ts";
import { cases, sessionId } from "./golden-cases.ts";

const transportNames = ["Connect JSON", "Connect binary", "gRPC", "gRPC-Web"] as const;
type TransportName = (typeof transportNames)[number];

const standIn = await startOpenAiStandIn();
const openai = { provider: "openai", base_url: standIn.url, api_key: "sk-golden" };
const service = await startService({
  providers: JSON.stringify({ openai }),
  "encryption-keys": encryptionKeyFlag,
  "webhook-private-hosts": new URL(nowhere).host,
});
const sessions = new Http2SessionManager(service.url);
const http2 = { baseUrl: service.url, httpVersion: "2", sessionManager: sessions } as const;
const transports: Readonly<Record<TransportName, Transport>> = {
  "Connect JSON": createConnectTransport({ baseUrl: service.url, httpVersion: "1.1" }),
  "Connect binary": createConnectTransport({ ...http2, useBinaryFormat: true }),
  gRPC: createGrpcTransport({ baseUrl: service.url, sessionManager: sessions }),
  "gRPC-Web": createGrpcWebTransport({ baseUrl: service.url, httpVersion: "1.1" }),
};
afterAll(async () => {
  sessions.abort();
  await service.stop();
  await standIn.stop();
});

type Stage = {
  readonly authorization: string | undefined;
  /** Puts ids that the calls before have made into a request. */
  fill<T>(request: T): T;
  /** Reads the session of the cases, to see what a call has changed. */
  readEffect(): Promise<unknown>;
  /** Replaces what differs from run to run. */
  normalize(value: unknown): unknown;
};

const kinds = {
  project: "project",
  readOnly: "project_read_only",
  ingestion: "ingestion",
} as const satisfies Record<Exclude<Case["key"], "none" | "controlPlane">, KeyKind>;

/** Makes a project of its own and carries out what the case starts from. */
async function setStage({ given, key }: Case): Promise<Stage> {
  const { database } = service;
  const project = await givenAProject(database, "demo");
  const createKey = async (kind: KeyKind) =>
    `Bearer ${(await givenAKey(database, project, { kind })).secret}`;
  const isControlPlane = key === "controlPlane";
  const author = isControlPlane
    ? `Bearer ${await createOrgKey(database, project.orgId, "control_plane_api_key")}`
    : await createKey("project");
  const made = new Map<string, string>([
    ["org_id", project.orgId],
    ["project_id", project.projectId],
  ]);
  const fill = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value).replace(madePattern, (found, name: string) => made.get(name) ?? found),
    ) as T;
  for (const request of given) {
    const { status, body } = await callRest(fill(request), author);
    if (status >= 300) throw new Error(`${request.route}: ${status} ${JSON.stringify(body)}`);
    noteMade(made, body, request.route);
  }
  const names = new Map<string, string>([
    [project.orgId, "<org_id>"],
    [project.workspaceId, "<workspace_id>"],
    [project.projectId, "<project_id>"],
  ]);
  return {
    authorization: isControlPlane
      ? author
      : key === "none"
        ? undefined
        : await createKey(kinds[key]),
    fill,
    async readEffect() {
      const { status, body } = await callRest({ route: `GET /v1/sessions/${sessionId}` }, author);
      return { status, body: normalize(body, names) };
    },
    normalize: (value) => normalize(value, names),
  };
}

/** The text that stands in a case for an id which differs from run to run. */
const madePattern = /\{([a-z]+_id)\}/g;

function noteMade(made: Map<string, string>, body: unknown, route: string): void {
  const {
    metric_id: metricId,
    data,
    result,
    queue,
    insertedId,
  } = body as {
    readonly queue?: { readonly id: string };
    readonly insertedId?: string;
    readonly metric_id?: string;
    readonly result?: { readonly insertedId?: string; readonly insertedIds?: readonly string[] };
    readonly data?: {
      readonly id?: string;
      readonly workflow_id?: string;
      readonly alert_type?: string;
      readonly page?: string;
      readonly layout?: object;
    };
  };
  if (queue !== undefined) made.set("queue_id", queue.id);
  if (insertedId !== undefined) made.set("configuration_id", insertedId);
  if (metricId !== undefined) made.set("metric_id", metricId);
  if (result?.insertedId !== undefined) {
    const ofOthers = result.insertedIds ? "datapoint_id" : "dataset_id";
    made.set(route === "POST /tools" ? "tool_id" : ofOthers, result.insertedId);
  }
  if (data?.id === undefined) return;
  if (data.alert_type !== undefined) made.set("alert_id", data.id);
  else if (data.page !== undefined) made.set("view_id", data.id);
  else if (data.layout !== undefined) made.set("dashboard_id", data.id);
  else made.set(data.workflow_id === undefined ? "chart_id" : "backfill_id", data.id);
}

async function callRest({ route, body, file }: Request, authorization: string | undefined) {
  const [method = "", path = ""] = route.split(" ");
  const sent = body ? { type: "application/json", text: JSON.stringify(body) } : file;
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(sent && { "content-type": sent.type }),
    },
    ...(sent && { body: sent.text }),
  });
  const contentType = response.headers.get("content-type") ?? "";
  const text = await response.text();
  const lines = contentType.startsWith("application/json") ? [text] : text.split("\n");
  const values = withoutProgress(lines.filter((line) => line !== "").map(parseLine));
  return {
    status: response.status,
    headers: { "content-type": contentType },
    body: contentType.startsWith("application/json") ? values[0] : values,
  };
}

/** How often an import says how far it is differs from run to run. */
function withoutProgress(values: readonly unknown[]): readonly unknown[] {
  return values.filter((value) => (value as { readonly done?: boolean }).done !== false);
}

/** A line of JSON, or an event of a stream whose data is JSON or says that it is over. */
function parseLine(line: string): unknown {
  const data = line.replace(/^data: /, "");
  return data === "[DONE]" ? data : (JSON.parse(data) as unknown);
}

const measures = new Set(["latency", "time_to_first_byte_ms", "duration_ms"]);

/** How long a model or an evaluator took is known only by running it. */
function isMeasured(key: string, of: object): boolean {
  if (key === "duration") return "loading" in of || ("source" in of && of.source === "chat");
  return measures.has(key);
}

/** What stands for a value that differs from run to run by its name; undefined for all others. */
function varying(key: string, of: object): string | undefined {
  // A cursor is bound to its project.
  if (key === "next_cursor") return "<cursor>";
  // Each release has another.
  if (key === "version" && "sign_in" in of) return "<version>";
  return isMeasured(key, of) ? "<ms>" : undefined;
}

/** Also inside a text, such as the id of a workflow. */
const uuidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Ids that the cases choose look like this and stay. */
const chosenPattern = /^(5e551000|e7e17000)-0000-/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const dayMs = 86_400_000;

function normalize(value: unknown, names: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => normalize(item, names));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => [
      key,
      varying(key, value) ?? normalize(item, names),
    ]);
    return Object.fromEntries(entries) as unknown;
  }
  if (typeof value === "number") return Math.abs(value - Date.now()) < dayMs ? "<now>" : value;
  if (typeof value === "string" && timePattern.test(value)) {
    return Math.abs(Date.parse(value) - Date.now()) < dayMs ? "<now>" : value;
  }
  if (typeof value !== "string") return value;
  if (value.startsWith("whsec_")) return "<secret>";
  return value.replace(uuidPattern, (id) => {
    if (chosenPattern.test(id)) return id;
    const name = names.get(id) ?? `<id ${names.size - 2}>`;
    names.set(id, name);
    return name;
  });
}

type Outcome = { readonly body: unknown } | { readonly reason: string; readonly message: string };

/** Calls the rpc by its generated client. */
async function callRpc(
  transport: Transport,
  method: DescMethod,
  message: Message,
  authorization: string | undefined,
): Promise<Outcome> {
  const client = createClient(method.parent, transport) as unknown as Record<string, Rpc>;
  const call = client[method.localName] as Rpc;
  const options = { headers: { ...(authorization !== undefined && { authorization }) } };
  try {
    const answer = call(message, options);
    if (answer instanceof Promise) return { body: write(method.output, await answer) };
    const messages: unknown[] = [];
    for await (const one of answer) messages.push(write(method.output, one));
    return { body: withoutProgress(messages) };
  } catch (error) {
    const failure = ConnectError.from(error);
    const [info] = failure.findDetails(ErrorInfoSchema);
    const reason = info?.reason ?? Code[failure.code];
    return { reason, message: failure.rawMessage };
  }
}

type Rpc = (message: Message, options: object) => Promise<Message> | AsyncIterable<Message>;

function write(schema: DescMessage, message: Message): unknown {
  return toJson(schema, message, { useProtoFieldName: true, alwaysEmitImplicit: true });
}

/** What REST answered, as an rpc would say it. */
function asOutcome({ status, body }: Awaited<ReturnType<typeof callRest>>): Outcome {
  if (status < 300) return { body };
  const { errorCode, message } = body as { errorCode?: string; message?: string };
  // A batch that was rejected whole answers its list; an rpc says so in one sentence.
  return { reason: errorCode ?? "BATCH_REJECTED", message: message ?? "" };
}

/** Leaves out what one protocol writes and another leaves out: null, empty lists, empty objects. */
function prune(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(prune);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, prune(item)] as const);
  const full = entries.filter(([, item]) => item !== null && !isEmpty(item));
  return Object.fromEntries(full);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Rpcs write milliseconds where `POST /events/export` writes text. */
function withTextTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTextTimes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      /^(start|end)_time$/.test(key) && typeof item === "number"
        ? [key, formatTimeText(item)]
        : [key, withTextTimes(item)],
    ),
  );
}

function streamItem(value: unknown): unknown {
  // REST writes the item itself on its line.
  const { event, datapoint, end } = value as Record<"event" | "datapoint" | "end", unknown>;
  return event ?? datapoint ?? end ?? value;
}

function wholeAnswer(body: unknown, { list }: Case): unknown {
  return list === undefined ? body : (body as Readonly<Record<string, unknown>>)[list];
}

/** Brings answers of both worlds to one form. */
function comparable(outcome: Outcome, one: Case, stage: Stage): unknown {
  if (!("body" in outcome)) return outcome;
  const items = Array.isArray(outcome.body) ? outcome.body.map(streamItem) : outcome.body;
  const isTextTimes = one.request.route === "POST /events/export";
  return stage.normalize(prune(isTextTimes ? withTextTimes(items) : items));
}

type RestAnswer = {
  readonly stage: Stage;
  readonly answer: Awaited<ReturnType<typeof callRest>>;
  readonly effect: unknown;
};

const restAnswers = new Map<string, Promise<RestAnswer>>();

/** Carries out a case over REST, once for all of its tests. */
function answerRest(one: Case): Promise<RestAnswer> {
  const answering = async (): Promise<RestAnswer> => {
    const stage = await setStage(one);
    const answer = await callRest(stage.fill(one.request), stage.authorization);
    return { stage, answer, effect: await stage.readEffect() };
  };
  const known = restAnswers.get(one.name) ?? answering();
  restAnswers.set(one.name, known);
  return known;
}

describe.each(cases)("$name", (one) => {
  test("is answered over REST as the golden file says", async () => {
    const { stage, answer } = await answerRest(one);

    const { key, request } = one;
    const golden = { request: { ...request, key }, ...answer, body: stage.normalize(answer.body) };
    const text = `${JSON.stringify(golden, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(`golden/${one.name}.json`);
  });
});

const casesWithRpc = cases.flatMap((one) =>
  typeof one.rpc === "string" ? [] : [{ name: one.name, one, rpc: one.rpc }],
);

describe.each(casesWithRpc)("$name", ({ one, rpc }) => {
  test.each(transportNames)("is answered alike, with the same effect, over %s", async (name) => {
    const rest = await answerRest(one);
    const want = asOutcome(rest.answer);
    const stage = await setStage(one);

    const message = fromJson(rpc.method.input, stage.fill(rpc.message));
    const answer = await callRpc(transports[name], rpc.method, message, stage.authorization);
    const got = "body" in answer ? { body: wholeAnswer(answer.body, one) } : answer;

    const isBatchRejected = "reason" in want && want.reason === "BATCH_REJECTED";
    if (isBatchRejected) expect(got).toMatchObject({ reason: want.reason });
    else expect(comparable(got, one, stage)).toEqual(comparable(want, one, rest.stage));
    expect(await stage.readEffect()).toEqual(rest.effect);
  });
});

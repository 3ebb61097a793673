// A small loopback HTTP server with the APIs of model providers: OpenAI (also Azure's paths and
// compatible servers), Mistral, Anthropic, Google and Bedrock. Answers depend only on the request,
// so that recordings repeat; `stand-in/play.ts` describes what model names do.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./stand-in/anthropic.ts";
import { bedrock, toBedrockEmbeddings } from "./stand-in/bedrock.ts";
import type { Dialect, Json } from "./stand-in/dialect.ts";
import { google, toGoogleEmbeddings } from "./stand-in/google.ts";
import { mistral, openAi, toOpenAiEmbeddings } from "./stand-in/openai.ts";
import { openAiResponses } from "./stand-in/openai-responses.ts";
import { type Exchange, performChat, performWhole, send } from "./stand-in/perform.ts";
import { playsOf } from "./stand-in/play.ts";

/** A received request. */
export type SeenRequest = {
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Body as text. */
  readonly text: string;
  /** Body as JSON; an empty record if it is not JSON. */
  readonly body: Json;
  /** Model in the body or the path; empty if neither names one. */
  readonly model: string;
  /** Whether the client disconnected before the answer was complete. */
  readonly isAborted: boolean;
  /** Whether the answer has ended, completely or not. */
  readonly isOver: boolean;
  /** Returns the bytes of the answer that were written to the connection. */
  sentBytes(): number;
};

export type StandIn = {
  /** Base URL for OpenAI's clients, ending in `/v1`. */
  readonly url: string;
  /** `base_url` of each provider, by type. */
  readonly urls: Readonly<Record<StandInApi, string>>;
  /** The last 20,000 requests, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Returns the number of requests whose answer is not over. */
  running(): number;
  /** Forgets all requests. */
  clear(): void;
  stop(): Promise<void>;
};

export type StandInApi =
  | "openai"
  | "azure"
  | "anthropic"
  | "google"
  | "bedrock"
  | "mistral"
  | "openai_compatible";

export type StandInOptions = {
  /** Accepted keys, if given; a request with another key gets a 401. */
  readonly keys?: readonly string[];
  /** Text of every answer, to distinguish stand-ins. */
  readonly text?: string;
};

const requestsMax = 20_000;

/**
 * Starts the stand-in on `port` (0: any free one). A chat with tools and without a tool result
 * calls the first tool; other chats get a fixed reply. Lists of models play the first part of the
 * base URL's path (`http://127.0.0.1:1234/fail-500/v1`).
 */
export async function startOpenAiStandIn(port = 0, options: StandInOptions = {}): Promise<StandIn> {
  const seen = createSeen();
  const failures = new Map<string, number>();
  const server = createServer((request, response) => {
    answer({ request, response, options, seen, failures }).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, 500, openAi.toError(500, String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/v1`,
    urls: {
      openai: `${origin}/v1`,
      azure: `${origin}/openai`,
      anthropic: `${origin}/anthropic/v1`,
      google: `${origin}/v1beta`,
      bedrock: origin,
      mistral: `${origin}/mistral/v1`,
      openai_compatible: `${origin}/v1`,
    },
    requests: seen.requests,
    running: () => seen.requests.filter(({ isOver }) => !isOver).length,
    clear: () => void seen.requests.splice(0),
    stop: () => stop(server),
  };
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

type Seen = {
  readonly requests: SeenRequest[];
  add(request: SeenRequest): void;
};

function createSeen(): Seen {
  const requests: SeenRequest[] = [];
  return {
    requests,
    add(request) {
      requests.push(request);
      if (requests.length > requestsMax) requests.shift();
    },
  };
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
}

type Call = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly options: StandInOptions;
  readonly seen: Seen;
  readonly failures: Map<string, number>;
};

async function answer({ request, response, options, seen, failures }: Call): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const body = toJson(text);
  const { method = "", url: path = "", headers } = request;
  const route = findRoute(method, path, headers);
  const model = route?.model ?? (typeof body["model"] === "string" ? body["model"] : "");
  const { socket } = request;
  const sentBefore = socket.bytesWritten;
  const record: Writable<SeenRequest> = {
    method,
    path,
    headers,
    text,
    body,
    model,
    isAborted: false,
    isOver: false,
    sentBytes: () => socket.bytesWritten - sentBefore,
  };
  seen.add(record);
  let isBroken = false;
  response.once("close", () => {
    record.isOver = true;
    record.isAborted = !response.writableFinished && !isBroken;
  });
  if (!route) {
    send(response, 404, openAi.toError(404, `no route ${method} ${path}`));
    return;
  }
  if (!isKeyRight(request, options.keys)) {
    send(response, 401, route.dialect.toError(401, "no such key"));
    return;
  }
  await route.perform({
    request,
    response,
    body,
    model,
    failures,
    text: options.text,
    plays: playsOf(model),
    user: userOf(body),
    onBreak: () => (isBroken = true),
  });
}

function toJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Not every request has a body; a route that needs one fails without it.
    return {};
  }
}

function userOf(body: Json): string {
  const metadata = body["metadata"] as Json | undefined;
  const user = body["user"] ?? body["safety_identifier"] ?? metadata?.["user_id"];
  return typeof user === "string" ? user : "";
}

function isKeyRight({ headers, url = "" }: IncomingMessage, keys?: readonly string[]): boolean {
  if (!keys) return true;
  const query = new URL(url, "http://localhost").searchParams.get("key");
  const given = [
    headers.authorization?.replace(/^Bearer /, ""),
    // A signature contains the id of the access key.
    /Credential=([^/]+)\//.exec(headers.authorization ?? "")?.[1],
    ...["x-api-key", "api-key", "x-goog-api-key"].map((name) => headers[name]),
    query,
  ];
  return keys.some((key) => given.includes(key));
}

type Route = {
  readonly dialect: Dialect;
  /** Model in the path, if there is one. */
  readonly model?: string;
  readonly perform: (exchange: Exchange) => Promise<void>;
};

function findRoute(method: string, path: string, headers: IncomingHttpHeaders): Route | undefined {
  const { pathname } = new URL(path, "http://localhost");
  if (method === "GET") return findList(pathname, headers);
  if (method !== "POST") return undefined;
  const named = /\/(?:deployments|models?)\/([^/]+?)[:/]/.exec(pathname)?.[1];
  const model = named === undefined ? {} : { model: decodeURIComponent(named) };
  const dialect = /^\/mistral\//.test(pathname) ? mistral : openAi;
  if (pathname.endsWith("/chat/completions")) return { ...model, ...chatOf(dialect) };
  if (pathname.endsWith("/responses")) return chatOf(openAiResponses);
  if (pathname.endsWith("/embeddings")) return { ...model, ...embeddingsOf(dialect) };
  if (pathname.endsWith("/messages")) return chatOf(anthropic);
  if (pathname.endsWith("/count_tokens")) return wholeOf(anthropic, () => ({ input_tokens: 14 }));
  if (pathname.endsWith(":generateContent")) return { ...model, ...chatOf(google) };
  if (pathname.endsWith(":streamGenerateContent")) return { ...model, ...chatOf(google, true) };
  if (/:(batchE|e)mbedContents?$/.test(pathname))
    return { ...model, ...wholeOf(google, toGoogleEmbeddings) };
  if (pathname.endsWith("/converse")) return { ...model, ...chatOf(bedrock) };
  if (pathname.endsWith("/converse-stream")) return { ...model, ...chatOf(bedrock, true) };
  if (pathname.endsWith("/invoke")) return { ...model, ...wholeOf(bedrock, toBedrockEmbeddings) };
  return undefined;
}

function chatOf(dialect: Dialect, isStream = false): Route {
  return { dialect, perform: (exchange) => performChat(exchange, dialect, isStream) };
}

function embeddingsOf(dialect: Dialect): Route {
  return wholeOf(dialect, toOpenAiEmbeddings);
}

function wholeOf(dialect: Dialect, toAnswer: (body: Json, model: string) => Json): Route {
  return {
    dialect,
    perform: (exchange) =>
      performWhole(exchange, dialect, () => toAnswer(exchange.body, exchange.model)),
  };
}

/** Returns the route of a list of models, which plays the first part of the path. */
function findList(pathname: string, headers: IncomingHttpHeaders): Route | undefined {
  if (!pathname.endsWith("/models")) return undefined;
  const model = pathname.split("/")[1] ?? "";
  if (headers["anthropic-version"] !== undefined) {
    return { ...wholeOf(anthropic, () => anthropicModels), model };
  }
  if (pathname.endsWith("/v1beta/models")) return { ...wholeOf(google, () => googleModels), model };
  const isMistral = pathname.includes("/mistral/");
  return isMistral
    ? { ...wholeOf(mistral, () => mistralModels), model }
    : { ...wholeOf(openAi, () => openAiModels), model };
}

const openAiModels = { object: "list", data: [{ id: "stand-in", object: "model" }] };

const mistralModels = {
  object: "list",
  data: [
    { id: "mistral-stand-in", object: "model", created: 1_760_000_000, owned_by: "mistralai" },
  ],
};

const anthropicModels = {
  data: [
    {
      type: "model",
      id: "claude-stand-in",
      display_name: "Claude Stand-in",
      created_at: "2026-01-01T00:00:00Z",
    },
  ],
  has_more: false,
  first_id: "claude-stand-in",
  last_id: "claude-stand-in",
};

const googleModels = {
  models: [
    {
      name: "models/gemini-stand-in",
      displayName: "Gemini Stand-in",
      supportedGenerationMethods: ["generateContent", "embedContent"],
    },
  ],
};

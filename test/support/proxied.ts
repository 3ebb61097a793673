// The whole service with stand-ins of providers, and raw calls through its proxy: the bytes that a
// client of the OpenAI API sends and reads.

import { request as httpRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { type SeenRequest, type StandIn, startOpenAiStandIn } from "./openai-stand-in.ts";
import { callRest, type ReadEvent } from "./read-back.ts";
import { startService, type TestService } from "./service.ts";

export const providerKey = "sk-stand-in-0123456789";

export type Proxied = {
  readonly service: TestService;
  /** Stand-in of the provider `up`. */
  readonly standIn: StandIn;
  /** Stand-in of the provider `second`. */
  readonly second: StandIn;
  /** Sends a request to a path below `/v1` and reads the whole answer. */
  post(path: string, body: object | string, headers?: Record<string, string>): Promise<Answer>;
  chat(body: object, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a chat, or a request to another path, and gives access to the answer so far. */
  open(body: object, headers?: Record<string, string>, path?: string): OpenCall;
  /** Returns the event of an answer's generation. */
  eventOf(answer: Answer): Promise<ReadEvent>;
  /** Returns the newest event whose first message has this text. */
  eventSaying(text: string): Promise<ReadEvent>;
  stop(): Promise<void>;
};

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** False if the connection broke during the answer. */
  readonly isWhole: boolean;
};

export type OpenCall = {
  text(): string;
  /** Resolves when the text so far satisfies the condition; fails after some seconds. */
  until(isThere: (text: string) => boolean): Promise<void>;
  /** Stops reading for now. */
  pause(): void;
  /** Disconnects. */
  leave(): void;
  readonly ended: Promise<Answer>;
};

/** Starts the service; `others` are base URLs of more providers, by name. */
export async function startProxied(
  flags: Readonly<Record<string, string>> = {},
  others: Readonly<Record<string, string>> = {},
): Promise<Proxied> {
  const standIn = await startOpenAiStandIn();
  const second = await startOpenAiStandIn(0, { text: "Second here." });
  const at = (url: string) => ({
    provider: "openai_compatible",
    base_url: url,
    api_key: providerKey,
  });
  const service = await startService({
    providers: JSON.stringify({
      up: at(standIn.url),
      second: at(second.url),
      deployed: { provider: "azure", base_url: standIn.urls.azure, api_key: providerKey },
      ...Object.fromEntries(Object.entries(others).map(([name, url]) => [name, at(url)])),
      // No server listens there.
      down: at("http://127.0.0.1:9"),
    }),
    ...flags,
  });
  const access = { url: service.url, key: service.projectKey };

  function open(path: string, body: object | string, headers: Record<string, string>): OpenCall {
    const { promise: ended, resolve, reject } = Promise.withResolvers<Answer>();
    let text = "";
    let pause = (): void => undefined;
    const request = httpRequest(`${service.url}/v1${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${service.projectKey}`,
        "content-type": "application/json",
        ...headers,
      },
    });
    request.on("response", (response) => {
      pause = () => void response.pause();
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      // `complete` shows whether the connection broke.
      response.on("error", () => undefined);
      response.on("close", () => {
        const { statusCode = 0, complete: isWhole } = response;
        const answered = new Headers(response.headers as Record<string, string>);
        resolve({ status: statusCode, headers: answered, text, isWhole });
      });
    });
    request.on("error", reject);
    // After `leave` no test waits for the answer.
    ended.catch(() => undefined);
    // Sent as bytes: before a text, Node would encode the headers like the text.
    request.end(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
    return {
      text: () => text,
      until: (isThere) => until(() => isThere(text)),
      pause: () => pause(),
      leave: () => request.destroy(),
      ended,
    };
  }

  async function read(id: string): Promise<ReadEvent> {
    const path = `/v1/events/${id}`;
    return (await callRest<{ readonly event: ReadEvent }>(access, "GET", path)).event;
  }

  return {
    service,
    standIn,
    second,
    post: (path, body, headers = {}) => open(path, body, headers).ended,
    chat: (body, headers = {}) => open("/chat/completions", body, headers).ended,
    open: (body, headers = {}, path = "/chat/completions") => open(path, body, headers),
    eventOf: ({ headers }) => read(headers.get("x-waggle-generation-id") ?? "none"),
    async eventSaying(text) {
      const filters = [{ field: "inputs.chat_history.0.content", operator: "is", value: text }];
      let found: ReadEvent | undefined;
      await until(async () => {
        const body = { filters, limit: 10 };
        type Found = { readonly events: readonly ReadEvent[] };
        // A field that no event has yet is refused.
        const { events } = await callRest<Found>(access, "POST", "/v1/events/export", body).catch(
          () => ({ events: [] }),
        );
        [found] = events;
        return found !== undefined;
      });
      if (!found) throw new Error("no such event");
      return found;
    },
    async stop() {
      await service.stop();
      await standIn.stop();
      await second.stop();
    },
  };
}

/** Polls until a condition holds. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 500; round += 1) {
    if (await isTrue()) return;
    await delay(20);
  }
  expect.fail("what was waited for did not happen");
}

/** Returns the last request that a stand-in received. */
export function lastOf({ requests }: StandIn): SeenRequest {
  const last = requests.at(-1);
  if (!last) throw new Error("no request came");
  return last;
}

/** Sends the same body directly to a provider. */
export async function direct(standIn: StandIn, path: string, body: object): Promise<string> {
  const response = await fetch(`${standIn.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.text();
}

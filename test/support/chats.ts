// The whole service with the stand-in as each of its providers, and chats over REST.

import { setTimeout as delay } from "node:timers/promises";
import { startOpenAiStandIn, type StandIn } from "./openai-stand-in.ts";
import type { ReadEvent } from "./read-back.ts";
import { startService, type TestService } from "./service.ts";

/** Key for requests to the stand-in; no other place contains it. */
export const providerKey = "sk-of-the-operator-0123456789";

export type ChatService = {
  readonly service: TestService;
  readonly standIn: StandIn;
  /** Sends a chat in the demo project; `body` extends or overrides a small request. */
  chat(
    body: Record<string, unknown>,
    init?: Pick<RequestInit, "headers" | "signal">,
  ): Promise<Response>;
  /** Returns the event of a generation. */
  readEvent(generationId: string): Promise<ReadEvent>;
  /** Returns the only model event of a session, after it is stored. */
  findEvent(sessionId: string): Promise<ReadEvent>;
  stop(): Promise<void>;
};

/** Starts the service; each provider is named by its type, the compatible one `local`. */
export async function startChatService(
  flags: Readonly<Record<string, string>> = {},
): Promise<ChatService> {
  const standIn = await startOpenAiStandIn();
  const service = await startService({ providers: providersOf(standIn), ...flags });
  const headers = {
    authorization: `Bearer ${service.projectKey}`,
    "content-type": "application/json",
  };

  async function read(path: string): Promise<Response> {
    return fetch(`${service.url}${path}`, { headers });
  }

  async function readEvent(generationId: string): Promise<ReadEvent> {
    const response = await read(`/v1/events/${generationId}`);
    return (await bodyOf<{ readonly event: ReadEvent }>(response)).event;
  }

  return {
    service,
    standIn,
    chat: (body, init = {}) =>
      fetch(`${service.url}/chat`, {
        method: "POST",
        headers,
        body: JSON.stringify({ ...smallRequest, ...body }),
        ...init,
      }),
    readEvent,
    async findEvent(sessionId) {
      for (let round = 0; round < 500; round += 1) {
        const response = await fetch(`${service.url}/v1/events/export`, {
          method: "POST",
          headers,
          body: JSON.stringify({
            filters: [
              { field: "session_id", operator: "is", value: sessionId, type: "string" },
              { field: "event_type", operator: "is", value: "model", type: "string" },
            ],
          }),
        });
        if (response.status === 200) {
          const { events } = (await response.json()) as { readonly events: readonly ReadEvent[] };
          const [event] = events;
          if (event) return event;
        }
        await delay(20);
      }
      throw new Error(`no model event in session ${sessionId}`);
    },
    async stop() {
      await service.stop();
      await standIn.stop();
    },
  };
}

const smallRequest = {
  project: "demo",
  model: "openai/gpt-4o",
  messages: [{ role: "user", content: "How is the weather in Paris?" }],
};

export function providersOf({ urls }: StandIn): string {
  const key = { api_key: providerKey };
  return JSON.stringify({
    openai: { provider: "openai", base_url: urls.openai, ...key },
    azure: { provider: "azure", base_url: urls.azure, ...key },
    anthropic: { provider: "anthropic", base_url: urls.anthropic, ...key },
    google: { provider: "google", base_url: urls.google, ...key },
    mistral: { provider: "mistral", base_url: urls.mistral, ...key },
    bedrock: {
      provider: "bedrock",
      base_url: urls.bedrock,
      region: "eu-west-1",
      access_key_id: "AKIAOFTHEOPERATOR",
      secret_access_key: providerKey,
    },
    local: { provider: "openai_compatible", base_url: urls.openai_compatible },
  });
}

/** Returns the JSON of an answer; throws unless its status is 200. */
export async function bodyOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as T;
}

/** A generation in the form of the answers of /chat. */
export type AnsweredGeneration = {
  readonly choices: readonly {
    readonly index: number;
    readonly message: Readonly<Record<string, unknown>>;
    readonly finish_reason: string;
  }[];
  readonly cost: number | null;
  readonly generation_id: string;
  readonly latency: number;
  readonly session_id: string;
  readonly stream: boolean;
  readonly timestamp: string;
};

/** Returns the data of a stream's events, and whether the stream ended in order. */
export async function readEventStream(
  response: Response,
): Promise<{ readonly data: readonly string[]; readonly isWhole: boolean }> {
  let text = "";
  let isWhole = true;
  try {
    const body = response.body?.pipeThrough(new TextDecoderStream());
    for await (const chunk of body ?? []) text += chunk;
  } catch {
    // A client sees a broken connection as an error.
    isWhole = false;
  }
  const data = text.split("\n\n").filter((event) => event !== "");
  return { data: data.map((event) => event.replace(/^data: /, "")), isWhole };
}

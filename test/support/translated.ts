// Requests to the stand-in's providers in the form of the OpenAI API, directly or over HTTP for
// OpenAI's own client.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import type { JsonObject } from "../../src/base/json.ts";
import type { ModelAnswer, ModelRequest } from "../../src/generation/calls/model-call.ts";
import { toEventBytes } from "../../src/generation/openai/event-stream.ts";
import type { Connection, ProviderType, Target } from "../../src/generation/provider.ts";
import { createAddressGuard } from "../../src/base/address-guard.ts";
import { createCallModel } from "../../src/generation/providers/call-model.ts";
import { createOutbound } from "../../src/generation/providers/outbound.ts";
import type { StandIn } from "./openai-stand-in.ts";

/** Providers whose API the proxy translates; chats are translated for every provider. */
export const translatedTypes = ["anthropic", "google", "bedrock", "mistral"] as const;

/** A model of each provider that the SDK knows; a play of the stand-in may follow the name. */
export const models = {
  anthropic: "claude-sonnet-4-5",
  google: "gemini-2.5-flash",
  bedrock: "anthropic.claude-sonnet-4-5-20250929-v1:0",
  mistral: "mistral-small-latest",
  openai: "gpt-4o-mini",
  azure: "gpt-4o-mini",
  openai_compatible: "llama3",
} as const satisfies Record<ProviderType, string>;

export const callModel = createCallModel(
  createOutbound({
    addressGuard: createAddressGuard({ privateHosts: [] }),
    firstByteTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
  }),
);

export function targetAt(standIn: StandIn, type: ProviderType, model: string): Target {
  const connection: Connection = {
    id: type,
    name: type,
    type,
    baseUrl: standIn.urls[type],
    resourceName: null,
    apiVersion: null,
    region: type === "bedrock" ? "eu-west-1" : null,
    secrets:
      type === "bedrock"
        ? { access_key_id: "AKIASTANDIN", secret_access_key: "secret-of-bedrock" }
        : { api_key: `secret-of-${type}` },
    isOperators: true,
  };
  return { connection, model };
}

/** Calls a target with the body of a request, as chats and judges do. */
export function ask(
  target: Target,
  body: JsonObject,
  options: { readonly signal?: AbortSignal } & Partial<ModelRequest> = {},
): Promise<ModelAnswer> {
  const { signal = new AbortController().signal, operation = "chat", ...rest } = options;
  return callModel(target, { operation, body, isStream: body["stream"] === true, ...rest }, signal);
}

export type OpenAiServer = { readonly client: OpenAI; stop(): Promise<void> };

/** Serves a provider of the stand-in to OpenAI's client; the request names the model. */
export async function serveOpenAi(standIn: StandIn, type: ProviderType): Promise<OpenAiServer> {
  const server = createServer((request, response) => {
    const answering = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const bytes = Buffer.concat(chunks);
      const body = JSON.parse(bytes.toString()) as JsonObject;
      const operation = request.url?.endsWith("/embeddings") ? "embedding" : "chat";
      const target = targetAt(standIn, type, body["model"] as string);
      await send(response, await ask(target, body, { operation, bytes }));
    };
    answering().catch((error: unknown) => {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      response.writeHead(400);
      response.end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    client: new OpenAI({ apiKey: "none", baseURL, maxRetries: 0 }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function send(response: ServerResponse, answer: ModelAnswer): Promise<void> {
  if (answer.kind === "whole") {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(answer.bytes ?? JSON.stringify(answer.json));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for await (const parts of answer.parts) response.write(toEventBytes(parts));
  response.end();
}

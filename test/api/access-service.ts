// The service of the access matrix, and the denial that every caller without access gets.

import { type StandIn, startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { anEncryptionKey } from "../support/credentials.ts";
import { startService, type TestService } from "../support/service.ts";
import type { Credential } from "../support/tenants.ts";
import { fillIn, type Ids } from "./access-calls.ts";
import { nowhere, type Row } from "./access-rows.ts";

export const notFound = Buffer.from(
  '{"success":false,"statusCode":404,"errorCode":"NOT_FOUND","message":"Not found"}',
);

export type Answer = { readonly status: number; readonly body: Buffer };

/** Starts the service, with a provider that answers generations. */
export async function startAccessService(): Promise<TestService> {
  const standIn: StandIn = await startOpenAiStandIn();
  const provider = { provider: "openai_compatible", base_url: standIn.url };
  const service = await startService({
    "dataplane-assignment": "manual",
    "encryption-keys": anEncryptionKey("main").text,
    "webhook-private-hosts": new URL(nowhere).host,
    providers: JSON.stringify({ "stand-in": provider, openai: provider }),
  });
  return {
    ...service,
    async stop() {
      await service.stop();
      await standIn.stop();
    },
  };
}

let calls = 0;

/** Returns the number of calls so far. */
export function callCount(): number {
  return calls;
}

/** Makes the call of a row and returns its answer. */
export async function call(
  service: TestService,
  row: Row,
  ids: Ids,
  credential: Credential,
): Promise<Answer> {
  const { path, body } = fillIn(row, ids);
  calls += 1;
  const response = await fetch(service.url + path, {
    method: row.route.split(" ")[0] ?? "",
    headers: {
      ...credential,
      ...(body !== undefined && { "content-type": row.type ?? "application/json" }),
    },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
}

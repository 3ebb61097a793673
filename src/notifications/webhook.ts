// Sends notifications over HTTP: signed webhooks as the Standard Webhooks specification has them,
// and messages to Slack and services with its interface. Source: docs/alerts.md.

import { createHmac } from "node:crypto";
import { Client } from "undici";
import { AddressError } from "../base/address-guard.ts";
import { createGuardedConnector, type SocketGuard } from "../base/guarded-connect.ts";
import { deliveryMsMax } from "../base/tenant-limits.ts";
import type { Attempt } from "./store.ts";

const connectMsMax = 5_000;
/** An answer is read only to its end: nothing of it is kept. */
const answerBytesMax = 65_536;

/** Headers of a signed webhook. `secret` is `whsec_` and base64. */
export function signWebhook(
  secret: string,
  { id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

export type PostOptions = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Answer of a target. */
export type PostOutcome = Pick<Attempt, "error" | "reached"> & {
  /** Whether another attempt is useless. */
  readonly isFinal?: boolean;
};

/** The target is gone for good. Source: the Standard Webhooks specification. */
const goneStatus = 410;

/** Posts JSON once. Never fails: the outcome has the reason, without an address. */
export async function postJson(
  guard: SocketGuard,
  { url, headers = {}, body }: PostOptions,
): Promise<PostOutcome> {
  const { origin, pathname, search } = new URL(url);
  const connect = createGuardedConnector(guard, origin, connectMsMax);
  const client = new Client(origin, { connect, allowH2: false, pipelining: 1 });
  try {
    const { statusCode, body: answer } = await client.request({
      method: "POST",
      path: `${pathname}${search}`,
      headers: { "content-type": "application/json", "user-agent": "waggle", ...headers },
      body,
      signal: AbortSignal.timeout(deliveryMsMax),
    });
    await answer.dump({ limit: answerBytesMax });
    if (statusCode >= 200 && statusCode < 300) return { error: null };
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const why = isRedirect ? "; redirects are not followed" : "";
    return { error: `status ${statusCode}${why}`, isFinal: statusCode === goneStatus };
  } catch (error) {
    return { error: toFault(error) };
  } finally {
    await client.destroy();
  }
}

/** Returns an error's name for the delivery log; its message may hold an address. */
function toFault(error: unknown): string {
  const chain = [error, (error as Error).cause];
  const refused = chain.find((one) => one instanceof AddressError);
  if (refused instanceof AddressError) return refused.message;
  const { name, code = name } = error as Error & { readonly code?: string };
  if (name === "TimeoutError") return `no answer within ${deliveryMsMax / 1_000} s`;
  return `cannot be reached (${code})`;
}

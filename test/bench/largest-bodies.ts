// The maximum memory that clients can make the service use: batches of nearly the largest size at
// once. Batches over the bytes in flight are refused, sometimes by closing the connection.

import { setTimeout as delay } from "node:timers/promises";
import { batch, newRun } from "./loads.ts";
import { peakMemoryMb } from "./processes.ts";
import type { BenchService } from "./service.ts";
import { patch } from "./template.ts";

/** Batches just below the limit of 64 MB. */
const load = batch(29_000, 2_048);
const batchesEach = 2;

/** Sends batches over each connection until the service stores them; returns a line of results. */
export async function sendLargestBodies(
  service: BenchService,
  connections: number,
  firstEvent: number,
): Promise<string> {
  const body = load.body(1, newRun());
  let refused = 0;
  let sent = 0;

  async function work(): Promise<void> {
    for (let stored = 0; stored < batchesEach; stored += 1) {
      patch(body, firstEvent + sent * load.events);
      sent += 1;
      const bytes = Buffer.from(body.bytes);
      while (!(await post(service, bytes))) {
        refused += 1;
        await delay(1_000);
      }
    }
  }

  const begunAt = performance.now();
  await Promise.all(Array.from({ length: connections }, () => work()));
  const seconds = (performance.now() - begunAt) / 1_000;
  return (
    `${sent} batches of ${Math.round(body.bytes.length / 1e6)} MB over ` +
    `${connections} connections, stored in ${Math.round(seconds)} s with ${refused} refusals ` +
    "(503) on the way; " +
    `peak resident memory of the service then: ${await peakMemoryMb(service.pid)} MB`
  );
}

/** Sends a batch; returns false if the service is full. */
async function post({ credentials }: BenchService, body: Buffer<ArrayBuffer>): Promise<boolean> {
  let response: Response;
  try {
    response = await fetch(`${credentials.url}${load.path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${credentials.project_api_key}`,
        "content-type": load.contentType,
      },
      body,
    });
  } catch {
    // A refusal closes the connection, and its answer may be lost while the body is still being
    // sent.
    return false;
  }
  const text = await response.text();
  if (response.status === 503) return false;
  if (response.status === 200 && text.includes('"success":true')) return true;
  throw new Error(`the service answered ${response.status}: ${text.slice(0, 500)}`);
}

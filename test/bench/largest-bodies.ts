// The most memory that clients can make the service use: batches of nearly the largest size, all at
// once. What is over the bytes in flight is refused, at times with the connection.
// Called by ingest.ts.

import { setTimeout as delay } from "node:timers/promises";
import { batch, newRun } from "./loads.ts";
import { peakMemoryMb } from "./processes.ts";
import type { BenchService } from "./service.ts";
import { patch } from "./template.ts";

/** 64 MB is the limit of a batch. */
const load = batch(29_000, 2_048);
const batchesEach = 2;

/** Sends batches over each connection until the service took them; returns a line of results. */
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

/** Returns false when the service is full. */
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
    // The refusal closes the connection behind it, and may be lost under a body still on its way.
    return false;
  }
  const text = await response.text();
  if (response.status === 503) return false;
  if (response.status === 200 && text.includes('"success":true')) return true;
  throw new Error(`the service answered ${response.status}: ${text.slice(0, 500)}`);
}

// Measures the harm of an attack to other tenants: the observations of a second tenant meanwhile,
// against the four bounds of issue 12.

import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect } from "vitest";
import type { Observations, Timed } from "./bystander.ts";
import { type Answer, type Call, openAttackClient } from "./protocols.ts";
import type { AttackedService } from "./service.ts";

/** Maximum growth of resident memory under an attack. */
const memoryGrowthMax = 500_000_000;
/** Maximum time of an answer of /healthz. */
const healthMsMax = 1_000;
/** Maximum time of a write of the second tenant, and the part of writes that must keep it. */
const writeMsMax = 2_000;
const writePartMin = 0.95;

/** Minimum duration of a watch: enough writes that one slow write is within the allowed part. */
const watchMsMin = 2_500;

/** Returns how often each attack is made; LIMITS_ROUNDS raises it for longer runs. */
function roundsOf(): number {
  return Number(process.env["LIMITS_ROUNDS"] ?? 1);
}

export type Watch = { stop(): Promise<Observations> };

/** Starts a watch; resolves when the second tenant's first write is stored. */
export async function startWatch({ url, pid, tenant }: AttackedService): Promise<Watch> {
  const worker = new Worker(new URL("./bystander.ts", import.meta.url), {
    workerData: { url, pid, key: tenant.projectKey },
    execArgv: [],
  });
  const next = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      worker.once("message", resolve).once("error", reject);
    });
  await next();
  return {
    async stop() {
      const observations = next();
      worker.postMessage("stop");
      return (await observations) as Observations;
    },
  };
}

/** Runs an attack beside a second tenant and checks the harm; returns the result of the attack. */
export async function underAttack<T>(
  service: AttackedService,
  attack: () => Promise<T>,
): Promise<T> {
  const watch = await startWatch(service);
  const startedAtMs = performance.now();
  let result: T;
  let seen: Observations;
  try {
    result = await attack();
    await delay(Math.max(0, watchMsMin - (performance.now() - startedAtMs)));
  } finally {
    seen = await watch.stop();
  }
  if (process.env["LIMITS_PRINT"]) console.log(describeObservations(seen));
  expect(harmIn(seen, service), describeObservations(seen)).toEqual([]);
  return result;
}

/** Sends `count` calls at once, round after round, and returns the answers. */
async function flood(
  { url }: AttackedService,
  call: Call,
  count: number,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let round = 0; round < roundsOf(); round += 1) {
    const client = openAttackClient(url);
    answers.push(...(await Promise.all(Array.from({ length: count }, () => client.call(call)))));
    client.close();
  }
  return answers;
}

/**
 * Sends a call alone until the service does not ask for a retry, so that its answer names the fault
 * of the call; a flood may get only requests to retry.
 */
async function sendAlone({ url }: AttackedService, call: Call): Promise<Answer> {
  const client = openAttackClient(url);
  try {
    for (;;) {
      const answer = await client.call(call);
      if (!isLater(answer)) return answer;
      await delay(Number(answer.retryAfter) * 1_000);
    }
  } finally {
    client.close();
  }
}

/** Returns whether an answer asks the caller to retry later. */
export function isLater({ reason, status, retryAfter }: Answer): boolean {
  return retryAfter === "1" && (reason === "OVERLOADED" || status === 503);
}

/** Returns the first answers that neither name the limit nor ask for a retry. */
export function othersThanRefusals(answers: readonly Answer[], limit: RegExp): readonly Answer[] {
  return answers.filter((one) => !limit.test(one.message) && !isLater(one)).slice(0, 3);
}

/**
 * Floods the service with a call, then sends it alone; returns all answers, the single one last.
 */
export async function floodAndAsk(
  service: AttackedService,
  call: Call,
  count: number,
): Promise<readonly Answer[]> {
  const answers = await flood(service, call, count);
  return [...answers, await sendAlone(service, call)];
}

/** Returns descriptions of the bounds that an attack exceeded; empty if there are none. */
export function harmIn(seen: Observations, service: AttackedService): readonly string[] {
  const growth = seen.memoryMax - service.memoryAtStart;
  const late = seen.writes.filter(({ status, ms }) => status !== 200 || ms > writeMsMax).length;
  const mute = seen.health.filter(({ status, ms }) => status !== 200 || ms > healthMsMax).length;
  const unchecked = seen.keyChecks.filter(({ status, ms }) => status !== 404 || ms > writeMsMax);
  const faults = [
    {
      is: seen.writes.length === 0 && !service.hasEnded(),
      what: "the machine stood still: nothing was seen",
    },
    { is: service.hasEnded(), what: `the service ended: ${service.output().slice(-2_000)}` },
    { is: growth > memoryGrowthMax, what: `memory grew by ${toMb(growth)} MB` },
    { is: mute > 0, what: `/healthz was late ${mute} times` },
    {
      is: late > seen.writes.length * (1 - writePartMin),
      what: `${late} of ${seen.writes.length} writes failed or were late`,
    },
    {
      is: unchecked.length > seen.keyChecks.length * (1 - writePartMin) + 1,
      what: `${unchecked.length} of ${seen.keyChecks.length} checks of keys failed or were late`,
    },
  ];
  return faults.filter(({ is }) => is).map(({ what }) => what);
}

/** Returns the second tenant's observations in one line of numbers. */
export function describeObservations(seen: Observations): string {
  return [
    `writes ${describeTimes(seen.writes)}`,
    `health ${describeTimes(seen.health)}`,
    `key checks ${describeTimes(seen.keyChecks)}`,
    `memory ${toMb(seen.memoryBefore)} to ${toMb(seen.memoryMax)} MB`,
  ].join("; ");
}

function describeTimes(times: readonly Timed[]): string {
  const sorted = times.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (part: number): number => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0);
  const statuses = new Map<number, number>();
  for (const { status } of times) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  const longest = Math.round(sorted.at(-1) ?? 0);
  return `${counts}, median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${longest} ms`;
}

function toMb(bytes: number): number {
  return Math.round(bytes / 1e6);
}

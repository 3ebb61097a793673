// Generated attacks on a real process: any call of the contract with any of its fields repeated,
// nested or enlarged, compressed, over any protocol. A second tenant does not notice, and each
// answer is a success, a refusal or a 503 that says when to try again. Source: docs/limits.md.
// docs/limits.md, "Generated attacks", tells how it runs for longer and repeats what it found.

import fc from "fast-check";
import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Attack, attacks } from "../support/attack/generated/attacks.ts";
import { found } from "../support/attack/generated/found.ts";
import { send } from "../support/attack/generated/send.ts";
import {
  type AttackedService,
  readMemory,
  startAttackedService,
} from "../support/attack/service.ts";
import { describeObservations, harmIn, startWatch } from "../support/attack/watch.ts";

const seedDefault = 12;
const minutes = Number(process.env["FUZZ_MINUTES"] ?? 0);
const firstSeed = Number(process.env["FUZZ_SEED"] ?? seedDefault);
const repeated = JSON.parse(process.env["FUZZ_ATTACKS"] ?? "[]") as readonly Attack[];

/** Attacks under one watch, one after another, and watches of one seed. */
const batchSize = 8;
const batchesOfSeed = 2;

/** Shortest watch: enough writes that one slow one of them is within the part that may fail. */
const watchMsMin = 2_500;

let service: AttackedService;
beforeAll(async () => {
  service = await startAttackedService();
});
afterAll(() => service.stop());

async function restart(): Promise<void> {
  await service.stop();
  service = await startAttackedService();
}

/** Makes attacks beside a second tenant; returns what they harmed. */
async function harmOf(batch: readonly Attack[]): Promise<readonly string[]> {
  const outputAtStart = service.output().length;
  const startedAtMs = performance.now();
  const watch = await startWatch(service);
  const faults: string[] = [];
  for (const attack of batch) faults.push(...(await send(service, attack)));
  await delay(Math.max(0, watchMsMin - (performance.now() - startedAtMs)));
  const seen = await watch.stop();
  if (process.env["LIMITS_PRINT"]) console.log(describeObservations(seen));
  const errors = service
    .output()
    .slice(outputAtStart)
    .split("\n")
    .filter((line) => /"level":(50|60|"error"|"fatal")/.test(line));
  const harm = [...harmIn(seen, service), ...faults, ...errors.slice(0, 3)];
  return harm.length === 0 ? [] : [...harm, describeObservations(seen)];
}

/**
 * Returns which attacks of a batch do harm that they do again, each alone on a new service: else a
 * busy machine would count. All of the batch counts as one where only all of them do harm.
 */
async function findingsIn(batch: readonly Attack[]): Promise<readonly string[]> {
  const harm = await harmOf(batch);
  if (harm.length === 0) return [];
  print("harm, to be confirmed", { harm, batch });
  const findings: string[] = [];
  await restart();
  for (const some of batch.length > 1 ? [...batch.map((one) => [one]), batch] : [batch]) {
    if (some === batch && batch.length > 1) {
      if (findings.length > 0) break;
      await restart();
    }
    const again = await harmOf(some);
    if (again.length === 0) continue;
    findings.push(describe(again, some));
    await restart();
  }
  return findings;
}

function describe(harm: readonly string[], batch: readonly Attack[]): string {
  return `${harm.join("\n")}\nFUZZ_ATTACKS='${JSON.stringify(batch)}'`;
}

/** Prints at once in a long run, whose end vitest would wait for. */
function print(what: string, value: unknown): void {
  if (minutes === 0) return;
  writeSync(1, `${new Date().toISOString()} ${what}: ${JSON.stringify(value)}\n`);
}

/** Returns the findings of a seed's batches. */
async function findingsOfSeed(seed: number): Promise<readonly string[]> {
  // Every other seed has more of the smallest and the largest sizes.
  const options = { seed, numRuns: batchesOfSeed, unbiased: seed % 2 === 1 };
  const arbitrary = fc.array(attacks, { minLength: batchSize, maxLength: batchSize });
  const findings: string[] = [];
  for (const [index, batch] of fc.sample(arbitrary, options).entries()) {
    for (const finding of await findingsIn(batch)) {
      findings.push(`seed ${seed}, batch ${index}: ${finding}`);
      print("FINDING", findings.at(-1));
    }
  }
  return findings;
}

test("attacks that did harm once do none", { timeout: 300_000 }, async () => {
  const findings = await findingsIn(found);

  expect(findings.join("\n\n")).toBe("");
});

test(
  "generated attacks harm no other tenant",
  { timeout: 120_000 + 2 * minutes * 60_000 },
  async () => {
    const findings: string[] = [];
    if (repeated.length > 0) findings.push(...(await findingsIn(repeated)));
    const endsAtMs = Date.now() + minutes * 60_000;
    let seed = firstSeed;
    if (repeated.length === 0) {
      do {
        findings.push(...(await findingsOfSeed(seed)));
        const memory = Math.round(readMemory(service.pid) / 1e6);
        if (minutes > 0) print("seed", { seed, memory, findings: findings.length });
        seed += 1;
      } while (Date.now() < endsAtMs);
    }

    expect(findings.join("\n\n")).toBe("");
  },
);

// A recorder that masks what it stores, for every protocol and for the service's own writes.

import type { ProjectId } from "../../base/ids.ts";
import { errorLengthMax, nameLengthMax } from "../../base/limits.ts";
import { buckets, type EventWrite } from "../events/event.ts";
import type { Origin, Recorder } from "../events/record.ts";
import type { Mask } from "./mask.ts";

/**
 * Returns the mask of a project's writes; undefined if it has no rules. Throws
 * DATABASE_UNAVAILABLE if they cannot be read: nothing is stored unmasked.
 */
export type MaskOf = (projectId: ProjectId) => Promise<Mask | undefined>;

export function createMaskedRecorder(recorder: Recorder, maskOf: MaskOf): Recorder {
  async function maskOne(projectId: ProjectId, write: EventWrite): Promise<EventWrite> {
    const mask = await maskOf(projectId);
    return mask ? maskWrite(mask, write) : write;
  }

  // Masking is a part of the time that a call has.
  const timed = (origin: Origin = {}): Origin => ({ receivedAtMs: Date.now(), ...origin });

  return {
    ...recorder,

    async record(projectId, writes, given = {}) {
      const options = { ...given, ...timed(given) };
      const mask = await maskOf(projectId);
      if (!mask) return recorder.record(projectId, writes, options);
      const masked: EventWrite[] = [];
      for (const write of writes) masked.push(await maskWrite(mask, write));
      const { sessionNames = new Map<string, string>() } = options;
      const names = new Map<string, string>();
      for (const [id, name] of sessionNames) {
        names.set(id, (await mask.text(name)).slice(0, nameLengthMax));
      }
      return recorder.record(projectId, masked, { ...options, sessionNames: names });
    },

    async enrich(projectId, write, given) {
      const origin = timed(given);
      await recorder.enrich(projectId, await maskOne(projectId, write), origin);
    },

    async update(projectId, write, given) {
      const origin = timed(given);
      return recorder.update(projectId, await maskOne(projectId, write), origin);
    },
  };
}

/** Fields of text with their maximum lengths, which replacements may exceed. */
const textFields = [
  ["event_name", nameLengthMax],
  ["error", errorLengthMax],
] as const;

/** Ids, types, sources and times stay. */
async function maskWrite(mask: Mask, write: EventWrite): Promise<EventWrite> {
  const masked: Partial<Record<string, unknown>> = {};
  for (const bucket of buckets) {
    const value = write[bucket];
    if (value !== undefined) masked[bucket] = await mask.value(value);
  }
  for (const [field, lengthMax] of textFields) {
    const text = write[field];
    if (text !== undefined) masked[field] = (await mask.text(text)).slice(0, lengthMax);
  }
  return { ...write, ...masked };
}

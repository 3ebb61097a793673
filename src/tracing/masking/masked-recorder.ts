// A recorder that masks what it stores, for every protocol and for the service's own writes.

import type { ProjectId } from "../../base/ids.ts";
import { buckets, type EventWrite } from "../events/event.ts";
import type { Recorder } from "../events/record.ts";
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

  return {
    ...recorder,

    async record(projectId, writes, options = {}) {
      const mask = await maskOf(projectId);
      if (!mask) return recorder.record(projectId, writes, options);
      const masked: EventWrite[] = [];
      for (const write of writes) masked.push(await maskWrite(mask, write));
      const { sessionNames = new Map<string, string>() } = options;
      const names = new Map<string, string>();
      for (const [id, name] of sessionNames) names.set(id, await mask.text(name));
      return recorder.record(projectId, masked, { ...options, sessionNames: names });
    },

    enrich: async (projectId, write, origin) =>
      recorder.enrich(projectId, await maskOne(projectId, write), origin),

    update: async (projectId, write, origin) =>
      recorder.update(projectId, await maskOne(projectId, write), origin),
  };
}

const texts = ["event_name", "error"] as const;

/** Ids, types, sources and times stay. */
async function maskWrite(mask: Mask, write: EventWrite): Promise<EventWrite> {
  const masked: Partial<Record<string, unknown>> = {};
  for (const bucket of buckets) {
    const value = write[bucket];
    if (value !== undefined) masked[bucket] = await mask.value(value);
  }
  for (const field of texts) {
    const text = write[field];
    if (text !== undefined) masked[field] = await mask.text(text);
  }
  return { ...write, ...masked };
}

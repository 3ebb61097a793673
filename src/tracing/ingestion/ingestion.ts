// Ingestion of a project: what its callers sent, counted by hour, and why some was refused. Counts
// are gathered in memory and written every few seconds, so that no call waits for them.
// Source: docs/ingestion.md.

import type { Actor } from "../../base/actor.ts";
import { refuse } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../postgres/database.ts";
import type { MaskOf } from "../masking/masked-recorder.ts";
import * as store from "./store.ts";

/** One finished call that writes events. */
export type IngestionCall = {
  readonly projectId: ProjectId;
  readonly actor: Actor;
  readonly rpc: string;
  /** `OK`, `CANCELED` or the reason of the error. */
  readonly reason: string;
  readonly stored: number;
  readonly rejected: number;
  /** What the refusal said, of the call or of its first rejected event. */
  readonly message: string | undefined;
};

export type IngestionReport = {
  readonly from: Date;
  readonly hours: readonly store.HourRow[];
  readonly groups: readonly store.GroupRow[];
  readonly groupsTotal: number;
};

export type Ingestion = {
  /** Counts a call. Never waits, never fails. */
  note(call: IngestionCall): void;
  /** Returns the counts of the last hours. Throws INVALID_ARGUMENT naming the field. */
  report(projectId: ProjectId, hours?: number): Promise<IngestionReport>;
  /** Writes the waiting counts; call it at the end of the process. */
  stop(): Promise<void>;
};

export type IngestionOptions = {
  readonly database: Database;
  readonly maskOf: MaskOf;
  readonly logger: Logger;
  readonly flushMs?: number;
  readonly now?: () => number;
};

const hourMs = 3_600_000;
const hoursDefault = 24;
/** Hours that are kept, and that a report may have: 30 days. */
const hoursMax = 720;
const flushMsDefault = 2_000;
/** Maximum counts that wait for a write, about 20 MB; calls beyond them are not counted. */
const waitingMax = 50_000;
/** Rows of one statement. */
const rowsMax = 1_000;
/** Maximum groups of a report. */
const groupsMax = 1_000;
const messageLengthMax = 500;

export function createIngestion(options: IngestionOptions): Ingestion {
  const { database, maskOf, logger, flushMs = flushMsDefault, now = Date.now } = options;
  let waiting = new Map<string, store.CountRow>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let deletedHourMs = 0;

  /** Writes the waiting counts, after a write that still runs. */
  async function flush(): Promise<void> {
    timer = undefined;
    await writing;
    writing = write().finally(() => (writing = undefined));
    await writing;
  }

  async function write(): Promise<void> {
    const rows = [...waiting.values()];
    waiting = new Map();
    try {
      while (rows.length > 0) {
        const masked = await Promise.all(rows.slice(-rowsMax).map(maskMessage));
        await store.addCounts(database.sql(), masked);
        rows.length = Math.max(0, rows.length - rowsMax);
      }
      await deleteOld();
    } catch (error) {
      logger.debug({ err: error }, "ingestion counts are written later");
      for (const row of rows) gather(row);
    }
  }

  /** Masks the message, which may quote what the project's rules keep out of the database. */
  async function maskMessage(row: store.CountRow): Promise<store.CountRow> {
    if (row.message === undefined) return row;
    try {
      const mask = await maskOf(row.projectId);
      const message = mask ? await mask.text(row.message) : row.message;
      return { ...row, message: message.slice(0, messageLengthMax) };
    } catch {
      return { ...row, message: undefined };
    }
  }

  /**
   * Deletes the counts older than 30 days. Each write deletes up to `rowsMax` of them, until the
   * hour has none left.
   */
  async function deleteOld(): Promise<void> {
    const hour = hourOf(now());
    if (hour === deletedHourMs) return;
    const before = new Date(hour - hoursMax * hourMs);
    const deleted = await store.deleteCountsBefore(database.sql(), before, rowsMax);
    if (deleted < rowsMax) deletedHourMs = hour;
  }

  function gather(row: store.CountRow): void {
    const { projectId, hourMs: hour, actorType, actorId, rpc, reason } = row;
    const key = `${projectId} ${hour} ${actorType} ${actorId} ${rpc} ${reason}`;
    const before = waiting.get(key);
    if (!before && waiting.size >= waitingMax) return;
    waiting.set(key, before ? add(before, row) : row);
    timer ??= setTimeout(() => void flush(), flushMs).unref();
  }

  return {
    note({ projectId, actor, rpc, reason, stored, rejected, message }) {
      const lastAtMs = now();
      gather({
        projectId,
        hourMs: hourOf(lastAtMs),
        actorType: actor.type,
        actorId: actor.id,
        rpc,
        reason,
        actorName: actor.name,
        calls: 1,
        stored,
        rejected,
        lastAtMs,
        message: message?.slice(0, messageLengthMax),
      });
    },

    async report(projectId, hours = hoursDefault) {
      if (hours < 1 || hours > hoursMax) refuse("hours", `must be 1 to ${hoursMax}`);
      const from = new Date(hourOf(now()) - (hours - 1) * hourMs);
      const sql = database.sql();
      const groups = await store.listGroups(sql, projectId, { from, limit: groupsMax });
      return {
        from,
        hours: await store.listHours(sql, projectId, from),
        groups,
        groupsTotal: groups[0]?.total ?? 0,
      };
    },

    async stop() {
      clearTimeout(timer);
      await flush();
    },
  };
}

function hourOf(ms: number): number {
  return ms - (ms % hourMs);
}

function add(one: store.CountRow, other: store.CountRow): store.CountRow {
  const late = one.lastAtMs > other.lastAtMs ? one : other;
  const early = late === one ? other : one;
  return {
    ...late,
    calls: one.calls + other.calls,
    stored: one.stored + other.stored,
    rejected: one.rejected + other.rejected,
    message: late.message ?? early.message,
  };
}

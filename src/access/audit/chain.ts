// How an audit row is hashed: over the row before and the text of its own columns, as docs/audit.md
// tells whoever verifies a log without this code. Called by audit.ts and verify.ts; pure.
// Source: docs/decisions.md, 34.

import { createHash } from "node:crypto";

/** The columns that a row's hash is over, as the text and numbers that go into it. */
export type AuditColumns = {
  /** The organization's id; the nil UUID for what belongs to none. */
  readonly orgId: string;
  /** 1, 2, 3, … without a gap. */
  readonly sequence: number;
  /** UTC to the microsecond: `2026-01-31T12:00:00.000000Z`. */
  readonly at: string;
  readonly actorType: string;
  readonly actorId: string;
  readonly actorName: string;
  readonly action: string;
  readonly scopeLevel: string;
  readonly scopeId: string;
  readonly targetType: string;
  readonly targetId: string;
  /** JSON text as it was written; null where there is no state. */
  readonly before: string | null;
  readonly after: string | null;
};

/** Stands for the hash before the first row. */
export const firstPreviousHash = Buffer.alloc(32);

/**
 * Returns SHA-256 over the 32 bytes of the previous hash and the UTF-8 text of a JSON array of the
 * columns. A JSON array says where each column ends, so no two rows have the same text.
 */
export function hashOf(columns: AuditColumns, previousHash: Buffer): Buffer {
  return createHash("sha256").update(previousHash).update(textOf(columns)).digest();
}

function textOf(row: AuditColumns): string {
  return JSON.stringify([
    row.orgId,
    row.sequence,
    row.at,
    row.actorType,
    row.actorId,
    row.actorName,
    row.action,
    row.scopeLevel,
    row.scopeId,
    row.targetType,
    row.targetId,
    row.before,
    row.after,
  ]);
}

// The hash of an audit row: over the previous row's hash and the text of its own columns.
// docs/audit.md describes it for people who verify a log without this code. Source:
// docs/decisions.md, 34.2.

import { createHash } from "node:crypto";

/** Hashed columns of a row, as the text and numbers that are hashed. */
export type AuditColumns = {
  /** Id of the organization; the nil UUID for changes outside every organization. */
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
  /** JSON text as it was written; null if there is no state. */
  readonly before: string | null;
  readonly after: string | null;
};

/** Previous hash of the first row. */
export const firstPreviousHash = Buffer.alloc(32);

/**
 * Returns SHA-256 over the 32 bytes of the previous hash and the UTF-8 text of a JSON array of the
 * columns. The JSON array separates the columns, so no two different rows have the same text.
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

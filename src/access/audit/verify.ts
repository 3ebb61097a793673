// Walks chains of the audit log and names the first row that is not as it was written. Called by
// audit.ts for `waggle audit verify`. Source: docs/audit.md.

import type { Database, Sql } from "../../postgres/database.ts";
import { systemScope, systemScopeId } from "../scope.ts";
import { firstPreviousHash, hashOf } from "./chain.ts";
import * as store from "./store.ts";

/** What is known of one chain. */
export type ChainReport = {
  /** The organization's id; the nil UUID for what belongs to none. */
  readonly orgId: string;
  /** The organization's name, `system` for the nil UUID; undefined where there is none. */
  readonly name: string | undefined;
  /** Rows from the first that are as they were written. */
  readonly rows: number;
  /** Hash of the last of them, in hexadecimal. */
  readonly hash: string;
  /** The first row that is not; undefined when the chain is intact. */
  readonly fault: ChainFault | undefined;
};

export type ChainFault = { readonly sequence: number; readonly what: string };

const pageRowsMax = 1_000;

/** Rows that were appended after a chain's turn began are left for the next time. */
export async function* verifyChains(
  database: Database,
  orgId: string | undefined,
): AsyncGenerator<ChainReport, void, undefined> {
  if (orgId !== undefined) {
    yield await verifyChain(database.sql(), orgId);
    return;
  }
  let chain = await store.findChainAfter(database.sql(), undefined);
  while (chain !== undefined) {
    yield await verifyChain(database.sql(), chain);
    chain = await store.findChainAfter(database.sql(), chain);
  }
}

async function verifyChain(sql: Sql, orgId: string): Promise<ChainReport> {
  const { head = { sequence: 0, hash: firstPreviousHash }, lastSequence } = await store.getEnd(
    sql,
    orgId,
  );
  let good: store.Head = { sequence: 0, hash: firstPreviousHash };
  const name = orgId === systemScopeId ? systemScope.name : await store.findOrgName(sql, orgId);
  const report = (fault?: ChainFault): ChainReport => {
    return { orgId, name, rows: good.sequence, hash: good.hash.toString("hex"), fault };
  };
  // A row that somebody numbered below 1 is read too.
  let above = Number.MIN_SAFE_INTEGER;
  while (above < lastSequence) {
    const rows = await store.listRowsAbove(sql, orgId, { above, limit: pageRowsMax });
    for (const row of rows) {
      if (row.sequence > lastSequence) break;
      const fault = findFault(row, good, head);
      if (fault) return report(fault);
      good = row;
    }
    // Fewer than a moment ago: what is missing is told below.
    if (rows.length === 0) break;
    above = rows.at(-1)?.sequence ?? lastSequence;
  }
  if (good.sequence === head.sequence) return report();
  const what = `is missing, and every row after it: the chain ends at ${head.sequence}`;
  return report({ sequence: good.sequence + 1, what });
}

function findFault(
  row: store.AuditRow,
  previous: store.Head,
  head: store.Head,
): ChainFault | undefined {
  const sequence = previous.sequence + 1;
  if (row.sequence > sequence) return { sequence, what: "is missing" };
  if (row.sequence < sequence) return { sequence: row.sequence, what: "stands before the first" };
  if (sequence > head.sequence) {
    return { sequence, what: `stands beyond the chain's end, which is ${head.sequence}` };
  }
  if (!row.previousHash.equals(previous.hash)) {
    return { sequence, what: "does not carry the hash of the row before it" };
  }
  if (!row.hash.equals(hashOf(row, row.previousHash))) {
    return { sequence, what: "was changed: its columns do not have its hash" };
  }
  if (sequence === head.sequence && !row.hash.equals(head.hash)) {
    return { sequence, what: "does not have the hash that the chain's end carries" };
  }
  return undefined;
}

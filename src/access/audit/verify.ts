// Checks chains of the audit log and reports the first row with a fault. Source: docs/audit.md.

import type { Database, Sql } from "../../postgres/database.ts";
import { systemScope, systemScopeId } from "../scope.ts";
import { firstPreviousHash, hashOf } from "./chain.ts";
import * as store from "./store.ts";

/** Result of the check of one chain. */
export type ChainReport = {
  /** Id of the organization; the nil UUID for changes outside every organization. */
  readonly orgId: string;
  /**
   * Name of the organization, `system` for the nil UUID; undefined if the organization is missing.
   */
  readonly name: string | undefined;
  /** Number of intact rows from the first one on. */
  readonly rows: number;
  /** Hash of the last intact row, in hexadecimal. */
  readonly hash: string;
  /** The first row with a fault; undefined if the chain is intact. */
  readonly fault: ChainFault | undefined;
};

export type ChainFault = { readonly sequence: number; readonly what: string };

const pageRowsMax = 1_000;

/** Ignores rows that are appended after the check of their chain begins. */
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
  // Starts below 1, to find rows that were given such numbers.
  let above = Number.MIN_SAFE_INTEGER;
  while (above < lastSequence) {
    const rows = await store.listRowsAbove(sql, orgId, { above, limit: pageRowsMax });
    for (const row of rows) {
      if (row.sequence > lastSequence) break;
      const fault = findFault(row, good, head);
      if (fault) return report(fault);
      good = row;
    }
    // Rows disappeared during the check; the missing row is reported below.
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

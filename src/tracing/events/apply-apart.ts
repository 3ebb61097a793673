// Finds the writes of a request that Postgres cannot store, by halves, so that the others are
// stored. For values that pass the checks of event-limits.ts. Source: docs/decisions.md, 9.

import { valueFaultCommitsMax } from "../../base/tenant-limits.ts";
import type { Database } from "../../postgres/database.ts";
import { codeOf } from "../../base/error-code.ts";
import type { Outcomes } from "./commit-queue.ts";
import type { Refusal } from "./merge.ts";
import type { WriteSet } from "./write-set.ts";

/** Applies the writes of one request and returns their outcomes. */
export type ApplySet = (set: WriteSet) => Promise<Outcomes>;

/**
 * Applies a request's writes in one transaction. If Postgres refuses a value, the write with that
 * value is refused and the others are stored.
 */
export async function applyApart(
  database: Pick<Database, "transaction">,
  set: WriteSet,
  apply: ApplySet,
): Promise<Outcomes> {
  try {
    return await apply(set);
  } catch (error) {
    if (!isValueFault(error)) throw error;
    if (set.writes.length === 1) return [refusalOf(error)];
  }
  return database.transaction(() => applyHalves(set, apply, { attempts: 1 }));
}

async function applyHalves(
  set: WriteSet,
  apply: ApplySet,
  spent: { attempts: number },
): Promise<Outcomes> {
  const middle = Math.ceil(set.writes.length / 2);
  const outcomes: Outcomes[] = [];
  for (const writes of [set.writes.slice(0, middle), set.writes.slice(middle)]) {
    const half = { ...set, writes };
    try {
      spent.attempts += 1;
      outcomes.push(await apply(half));
    } catch (error) {
      if (!isValueFault(error)) throw error;
      const isFound = writes.length === 1 || spent.attempts >= valueFaultCommitsMax;
      outcomes.push(
        isFound ? writes.map(() => refusalOf(error)) : await applyHalves(half, apply, spent),
      );
    }
  }
  return outcomes.flat();
}

/** Returns whether Postgres refuses a value: SQLSTATE classes of bad data and exceeded limits. */
function isValueFault(error: unknown): error is Error & { readonly code: string } {
  return /^(22|54)[0-9A-Z]{3}$/.test(codeOf(error) ?? "");
}

function refusalOf({ code }: { readonly code: string }): Refusal {
  return { cause: `holds a value that the database cannot store (SQLSTATE ${code})` };
}

// `waggle audit verify`: checks the chains of the audit log and reports the first broken row of
// each. Changes nothing. Source: docs/audit.md.

import { OperatorError } from "../base/operator-error.ts";
import { type Audit, createAudit } from "../access/audit/audit.ts";
import type { ChainReport } from "../access/audit/verify.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { type CommandContext, print } from "./command.ts";
import { withDatabase } from "./database.ts";

export const usage = "usage:\n  waggle audit verify [--org ID-OR-NAME, or system]";

/** Returns 1 if a chain is broken. */
export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  const [name, ...others] = operands;
  if (name !== "verify" || others.length > 0) throw new OperatorError(usage);
  const org = flags["org"];
  return withDatabase(config, async (database) => {
    await assertMigrated(database);
    const audit = createAudit(database);
    const chain = typeof org === "string" ? await getChain(audit, org) : undefined;
    let code = 0;
    for await (const report of audit.verify(chain)) {
      print(describe(report));
      if (report.fault) code = 1;
    }
    return code;
  });
}

async function getChain(audit: Audit, org: string): Promise<string> {
  const chain = await audit.findChain(org);
  if (chain === undefined) throw new OperatorError(`there is no organization ${org}`);
  return chain;
}

function describe({ orgId, name, rows, hash, fault }: ChainReport): string {
  const chain = name === undefined ? orgId : `${orgId} (${name})`;
  if (!fault && rows === 0) {
    return `none  ${chain}: no rows; it is older than the audit log, or all of them were removed`;
  }
  if (!fault) return `ok    ${chain}: ${rows} rows, intact; the last hash is ${hash}`;
  return `FAIL  ${chain}: row ${fault.sequence} ${fault.what}; ${rows} rows before it are intact`;
}

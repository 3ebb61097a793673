// `waggle provider-credentials rotate`: encrypts the secrets of providers and of notification
// targets with the first encryption key.
// Source: docs/generations.md.

import { resolve } from "node:path";
import { createAudit } from "../access/audit/audit.ts";
import { explainRefusal, OperatorError } from "../base/operator-error.ts";
import { createEncryptionKeys } from "../access/encryption-keys.ts";
import { rotateSecrets, type RotationReport } from "../access/rotate-secrets.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { type CommandContext, print } from "./command.ts";
import { withDatabase } from "./database.ts";
import { findEncryptionKeys } from "./encryption-keys.ts";
import { findOperator } from "./local-access.ts";
import { sealedTables } from "./stored-secrets.ts";

export const usage = "usage:\n  waggle provider-credentials rotate";

/** Returns 1 if some secrets could not be decrypted. */
export async function run(context: CommandContext): Promise<number> {
  const { config, operands } = context;
  const [name, ...others] = operands;
  if (name !== "rotate" || others.length > 0) throw new OperatorError(usage);
  const keys = createEncryptionKeys(await findEncryptionKeys(config, resolve(config.dataFolder)));
  return withDatabase(config, async (database) => {
    await assertMigrated(database);
    const { actor } = findOperator();
    const audit = createAudit(database);
    const tables = sealedTables;
    const report = await rotateSecrets({ database, tables, keys, audit, actor }).catch(
      explainRefusal,
    );
    printReport(report);
    return report.unopened.length === 0 ? 0 : 1;
  });
}

function printReport({ keyId, resealed, unopened, uses }: RotationReport): void {
  for (const { noun, id, fault } of unopened) print(`FAIL  ${noun} ${id}: ${fault}`);
  print(`sealed ${resealed} again under ${keyId}; ${unopened.length} could not be opened`);
  for (const { keyId: used, count } of uses) print(`now under ${used}: ${count}`);
}

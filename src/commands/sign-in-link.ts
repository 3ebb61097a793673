// `waggle sign-in-link`: prints a one-time link that signs the first administrator in if no
// identity provider is configured. Source: docs/spec.md, Authentication, 6; docs/sign-in.md.

import { resolve } from "node:path";
import { loadManifest } from "../access/roles/manifest.ts";
import { createSignInLinks, formatLink, linkMinutes } from "../access/sign-in/links.ts";
import { formatHttpAddress } from "../base/http-address.ts";
import { OperatorError } from "../base/operator-error.ts";
import type { Config } from "../config.ts";
import { findHolder } from "../embedded/data-folder.ts";
import type { Database } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { type CommandContext, print } from "./command.ts";
import { withDatabase } from "./database.ts";
import { createLocalPeople, findOperator } from "./local-access.ts";

export async function run({ config }: CommandContext): Promise<number> {
  if (config.oidc !== undefined) {
    throw new OperatorError(
      "people sign in through the identity provider that WAGGLE_OIDC_ISSUER names; to give " +
        "somebody a role: waggle members add",
    );
  }
  const holder = await findHolder(resolve(config.dataFolder));
  const url = holder?.url ?? formatHttpAddress(config.host, config.port);
  await withDatabase(config, async (database) => {
    await assertMigrated(database);
    const link = await createSignInLink(database, config, url);
    // Standard output contains only the link, for use in scripts.
    process.stderr.write(`signs ${config.adminEmail} in, once, within ${linkMinutes} minutes:\n`);
    print(link);
  });
  return 0;
}

/** Creates a link to the service at `url`; earlier links become invalid. */
export async function createSignInLink(
  database: Database,
  { adminEmail, publicUrl, rolesManifest }: Config,
  url: string,
): Promise<string> {
  const people = createLocalPeople(database, await loadManifest(rolesManifest));
  const links = createSignInLinks({ database, ...people });
  return formatLink(publicUrl ?? url, await links.create(adminEmail, findOperator().actor));
}

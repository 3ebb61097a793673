// The encryption keys of a machine that has a data folder: those of the configuration, and the one
// that a first start makes so that secrets can be stored without any setting. Called by start.ts
// and provider-credentials.ts. Source: docs/generations.md.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../base/operator-error.ts";
import type { Config, EncryptionKey } from "../config.ts";
import { writeJson } from "../embedded/data-folder.ts";
import { parseEncryptionKeys } from "../setting-parsers.ts";

/** Its value has the form of the setting, so that it can be handed to `waggle serve` as it is. */
type KeyFile = { readonly encryption_keys: string };

const keyBytes = 32;

/** Returns where the key of a data folder is; only the folder's owner can read it. */
export function encryptionKeyPath(dataFolder: string): string {
  return join(dataFolder, "encryption-key.json");
}

/**
 * Returns the keys of the configuration, then the folder's own, which opens what was stored before
 * there was a configuration. Makes the folder's own where there is no key at all.
 */
export async function ensureEncryptionKeys(
  config: Pick<Config, "encryptionKeys">,
  folder: string,
): Promise<readonly EncryptionKey[]> {
  const found = await findEncryptionKeys(config, folder);
  return found.length > 0 ? found : [await makeKey(folder)];
}

/** As ensureEncryptionKeys, but makes none. */
export async function findEncryptionKeys(
  { encryptionKeys }: Pick<Config, "encryptionKeys">,
  folder: string,
): Promise<readonly EncryptionKey[]> {
  const own = await readKeys(encryptionKeyPath(folder));
  const named = new Set(encryptionKeys.map(({ id }) => id));
  return [...encryptionKeys, ...own.filter(({ id }) => !named.has(id))];
}

async function makeKey(folder: string): Promise<EncryptionKey> {
  // At random, so that keys of two folders are not taken for one another.
  const id = `local-${randomBytes(4).toString("hex")}`;
  const key = randomBytes(keyBytes);
  const file: KeyFile = { encryption_keys: `${id}:${key.toString("base64")}` };
  await writeJson(encryptionKeyPath(folder), file);
  return { id, key };
}

async function readKeys(path: string): Promise<readonly EncryptionKey[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new OperatorError(`${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  try {
    return parseEncryptionKeys((JSON.parse(text) as KeyFile).encryption_keys);
  } catch {
    // What the readers say would repeat parts of the key.
    throw new OperatorError(
      `${path} is damaged: put it back from a backup; moved away, a new key is made, and the ` +
        "secrets of providers have to be given again",
    );
  }
}

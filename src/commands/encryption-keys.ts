// Encryption keys of a machine with a data folder: the configured ones, and the one that the first
// start creates so that secrets can be stored without setup. Source: docs/generations.md.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../base/error-code.ts";
import { OperatorError } from "../base/operator-error.ts";
import type { Config, EncryptionKey } from "../config.ts";
import { writeJson } from "../embedded/data-folder.ts";
import { parseEncryptionKeys } from "../setting-parsers.ts";

/** File of the folder's key, in the form of the setting, so that `waggle serve` takes it too. */
type KeyFile = { readonly encryption_keys: string };

const keyBytes = 32;

/** Returns the path of the data folder's key; only the folder's owner can read the file. */
export function encryptionKeyPath(dataFolder: string): string {
  return join(dataFolder, "encryption-key.json");
}

/**
 * Returns the configured keys, then the folder's key, which decrypts secrets stored before keys
 * were configured. Creates the folder's key if neither exists.
 */
export async function ensureEncryptionKeys(
  config: Pick<Config, "encryptionKeys">,
  folder: string,
): Promise<readonly EncryptionKey[]> {
  const found = await findEncryptionKeys(config, folder);
  return found.length > 0 ? found : [await makeKey(folder)];
}

/** Like ensureEncryptionKeys, but creates no key. */
export async function findEncryptionKeys(
  { encryptionKeys }: Pick<Config, "encryptionKeys">,
  folder: string,
): Promise<readonly EncryptionKey[]> {
  const own = await readKeys(encryptionKeyPath(folder));
  const named = new Set(encryptionKeys.map(({ id }) => id));
  return [...encryptionKeys, ...own.filter(({ id }) => !named.has(id))];
}

async function makeKey(folder: string): Promise<EncryptionKey> {
  // Random, so that the keys of two folders have different ids.
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
    // ENOTDIR: the folder cannot be there, since a file stands in its way.
    if (["ENOENT", "ENOTDIR"].includes(codeOf(cause) ?? "")) return [];
    throw new OperatorError(`${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  try {
    return parseEncryptionKeys((JSON.parse(text) as KeyFile).encryption_keys);
  } catch {
    // The parsers' messages would repeat parts of the key.
    throw new OperatorError(
      `${path} is damaged: put it back from a backup; moved away, a new key is made, and the ` +
        "secrets of providers have to be given again",
    );
  }
}

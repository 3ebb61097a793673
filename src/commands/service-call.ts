// Address and key with which commands call a running service.

import { readFile } from "node:fs/promises";
import { formatHttpAddress } from "../base/http-address.ts";
import { OperatorError } from "../base/operator-error.ts";
import { type Config, type Flags, readApiKey } from "../config.ts";

export type CallOptions = { readonly url: string; readonly key: string };

/**
 * Reads `--url`, by default the service of this machine, and the key of `--key-file` or
 * WAGGLE_API_KEY. Throws OperatorError for a wrong address, an unreadable file or no key.
 */
export async function readCallOptions(config: Config, flags: Flags): Promise<CallOptions> {
  return { url: readUrl(config, flags), key: await readKey(textFlag(flags, "key-file")) };
}

function readUrl(config: Config, flags: Flags): string {
  const url = textFlag(flags, "url") ?? formatHttpAddress(config.host, config.port);
  const address = /^https?:\/\/[^/]/i.test(url) ? URL.parse(url) : null;
  // The text is not repeated: it may hold a password.
  if (address === null || address.username !== "" || address.pathname + address.search !== "/") {
    throw new OperatorError(
      "--url must be http:// or https://, a host and perhaps a port, such as http://127.0.0.1:8080",
    );
  }
  return url;
}

export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the values of a flag that may be given several times. */
export function listFlag(flags: Flags, name: string): readonly string[] {
  const values = flags[name];
  return Array.isArray(values) ? (values as readonly string[]) : [];
}

/** Returns a flag that is a number of things; undefined without it, OperatorError for another. */
export function countFlag(flags: Flags, name: string): number | undefined {
  const text = textFlag(flags, name);
  if (text === undefined) return undefined;
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count < 1 || !Number.isSafeInteger(count)) {
    throw new OperatorError(`--${name} must be a whole number from 1, not "${text}"`);
  }
  return count;
}

async function readKey(path: string | undefined): Promise<string> {
  const text = path === undefined ? readApiKey() : await readFile(path, "utf8").catch(explain);
  const key = text?.trim() ?? "";
  if (key === "") throw new OperatorError("give a key by --key-file or WAGGLE_API_KEY");
  if (/^[!-~]+$/.test(key)) return key;
  // The text is not repeated, here or in what fetch says of a header: it may hold keys.
  const source = path === undefined ? "WAGGLE_API_KEY" : `the file of --key-file, ${path},`;
  throw new OperatorError(`${source} must hold one key alone, visible ASCII without spaces`);
}

function explain(cause: Error): never {
  throw new OperatorError(`cannot read --key-file: ${cause.message}`, { cause });
}

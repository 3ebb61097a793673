// The text of an API key: creating, masking, hashing, and reading it from a request's header.
// Source: docs/decisions.md, 31.

import { hash, randomInt } from "node:crypto";
import type { KeyKind } from "../principal.ts";

const alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const urlSafe = `${alphanumerics}-_`;
const classicLength = 40;
const typedIdLength = 24;
const typedSecretLength = 64;

/** Characters of the random part in lists; enough to tell keys apart, useless for guessing. */
const shownLength = 4;

/** Prefix of each kind; clients check the prefixes of ingestion and fine-grained keys. */
const prefixes: Readonly<Record<KeyKind, string>> = {
  project: "hh_",
  project_read_only: "hh_",
  ingestion: "hh_ingst_",
  data_plane: "hh_fgdp_",
  control_plane: "hh_fgcp_",
};

/** Returns a new key: `hh_` and 40 characters, or a typed prefix, 24 characters, `_` and 64. */
export function createSecret(kind: KeyKind): string {
  const prefix = prefixes[kind];
  if (prefix === prefixes.project) return prefix + randomText(alphanumerics, classicLength);
  const id = randomText(alphanumerics, typedIdLength);
  return `${prefix}${id}_${randomText(urlSafe, typedSecretLength)}`;
}

/** Returns the only form in which a key is stored. */
export function hashSecret(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

/** Returns the masked form of a key for lists, such as `hh_ingst_aB3d…`. */
export function maskSecret(secret: string, kind: KeyKind): string {
  return `${secret.slice(0, prefixes[kind].length + shownLength)}…`;
}

/** Returns the key of `Bearer <key>`, the scheme in any case; empty if there is none. */
export function parseBearer(header: string | undefined): string {
  return /^bearer +([^ ]+) *$/i.exec(header ?? "")?.[1] ?? "";
}

function randomText(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}

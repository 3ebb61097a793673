// Parsers of setting texts; each fails with an Error that names the fault of the text.
// Source: OpenID Connect Discovery 1.0, 3; docs/clusters.md; docs/sign-in.md.

import { isIP } from "node:net";
import { isJsonObject, type JsonObject, tryParseJson } from "./base/json.ts";

/** Returns the address of a mail server; undefined for an empty text. */
export function parseSmtpUrl(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.parse(text);
  // The text may hold a password, so the message does not repeat it.
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === "") {
    throw new Error("must be smtp://host:port or smtps://host:port, with user:password@ if needed");
  }
  return text;
}

/** Where files are stored: a folder, or a bucket with the prefix of its object names. */
export type FilePlace =
  | { readonly folder: string; readonly bucket?: never }
  | { readonly bucket: string; readonly prefix: string };

/** Reads a folder, or `s3://bucket/prefix`; undefined for an empty text. */
export function parseFilePlace(text: string): FilePlace | undefined {
  if (text === "") return undefined;
  const [, bucket, prefix = ""] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket !== undefined) return { bucket, prefix: prefix.replace(/\/$/, "") };
  if (/^[a-z0-9]+:\/\//i.test(text)) {
    throw new Error(`must be a folder or s3://bucket/prefix, not ${JSON.stringify(text)}`);
  }
  return { folder: text };
}

/** Returns the text unchanged. */
export function parseText(text: string): string {
  return text;
}

/** Returns a parser of whole numbers from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max)) {
      throw new Error(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
    }
    return value;
  };
}

/** Returns a parser of one of these words. */
export function oneOf<T extends string>(values: readonly T[]): (text: string) => T {
  return (text) => {
    const value = values.find((candidate) => candidate === text);
    if (value === undefined) {
      throw new Error(`must be one of ${values.join(", ")}, not ${JSON.stringify(text)}`);
    }
    return value;
  };
}

/** Returns the text; undefined for an empty one. */
export function parseOptional(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** Returns a text of the form `host:port`; undefined for an empty one. */
export function parseAddress(text: string): string | undefined {
  const [, port = ""] = /^[^\s/]+:(\d{1,5})$/.exec(text) ?? [];
  if (text !== "" && !(Number(port) > 0 && Number(port) < 65_536)) {
    throw new Error(`must be host:port, such as 127.0.0.1:7233, not ${JSON.stringify(text)}`);
  }
  return parseOptional(text);
}

/** Reads a switch; undefined for an empty text. Temporal's programs use true and false. */
export function parseTls(text: string): boolean | undefined {
  if (text === "") return undefined;
  return ["on", "true"].includes(oneOf(["on", "off", "true", "false"])(text));
}

/** Reads `on` as true and `off` as false. */
export function parseSwitch(text: string): boolean {
  return oneOf(["on", "off"])(text) === "on";
}

/** Splits at commas; trims the items and drops empty ones. */
export function parseList(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Returns origins as browsers send them, since they are compared as text; `*` is any. */
export function parseOrigins(text: string): readonly string[] {
  return parseList(text).map((item) => {
    if (item === "*" || item === "null") return item;
    const url = URL.canParse(item) ? new URL(item) : undefined;
    const origin = url && !/^$|\*/.test(url.host) ? `${url.protocol}//${url.host}` : undefined;
    if (origin !== undefined && [origin, `${origin}/`].includes(url?.href ?? "")) return origin;
    const wanted = "scheme and host alone, such as https://app.example.org, with commas, or *";
    throw new Error(`must list ${wanted}${quoteWithoutPassword(item)}`);
  });
}

const encryptionKeyIdPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** Key length of AES-256. */
const encryptionKeyBytes = 32;
const encryptionKeysMax = 16;

/** Returns the keys of a text `id:base64,…` in its order; none for an empty one. */
export function parseEncryptionKeys(
  text: string,
): readonly { readonly id: string; readonly key: Uint8Array }[] {
  const items = parseList(text);
  // Errors repeat no part of the text: a key without an id looks like an id.
  const keys = items.map((item, index) => {
    const [id = "", base64 = "", ...rest] = item.split(":");
    const key = Buffer.from(base64, "base64");
    const isKey = key.length === encryptionKeyBytes && key.toString("base64") === base64;
    if (rest.length === 0 && encryptionKeyIdPattern.test(id) && isKey) return { id, key };
    const wanted = "id:key, the key as the base64 of 32 bytes (openssl rand -base64 32)";
    throw new Error(`must be ${wanted}, with commas between; number ${index + 1} is none`);
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new Error("must not name one id twice");
  }
  if (keys.length > encryptionKeysMax) {
    throw new Error(`must be at most ${encryptionKeysMax} keys`);
  }
  return Object.freeze(keys);
}

const clusterIdPattern = /^[a-z0-9_-]{1,64}$/;
const clustersForm =
  'must be a JSON object such as {"id": "postgres://user:password@host/database"}';
/** Maximum clusters: each has a connection pool and a watch. */
const clustersMax = 64;

/** Returns cluster ids with their URLs; none for an empty text. */
export function parseClusters(text: string): Readonly<Record<string, string>> {
  const entries = Object.entries(parseObject(text, clustersForm));
  if (entries.length > clustersMax) throw new Error(`must name at most ${clustersMax} clusters`);
  return Object.fromEntries(
    entries.map(([id, url]) => {
      if (!clusterIdPattern.test(id)) {
        throw new Error("must have ids of 1 to 64 lower-case letters, digits, - and _");
      }
      const parsed = typeof url === "string" ? url : "";
      if (!isPostgresUrl(parsed)) throw new Error(`of ${id} ${postgresUrlForm}`);
      return [id, withoutDefaults(parsed)];
    }),
  );
}

/**
 * Returns a JSON object; an empty one for an empty text. The error message is `wanted`: the text
 * may contain secrets, and the parser's message quotes the text.
 */
export function parseObject(text: string, wanted: string): JsonObject {
  const value = text === "" ? {} : tryParseJson(text);
  if (!isJsonObject(value)) throw new Error(wanted);
  return value;
}

const postgresUrlForm =
  "must be a URL such as postgres://user:password@host:5432/database, with %25 for a % in it";

function isPostgresUrl(text: string): boolean {
  const url = /^postgres(ql)?:\/\//.test(text) ? URL.parse(text) : null;
  return url !== null && isDecodable(url.username + url.password + url.host);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // URIError: a % without two digits, or bytes that are no UTF-8. The driver fails with it too.
    return false;
  }
}

/** Returns the text of a Postgres URL; undefined for an empty one. */
export function parsePostgresUrl(text: string): string | undefined {
  if (text === "") return undefined;
  // The text may contain a password, so it is not repeated.
  if (!isPostgresUrl(text)) throw new Error(postgresUrlForm);
  return withoutDefaults(text);
}

/** Removes `target_session_attrs=any`: libpq's default, which the driver refuses to hear named. */
function withoutDefaults(text: string): string {
  const url = new URL(text);
  if (url.searchParams.get("target_session_attrs") !== "any") return text;
  url.searchParams.delete("target_session_attrs");
  return url.href;
}

/** Returns a URL that consists only of an origin; undefined for an empty text. */
export function parseOrigin(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (!isOrigin) {
    const wanted = "scheme and host alone, such as https://waggle.example.org";
    throw new Error(`must be ${wanted}${quoteWithoutPassword(text)}`);
  }
  return url.origin;
}

/** Returns what was given, for the end of a message; the part before an @ may be a password. */
function quoteWithoutPassword(text: string): string {
  return text.includes("@") ? "" : `, not ${JSON.stringify(text)}`;
}

/** Returns the address of a page, without a slash at the end; undefined for an empty text. */
export function parseLink(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.parse(text);
  const isPlain = url && url.search + url.hash + url.username + url.password === "";
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new Error("must be http:// or https:// with a host, and a path if needed");
  }
  return url.href.replace(/\/+$/, "");
}

/** Returns the text unchanged: the provider compares it exactly; undefined for an empty one. */
export function parseIssuer(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && url.search === "" && url.hash === "" && url.username + url.password === "";
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (!isPlain || !isSafe) {
    // The text may contain a password, so it is not repeated.
    throw new Error("must be an https URL without a query; http is for this machine alone");
  }
  return text;
}

function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}

/** Splits scopes at spaces or commas. */
export function parseScopes(text: string): readonly string[] {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== "");
  if (!scopes.includes("openid")) throw new Error("must include openid");
  return Object.freeze(scopes);
}

/** Returns the text unchanged: an e-mail address, alone or as `Name <address>`. */
export function parseSender(text: string): string {
  if (!/^(?:[^<>\p{Cc}]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/u.test(text)) {
    const wanted = "an e-mail address, alone or as Waggle <waggle@example.org>";
    throw new Error(`must be ${wanted}, not ${JSON.stringify(text)}`);
  }
  return text;
}

/** Returns an e-mail address in lower case. */
export function parseEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new Error(`must be an e-mail address, not ${JSON.stringify(text)}`);
  }
  return email;
}

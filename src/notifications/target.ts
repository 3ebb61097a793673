// Where notifications of an alert or a budget go: the target of each kind, without its secrets, and
// the secrets apart. Source: the published clients of this API; docs/alerts.md.

import { randomBytes } from "node:crypto";
import type { AddressGuard } from "../base/address-guard.ts";
import { assertText } from "../base/assert-text.ts";
import { parseChoice } from "../base/choices.ts";
import { refuse } from "../base/errors.ts";
import { emailLengthMax, webhookUrlLengthMax } from "../base/field-limits.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { notificationAddressesMax } from "../base/tenant-limits.ts";

const channels = ["WEBHOOK", "SLACK", "EMAIL"] as const;
export type Channel = (typeof channels)[number];

/** Kinds of targets: of bad news and of their end. */
export const roles = ["critical", "resolved"] as const;
export type Role = (typeof roles)[number];

/** A target as a request names it. */
export type TargetInput = {
  readonly channel: string;
  readonly metadata: JsonObject | undefined;
  readonly userIds: readonly string[];
};

export type TargetInputs = {
  readonly critical: TargetInput;
  readonly resolved?: TargetInput | undefined;
};

/** A target without secrets. */
export type Target =
  /** Scheme and host of a URL. The URL is a secret: a sender needs nothing else. */
  | { readonly channel: "WEBHOOK" | "SLACK"; readonly origin: string }
  | {
      readonly channel: "EMAIL";
      readonly emails: readonly string[];
      readonly userIds: readonly string[];
    };

export type Targets = { readonly critical: Target; readonly resolved?: Target | undefined };

export type TargetSecrets = {
  /** Signs the webhooks of both targets: `whsec_` and base64. */
  readonly signingSecret?: string;
  /** URLs of the targets. */
  readonly urls?: Partial<Readonly<Record<Role, string>>>;
};

export type TargetRules = {
  readonly addressGuard: Pick<AddressGuard, "assertAllowed">;
  /** Whether the operator has set a mail server. */
  readonly hasMail: boolean;
  /** Returns the ids among these of members of the project's organization. */
  readonly findMembers: (userIds: readonly string[]) => Promise<readonly string[]>;
};

/** A requested target, with its URL apart, because the URL is stored encrypted. */
type Parsed = { readonly target: Target; readonly url?: string };

/** Targets that may be stored, and their URLs. */
export type CheckedTargets = {
  readonly targets: Targets;
  readonly urls: TargetSecrets["urls"];
};

/**
 * Returns the targets that a request asks for, and their URLs. Throws INVALID_ARGUMENT
 * naming the field.
 */
export async function parseTargets(
  path: string,
  { critical, resolved }: TargetInputs,
  rules: TargetRules,
): Promise<CheckedTargets> {
  const first = await parseTarget(`${path}.critical`, critical, rules);
  const second = resolved && (await parseTarget(`${path}.resolved`, resolved, rules));
  return {
    targets: { critical: first.target, ...(second && { resolved: second.target }) },
    urls: {
      ...(first.url !== undefined && { critical: first.url }),
      ...(second?.url !== undefined && { resolved: second.url }),
    },
  };
}

async function parseTarget(
  path: string,
  { channel: name, metadata = {}, userIds }: TargetInput,
  rules: TargetRules,
): Promise<Parsed> {
  const channel = parseChoice(`${path}.channel`, channels, name);
  if (channel === "EMAIL") return { target: await parseMail(path, metadata, userIds, rules) };
  if (userIds.length > 0) refuse(`${path}.user_ids`, "are for EMAIL");
  const url = parseUrl(`${path}.metadata.url`, metadata["url"]);
  await rules.addressGuard.assertAllowed(`${path}.metadata.url`, url);
  return { target: { channel, origin: new URL(url).origin }, url };
}

/** Stands in answers for the part of a URL that is not shown. */
export const shownPath = "/…";

function parseUrl(field: string, given: JsonValue | undefined): string {
  if (typeof given !== "string") return refuse(field, "must be a URL");
  assertText(field, given, webhookUrlLengthMax);
  if (given.endsWith(shownPath)) {
    return refuse(field, "must be the whole URL; answers show only its beginning");
  }
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol)) return refuse(field, "must be an http or https URL");
  if (url.username !== "" || url.password !== "") {
    refuse(field, "must hold no user and no password; the signature tells who sends");
  }
  return url.href;
}

/** One address and no list: a comma or a line break would make more of it. */
const emailPattern = /^[^\s@,;<>"]+@[^\s@,;<>"]+$/;

async function parseMail(
  path: string,
  { emails: given = [] }: JsonObject,
  userIds: readonly string[],
  { hasMail, findMembers }: TargetRules,
): Promise<Target> {
  if (!hasMail) {
    const wayOut = "the operator has to set WAGGLE_SMTP_URL (--smtp-url)";
    refuse(`${path}.channel`, `EMAIL is not available: ${wayOut}`);
  }
  const field = `${path}.metadata.emails`;
  const emails = Array.isArray(given) ? given : refuse(field, "must be a list of addresses");
  if (emails.length + userIds.length === 0)
    refuse(field, "name an address, or members in user_ids");
  if (emails.length + userIds.length > notificationAddressesMax) {
    refuse(field, `and user_ids must be at most ${notificationAddressesMax} together`);
  }
  const texts = emails.map((email: JsonValue, at: number) => {
    const place = `${field}[${at}]`;
    if (typeof email !== "string" || !emailPattern.test(email)) {
      return refuse(place, "must be an e-mail address");
    }
    assertText(place, email, emailLengthMax);
    return email;
  });
  const known = userIds.length === 0 ? [] : await findMembers(userIds);
  const at = userIds.findIndex((id) => !known.includes(id));
  if (at >= 0) refuse(`${path}.user_ids[${at}]`, "must be the id of a member of the organization");
  return { channel: "EMAIL", emails: texts, userIds };
}

/** Returns a new secret for signatures. Source: the Standard Webhooks specification. */
export function createSigningSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

/** Returns whether a target among these gets signed webhooks. */
export function hasWebhook({ critical, resolved }: Targets): boolean {
  return critical.channel === "WEBHOOK" || resolved?.channel === "WEBHOOK";
}

// Kinds of text that masking finds by itself. Each has a pattern, and where that says too little, a
// check of each match. Source: docs/masking.md.

import { isIP } from "node:net";

export const detectors = [
  "email",
  "phone_number",
  "credit_card",
  "iban",
  "us_ssn",
  "ip_address",
  "secret",
  "url_password",
] as const;
export type Detector = (typeof detectors)[number];

/** Start and end in a match. */
export type Range = readonly [start: number, end: number];

export type Detection = {
  /** In the syntax of RE2. */
  readonly pattern: string;
  /** Returns the ranges of a match that are replaced; absent: the whole match is. */
  readonly rangesIn?: (match: string) => readonly Range[];
};

/** Beginning of a word; an escape before it, such as `\n` in a piece of JSON, is not meant. */
const beginning = String.raw`(?:\\[bfnrt]|\b)`;

/** Keys as services make them: by their prefix, or by their form (JSON Web Tokens, PEM). */
const secretPatterns = [
  // OpenAI, Anthropic, Stripe, OpenRouter, LangSmith, Langfuse
  String.raw`(?:sk|pk|rk|lsv2)[-_][A-Za-z0-9_-]{16,}`,
  // Waggle
  String.raw`hh_(?:ingst_|fgdp_|fgcp_)?[A-Za-z0-9_-]{24,}`,
  // GitHub, GitLab, npm, Hugging Face, Groq, xAI, Replicate, Slack
  String.raw`(?:gh[opsur]|github_pat|npm|hf|gsk|r8)_[A-Za-z0-9_]{16,}`,
  String.raw`(?:glpat|xox[abeoprs]|xai)-[A-Za-z0-9_-]{10,}`,
  // NVIDIA, Perplexity, Pinecone, Tavily; signatures of webhooks
  String.raw`(?:nvapi|pplx|tvly)-[A-Za-z0-9_-]{16,}`,
  String.raw`(?:pcsk|whsec)_[A-Za-z0-9_]{16,}`,
  // AWS, Google
  String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
  String.raw`AIza[A-Za-z0-9_-]{35}`,
  String.raw`(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}`,
  // JSON Web Tokens
  String.raw`eyJ[A-Za-z0-9_-]{5,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+`,
];

/** Private keys, with real line ends or `\n` as it stands in JSON. */
const privateKey =
  String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*` +
  String.raw`(?:-----END [A-Z ]*KEY-----)?`;

/**
 * User and password of a URL, such as `://user:secret@`, and a password in its query. The password
 * ends at the last `@` before the path; a URL in JSON may have `\/` for `/`.
 */
const urlPassword =
  String.raw`[A-Za-z0-9]:\\?/\\?/[^\s/?#"<>\x60\\:]*:[^\s/?#"<>\x60\\]+@|` +
  String.raw`[?&;](?i:password|passwd|pwd)=[^\s&;#'"<>\x60\\]+`;

export const detections: Readonly<Record<Detector, Detection>> = {
  email: {
    // Less than a mailbox may have, so that a URL, a quote or `react@18.2.0` is none.
    pattern:
      String.raw`(?:\\[bfnrt])?[\p{L}\p{N}_][\p{L}\p{M}\p{N}._%+'-]*(?:@|%40)` +
      String.raw`(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*\.)+\p{L}[\p{L}\p{M}\p{N}-]+`,
    rangesIn: afterEscape,
  },
  // International form only: digits without it are as often an order or a date.
  phone_number: {
    pattern: String.raw`\+[1-9](?:[ ().-]{0,2}[0-9]){7,14}\b`,
  },
  credit_card: {
    pattern: String.raw`${beginning}[0-9](?:[ -]?[0-9]){12,}\b`,
    rangesIn: (match) => rangesOfGroups(match, isCardNumber),
  },
  iban: {
    pattern:
      String.raw`${beginning}[A-Z]{2}[0-9]{2}` +
      String.raw`(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)\b`,
    rangesIn: (match) => rangesOfGroups(match, isIban),
  },
  us_ssn: {
    pattern: String.raw`${beginning}[0-9]{3}-[0-9]{2}-[0-9]{4}\b`,
    rangesIn: (match) =>
      /^(?:\\.)?(?:000|666|9)|-00-|-0000$/.test(match) ? [] : afterEscape(match),
  },
  ip_address: {
    pattern:
      String.raw`${beginning}[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b|` +
      String.raw`(?:\\[bfnrt])?[\w:.]*:[\w.]*:[\w:.]*`,
    rangesIn: rangesOfAddress,
  },
  secret: {
    pattern: `${beginning}(?:${secretPatterns.join("|")})|${privateKey}`,
    // Names in code, such as `pk_orders_by_customer` and `npm_config_user_agent`, are words.
    rangesIn: (match) =>
      /^(?:\\.)?[a-z]{1,15}(?:[-_]+[a-z]{1,15})+$/.test(match) ? [] : afterEscape(match),
  },
  url_password: {
    pattern: urlPassword,
    rangesIn: rangesOfPassword,
  },
};

/** Returns the match without an escape before it. */
function afterEscape(match: string): readonly Range[] {
  return [[match.startsWith("\\") ? 2 : 0, match.length]];
}

/** Returns the range of the password, so that the user and the host stay readable. */
function rangesOfPassword(match: string): readonly Range[] {
  if (!match.endsWith("@") || /^[?&;]/.test(match)) return [[match.indexOf("=") + 1, match.length]];
  return [[match.indexOf(":", match.indexOf("/")) + 1, match.length - 1]];
}

/**
 * Returns the range of the address in a match. A word may stand before the address, such as `ipv4`
 * in `ipv4:203.0.113.7:443`; a port, a point or a colon may follow it.
 */
function rangesOfAddress(match: string): readonly Range[] {
  const word = /^(?:\\.)?(?:\w*[G-Zg-z_]\w*:)?(?!:)/.exec(match);
  for (const start of [match.startsWith("\\") ? 2 : 0, word?.[0].length ?? 0]) {
    const rest = match.slice(start);
    const texts = [rest, rest.slice(0, -1), rest.replace(/:.*$/, "")];
    const address = texts.find((text) => text.length > 2 && isIP(text) > 0);
    if (address !== undefined) return [[start, start + address.length]];
  }
  return [];
}

/** Groups of a number of a card or an account, at most. */
const groupsMax = 19;

/**
 * Returns the runs of groups, which blanks and hyphens part, that pass a check; the longest from
 * each start. Another number may stand before a number, and a word in capitals after it.
 */
function rangesOfGroups(match: string, passes: (text: string) => boolean): readonly Range[] {
  const parts = match.matchAll(/\\.|[^ \\-]+/g);
  const groups = [...parts].map(({ index, 0: text }) => ({ index, text }));
  const ranges: Range[] = [];
  for (let first = 0; first < groups.length; first += 1) {
    const run = groups.slice(first, first + groupsMax);
    while (run.length > 0 && !passes(run.map(({ text }) => text).join(""))) run.pop();
    const last = run.at(-1);
    if (last === undefined) continue;
    ranges.push([run[0]?.index ?? 0, last.index + last.text.length]);
    first += run.length - 1;
  }
  return ranges;
}

/**
 * Lengths and first digits of card numbers. The check digit alone is not enough: one in ten other
 * numbers has it by chance, such as times of 13, 14, 16 or 19 digits.
 */
const cardNumber =
  /^(?:3[0689][0-9]{12}|3[47][0-9]{13}|(?:2[2-7]|35|[4-6][0-9])[0-9]{14}|[4-6][0-9]{16,18})$/;

/** Digits as cards have them, with Luhn's check digit (ISO/IEC 7812-1). */
function isCardNumber(text: string): boolean {
  if (!cardNumber.test(text)) return false;
  let sum = 0;
  for (const [at, character] of Array.from(text).toReversed().entries()) {
    const value = Number(character) * (at % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** The number with its first four characters last is 1 modulo 97 (ISO 13616). */
function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(text)) return false;
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

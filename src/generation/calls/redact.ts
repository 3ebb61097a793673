// Takes a connection's secrets out of what a provider says, before anyone reads it. Called by
// whatever makes a ProviderError. Source: docs/decisions.md, 20, 21.

import type { Connection, Secrets } from "../provider.ts";

export type Redactor = {
  /** Returns a text for people without secrets, cut to 2,000 characters. */
  message(text: string): string;
  /** Returns a body of text without secrets, whole: JSON stays JSON. */
  body(bytes: Uint8Array): Uint8Array;
};

/** As long as any explanation is; it stands on events and in answers. */
const messageCharactersMax = 2_000;
/** What is shorter hides nothing, and may be part of any word. */
const secretCharactersMin = 4;
/** So much of a secret's beginning tells it apart; providers repeat keys as `sk-ab****wxyz`. */
const beginningCharacters = 4;
const stub = "[redacted]";

/** Returns what takes the secrets out, in every form that a provider may repeat them in. */
export function redactor({ secrets }: Connection): Redactor {
  const pattern = patternOf(secrets);
  const cleanse = (text: string): string =>
    pattern === undefined ? text : text.replace(pattern, stub);
  return {
    message(text) {
      const clean = cleanse(text);
      return clean.length > messageCharactersMax ? cut(clean) : clean;
    },
    body(bytes) {
      return pattern === undefined ? bytes : Buffer.from(cleanse(Buffer.from(bytes).toString()));
    },
  };
}

// Not inside a pair of surrogates: half of one is no text that can be stored.
function cut(text: string): string {
  return `${text.slice(0, messageCharactersMax - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function patternOf(secrets: Secrets): RegExp | undefined {
  const values = Object.values(secrets).filter(({ length }) => length >= secretCharactersMin);
  if (values.length === 0) return undefined;
  const whole = values.flatMap(formsOf);
  // The longest first: where one begins another, the rest of it must not stay.
  const parts = whole.toSorted((a, b) => b.length - a.length).map(escapePattern);
  return new RegExp([...parts, ...values.map(maskedForm)].join("|"), "g");
}

function formsOf(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  ];
}

function maskedForm(secret: string): string {
  const beginning = escapePattern(secret.slice(0, beginningCharacters));
  return `${beginning}[\\w-]*(?:[*•…]+|\\.{2,})[\\w-]*`;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

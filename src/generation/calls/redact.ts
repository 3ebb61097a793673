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
/** Of a text, so much is looked through: a provider may answer megabytes, of its own choice. */
const readCharactersMax = 65_536;
/** What is shorter hides nothing, and may be part of any word. */
const secretCharactersMin = 4;
/** So much of a secret's beginning tells it apart; providers repeat keys as `sk-ab****wxyz`. */
const beginningCharacters = 4;
/** So much of a secret gives it away, with or without the rest of it. */
const partCharacters = 16;
/** What is shorter may be any word once it is encoded without its ends. */
const innerCharactersMin = 12;
const stub = "[redacted]";

/** Returns what takes the secrets out, in every form that a provider may repeat them in. */
export function redactor({ secrets }: Connection): Redactor {
  const cleanse = cleanseOf(secrets);
  return {
    message(text) {
      const clean = cleanse ? beginningOf(text, cleanse) : text;
      return clean.length > messageCharactersMax ? cut(clean) : clean;
    },
    body: (bytes) => (cleanse ? Buffer.from(cleanse(Buffer.from(bytes).toString())) : bytes),
  };
}

// Not inside a pair of surrogates: half of one is no text that can be stored.
function cut(text: string): string {
  return `${text.slice(0, messageCharactersMax - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** A secret that is cut in two at the end of a long text may not be told: that end is left out. */
function beginningOf(text: string, cleanse: Cleanse): string {
  if (text.length <= readCharactersMax) return cleanse(text);
  return cleanse(text.slice(0, readCharactersMax)).slice(0, -partCharacters);
}

type Cleanse = (text: string) => string;

/** Returns undefined where there is no secret. */
function cleanseOf(secrets: Secrets): Cleanse | undefined {
  const values = Object.values(secrets).filter(({ length }) => length >= secretCharactersMin);
  const forms = [...new Set(values.flatMap(formsOf))];
  if (forms.length === 0) return undefined;
  const parts = forms.map((form) => escapePattern(form.slice(0, partCharacters)));
  // The longest first: where one begins another, the rest of it must not stay.
  const whole = [...new Set(parts)].toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp([...whole, ...values.map(maskedForm)].join("|"), "g");
  return (text) => takeOut(text, pattern, forms);
}

/**
 * Takes out what `pattern` finds, and as much as follows of a form that begins so. Not by a pattern
 * of whole forms: of a text that nearly repeats a long secret, it would look at each many times.
 */
function takeOut(text: string, pattern: RegExp, forms: readonly string[]): string {
  const kept: string[] = [];
  let at = 0;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const { index } = found;
    kept.push(text.slice(at, index));
    at = index + Math.max(found[0].length, ...forms.map((form) => commonLength(text, index, form)));
    pattern.lastIndex = at;
  }
  return [...kept, text.slice(at)].join(stub);
}

/** Returns how much of a form stands at a place of a text. */
function commonLength(text: string, at: number, form: string): number {
  let length = 0;
  while (length < form.length && text[at + length] === form[length]) length += 1;
  return length;
}

function formsOf(secret: string): readonly string[] {
  const inUrl = encodeURIComponent(secret);
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    inUrl,
    inUrl.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    inJson,
    inJson.replaceAll("/", "\\/"),
    Buffer.from(secret).toString("hex"),
    ...base64FormsOf(secret),
  ];
}

/** Also behind other bytes, such as `Bearer ` or a user's name, in each place of three. */
function base64FormsOf(secret: string): readonly string[] {
  const forms = [Buffer.from(secret).toString("base64").replace(/=+$/, "")];
  if (secret.length >= innerCharactersMin) {
    for (const before of [1, 2]) {
      const encoded = Buffer.from(`${" ".repeat(before)}${secret}`).toString("base64");
      // Those that hold bits of what stands before, and of what may follow.
      forms.push(encoded.slice(before + 1, -4));
    }
  }
  return forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

// Bounded: a text that repeats the beginning of a secret would be looked through for each.
function maskedForm(secret: string): string {
  const beginning = escapePattern(secret.slice(0, beginningCharacters));
  return `${beginning}[\\w-]{0,64}(?:[*•…]+|\\.{2,})[\\w-]*`;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

// Removes a connection's secrets from the text of a provider before it is shown or stored.
// Source: docs/decisions.md, 21.6.

import type { Connection, Secrets } from "../provider.ts";

export type Redactor = {
  /** Returns a text for people without secrets, cut to 2,000 characters. */
  message(text: string): string;
  /** Returns a whole text body without secrets; JSON stays JSON. */
  body(bytes: Uint8Array): Uint8Array;
};

/** Length of a long explanation; the message is stored on events and returned in answers. */
const messageCharactersMax = 2_000;
/** Maximum characters of a text that are searched: a provider may answer megabytes. */
const readCharactersMax = 65_536;
/** Minimum length of a secret; a shorter text hides nothing and may be part of any word. */
const secretCharactersMin = 4;
/** Characters at the beginning that identify a secret; providers repeat keys as `sk-ab****wxyz`. */
const beginningCharacters = 4;
/** Characters that give a secret away, with or without the rest of it. */
const partCharacters = 16;
/** Minimum length of a secret for the inner base64 forms; a shorter one may be part of any word. */
const innerCharactersMin = 12;
const stub = "[redacted]";

/** Returns a redactor that removes the secrets in every form that a provider may repeat. */
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

// Never cuts a surrogate pair: half of one cannot be stored.
function cut(text: string): string {
  return `${text.slice(0, messageCharactersMax - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Leaves out the end of the searched part: a secret that is cut there may not be recognized. */
function beginningOf(text: string, cleanse: Cleanse): string {
  if (text.length <= readCharactersMax) return cleanse(text);
  return cleanse(text.slice(0, readCharactersMax)).slice(0, -partCharacters);
}

type Cleanse = (text: string) => string;

/** Returns undefined without secrets. */
function cleanseOf(secrets: Secrets): Cleanse | undefined {
  const values = Object.values(secrets).filter(({ length }) => length >= secretCharactersMin);
  const forms = [...new Set(values.flatMap(formsOf))];
  if (forms.length === 0) return undefined;
  const parts = forms.map((form) => escapePattern(form.slice(0, partCharacters)));
  // The longest first: if one form begins another, the rest of the longer one must not remain.
  const whole = [...new Set(parts)].toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp([...whole, ...values.map(maskedForm)].join("|"), "g");
  return (text) => takeOut(text, pattern, forms);
}

/**
 * Removes each match of `pattern` and the characters after it that continue a form. The pattern
 * does not contain whole forms: on a text that nearly repeats a long secret, it would read each
 * part many times.
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

/** Returns how many characters of a form are found at a position of a text. */
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

/** Includes the forms behind other bytes, such as `Bearer ` or a user name, at all offsets. */
function base64FormsOf(secret: string): readonly string[] {
  const forms = [Buffer.from(secret).toString("base64").replace(/=+$/, "")];
  if (secret.length >= innerCharactersMin) {
    for (const before of [1, 2]) {
      const encoded = Buffer.from(`${" ".repeat(before)}${secret}`).toString("base64");
      // Leaves out the characters that contain bits of the bytes before or after the secret.
      forms.push(encoded.slice(before + 1, -4));
    }
  }
  return forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

// Masks have a maximum length: a text of repeated beginnings would be read again for each.
function maskedForm(secret: string): string {
  const beginning = escapePattern(secret.slice(0, beginningCharacters));
  return `${beginning}[\\w-]{0,64}(?:[*•…]+|\\.{2,})[\\w-]*`;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

// Contents of the fields in generated attacks: long texts, large values of any kind, bodies of
// another API. Source: issue 12, "Prove".

import type { DescMessage } from "@bufbuild/protobuf";
import { join, lengthField, repeat } from "../bytes.ts";
import { marker, stamp } from "./bulk.ts";
import { type Form, forms } from "./form.ts";

export const operations = [
  "repeat",
  "enlarge",
  "distinct",
  "nest",
  "digits",
  "long key",
  "unknown",
  "alternate",
] as const;

export type Operation = (typeof operations)[number];

/** One field of a message that is made large. */
export type Enlargement = {
  /** Names of fields, joined by dots; empty for the message itself. */
  readonly path: string;
  readonly operation: Operation;
  /** Approximate size in bytes. */
  readonly bytes: number;
  /** Number that selects one of several values, texts or unknown fields. */
  readonly variant: number;
  /** Number of copies of the item with the field in the innermost list around it. */
  readonly around: number;
};

export function isFree({ typeName }: DescMessage): boolean {
  return /^google\.protobuf\.(Struct|Value|ListValue)$/.test(typeName);
}

/** Returns whether a message is the raw body of another API. */
export function isHttpBody({ typeName }: DescMessage): boolean {
  return typeName === "google.api.HttpBody";
}

/** Returns whether paths lead to the fields of a message. */
export function hasPaths(desc: DescMessage): boolean {
  return !isFree(desc) && !isHttpBody(desc) && !desc.typeName.startsWith("google.protobuf.");
}

export function base64Of(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("base64"));
}

const jsonTexts = ["x", '\\"', "\\u0000", "é", "😀", "\\ud800", "\\n", "{{a}}", "a.", "(a*)*", "0"];
const protoTexts = ["x", '"', "\0", "é", "😀", "\xff", "\n", "{{a}}", "a.", "(a*)*", "0"];

/** Returns a text of about `bytes` bytes. */
export function longText({ codec }: Form, { bytes, variant }: Enlargement): Buffer {
  const texts = codec === "json" ? jsonTexts : protoTexts;
  const unit = Buffer.from(
    texts[variant % texts.length] ?? "x",
    variant % texts.length === 5 ? "latin1" : "utf8",
  );
  return repeat(unit, Math.max(1, Math.floor(bytes / unit.length)));
}

/** Returns a large value of any kind. */
export function freeValue(form: Form, one: Enlargement): Buffer {
  const { free } = form;
  const { operation, bytes, variant } = one;
  const small = free.small(variant);
  const times = (extra: number): number => Math.max(1, Math.floor(bytes / (small.length + extra)));
  const key = Buffer.from("a");
  switch (operation) {
    case "repeat":
    case "unknown":
      return free.list(small, times(2));
    case "alternate":
      return free.object(key, small, 1);
    case "enlarge":
      return free.text(longText(form, one));
    case "distinct":
      return stamp(free.object(Buffer.from(marker), small, times(marker.length + 4)));
    case "nest":
      return free.nest(bytes, variant);
    case "digits":
      return free.digits(bytes);
    case "long key":
      return free.object(longText(form, one), small, 1);
  }
}

/** Returns a body of OpenAI's API. */
export function encodeChat(one: Enlargement | undefined): Buffer {
  const large = one ? freeValue(forms.json, one) : Buffer.from("[]");
  const chat = '"messages":[{"role":"user","content":"a"}],"input":"a"';
  return join('{"model":"a",', chat, ',"tools":', large, "}");
}

export function encodeHttpBody(one: Enlargement | undefined, form: Form): Buffer {
  const body = encodeChat(one);
  if (form.codec === "proto") return join(lengthField(1, "application/json"), lengthField(2, body));
  return join('{"contentType":"application/json","data":"', base64Of(body), '"}');
}

// Replaces halves of surrogate pairs in the texts of an answer in Protobuf's JSON, whose readers
// refuse the whole answer for one; Protobuf's encoding replaces them too. Events may have them in
// their names and errors, for example where a program cut a text. Source: docs/decisions.md, D5.

import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

/**
 * Returns the message with U+FFFD in place of lone surrogates in texts; the same message if it has
 * none. Values of any form, such as the buckets of events, stay unchanged, since readers take them.
 */
export function withWellFormedTexts<T extends Message>(desc: DescMessage, message: T): T {
  let copy: Record<string, unknown> | undefined;
  for (const field of textFieldsOf(desc)) {
    const name = field.oneof?.localName ?? field.localName;
    const held = (message as unknown as Record<string, unknown>)[name];
    const value = field.oneof ? valueOfChoice(held, field) : held;
    const clean = cleanField(field, value);
    if (clean === value) continue;
    copy ??= copyOf(message);
    copy[name] = field.oneof ? { case: field.localName, value: clean } : clean;
  }
  return copy === undefined ? message : (copy as unknown as T);
}

function valueOfChoice(held: unknown, { localName }: DescField): unknown {
  const choice = held as { readonly case?: string; readonly value?: unknown } | undefined;
  return choice?.case === localName ? choice.value : undefined;
}

/** Copies a message with its prototype, which has the defaults of absent fields. */
function copyOf(message: Message): Record<string, unknown> {
  const prototype = Object.getPrototypeOf(message) as object | null;
  return Object.assign(Object.create(prototype) as Record<string, unknown>, message);
}

function cleanField(field: DescField, value: unknown): unknown {
  if (value === undefined) return value;
  if (field.fieldKind === "list") return cleanList(field, value as readonly unknown[]);
  if (field.fieldKind === "map") return cleanMap(field, value as Record<string, unknown>);
  return cleanValue(field, value);
}

function cleanList(field: DescField, items: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const clean = cleanValue(field, item);
    if (clean === item) continue;
    copy ??= [...items];
    copy[index] = clean;
  }
  return copy ?? items;
}

function cleanMap(field: DescField, map: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(map);
  const clean = entries.map(([key, value]) => [key.toWellFormed(), cleanValue(field, value)]);
  const isSame = clean.every(([key, value], at) => {
    return key === entries[at]?.[0] && value === entries[at]?.[1];
  });
  return isSame ? map : (Object.fromEntries(clean) as Record<string, unknown>);
}

function cleanValue({ message }: DescField, value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  return isRead(message) ? withWellFormedTexts(message, value as Message) : value;
}

const fieldLists = new Map<DescMessage, readonly DescField[]>();

/** Returns the fields of a message that hold texts, themselves or in messages. */
function textFieldsOf(desc: DescMessage): readonly DescField[] {
  const known = fieldLists.get(desc);
  if (known) return known;
  const fields = desc.fields.filter(
    (field) =>
      field.fieldKind === "map" || field.scalar === ScalarType.STRING || isRead(field.message),
  );
  fieldLists.set(desc, fields);
  return fields;
}

/** Returns whether the texts of a message are read; those of any form are not. */
function isRead(message: DescMessage | undefined): message is DescMessage {
  return message !== undefined && !message.typeName.startsWith("google.");
}

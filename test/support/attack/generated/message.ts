// Request messages of generated attacks: small valid values, with some fields enlarged. A path
// consists of the proto names that lead to a field.

import {
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { field as fieldRules } from "../../../../gen/buf/validate/validate_pb.js";
import { join, lengthField, repeat } from "../bytes.ts";
import {
  base64Of,
  encodeHttpBody,
  type Enlargement,
  freeValue,
  hasPaths,
  isFree,
  isHttpBody,
  longText,
} from "./any-value.ts";
import { marker, nestGroups, nestMessages, stamp } from "./bulk.ts";
import { type Form, wireTypeOf } from "./form.ts";

export type Plan = {
  readonly form: Form;
  /** Whether every field is set, not only the required ones. */
  readonly isFilled: boolean;
  /** Valid values by field name. */
  readonly known: Readonly<Record<string, string | number | boolean>>;
};

const filledDepthMax = 3;

/** Returns a message. The paths of its enlarged fields are relative to it. */
export function encodeMessage(
  desc: DescMessage,
  enlargements: readonly Enlargement[],
  plan: Plan,
  depth = 0,
): Buffer {
  const { form } = plan;
  if (isHttpBody(desc)) return encodeHttpBody(enlargements[0], form);
  const members = desc.fields.flatMap((field) => {
    const own = enlargements.filter(({ path }) => path.split(".")[0] === field.name);
    if (own.length === 0) {
      return isSet(field, plan, depth) ? [form.field(field, smallOf(field, plan, depth), 1)] : [];
    }
    const here = own.filter(({ path }) => path === field.name);
    const inside = own.filter(({ path }) => path !== field.name);
    return [
      ...here.map((one) => enlarged(desc, field, one, plan)),
      ...(inside.length > 0 ? [descend(field, inside, plan, depth)] : []),
    ];
  });
  const whole = enlargements.filter(({ path }) => path === "");
  return form.message([...members, ...whole.map((one) => insideOf(desc, one, plan))]);
}

function descend(
  field: DescField,
  enlargements: readonly Enlargement[],
  plan: Plan,
  depth: number,
): Buffer {
  const rest = enlargements.map((one) => ({ ...one, path: one.path.slice(field.name.length + 1) }));
  const hasListInside = rest.some(({ path }) => isListOnTheWay(field.message, path));
  const around = field.fieldKind === "list" && !hasListInside ? (rest[0]?.around ?? 1) : 1;
  const smaller = rest.map((one) => ({ ...one, bytes: Math.ceil(one.bytes / around) }));
  if (!field.message) return Buffer.alloc(0);
  return plan.form.field(field, encodeMessage(field.message, smaller, plan, depth + 1), around);
}

function isListOnTheWay(desc: DescMessage | undefined, path: string): boolean {
  const [name = "", ...inner] = path.split(".");
  if (inner.length === 0) return false;
  const field = desc?.fields.find((one) => one.name === name);
  return field?.fieldKind === "list" || isListOnTheWay(field?.message, inner.join("."));
}

function isSet(field: DescField, plan: Plan, depth: number): boolean {
  if (field.name === "event_type" || isRequired(field)) return true;
  if (!plan.isFilled || field.oneof !== undefined) return false;
  return depth < filledDepthMax || !field.message;
}

function isRequired(field: DescField): boolean {
  if (!hasOption(field, fieldRules)) return false;
  const { required, type } = getOption(field, fieldRules);
  return required || (type.case === "repeated" && type.value.minItems > 0n);
}

/** Returns a small value of a field, or of one item of a list field. */
function smallOf(field: DescField, plan: Plan, depth: number): Buffer {
  const { form, known } = plan;
  const { message } = field;
  if (message) {
    if (isFree(message)) return form.free.into(message, form.free.small(8));
    if (hasPaths(message) || isHttpBody(message))
      return encodeMessage(message, [], plan, depth + 1);
    return form.codec === "json" ? Buffer.from('"2026-01-01T00:00:00Z"') : Buffer.alloc(0);
  }
  const value = known[field.name];
  if (wireTypeOf(field) !== 2) return form.number(field, typeof value === "number" ? value : 1);
  const text = Buffer.from(String(value ?? "a"));
  return form.text(
    field.scalar === ScalarType.BYTES && form.codec === "json" ? base64Of(text) : text,
  );
}

/** Returns the members of a message for one enlarged field. */
function enlarged(desc: DescMessage, field: DescField, one: Enlargement, plan: Plan): Buffer {
  const { form } = plan;
  const { message } = field;
  const times = (value: Buffer): number => Math.max(1, Math.floor(one.bytes / (value.length + 2)));
  if (message && (isFree(message) || isHttpBody(message))) {
    const value = isHttpBody(message)
      ? encodeHttpBody(one, form)
      : form.free.into(message, freeValue(form, one));
    return form.field(field, value, one.operation === "alternate" ? times(value) : 1);
  }
  switch (one.operation) {
    case "repeat": {
      const value = one.variant % 2 === 0 ? emptyOf(field, form) : smallOf(field, plan, 0);
      return form.field(field, value, times(value));
    }
    case "distinct": {
      const value = smallOf(field, { ...plan, known: markersOf(message, one.variant) }, 0);
      return stamp(form.field(field, value, times(value)));
    }
    case "enlarge":
      if (!message) return largeScalar(field, form, one);
      break;
    case "digits":
      if (!message) return manyDigits(field, form, one);
      break;
    case "nest":
      if (form.codec === "json")
        return form.field(field, form.free.nest(one.bytes, one.variant), 1);
      break;
    case "long key":
    case "unknown":
    case "alternate":
      break;
  }
  if (!message || !hasPaths(message)) return insideOf(desc, one, plan);
  const base = encodeMessage(message, [{ ...one, path: "" }], plan, filledDepthMax);
  return form.field(field, base, 1);
}

/** Returns members that enlarge the message itself. */
function insideOf(desc: DescMessage, one: Enlargement, plan: Plan): Buffer {
  const { form } = plan;
  const { bytes, variant } = one;
  const isJson = form.codec === "json";
  switch (one.operation) {
    case "nest": {
      if (isJson) return join('"u":', form.free.nest(bytes, variant));
      const cycle = cycleOf(desc);
      if (!cycle || variant % 3 === 2) return nestGroups(15, bytes);
      return nestMessages(cycle, Buffer.alloc(0), bytes);
    }
    case "long key":
      return isJson ? join('"', longText(form, one), '":0') : lengthField(600, Buffer.alloc(bytes));
    case "enlarge":
    case "digits":
      return isJson
        ? join('"u":', form.free.text(longText(form, one)))
        : lengthField(600, repeat(longText(form, one), 1));
    case "alternate": {
      const each = form.members(allFields(desc, plan), 1);
      return form.members(each, Math.max(1, Math.floor(bytes / (each.length + 1))));
    }
    case "repeat":
    case "distinct":
    case "unknown":
      return stamp(form.unknown(bytes, variant));
  }
}

/** Returns every field of a message once, including all members of a oneof. */
function allFields(desc: DescMessage, plan: Plan): Buffer {
  const { form } = plan;
  const members = desc.fields.map((field) =>
    form.field(field, smallOf(field, plan, filledDepthMax), 1),
  );
  const message = form.message(members);
  return form.codec === "json" ? message.subarray(1, -1) : message;
}

function emptyOf(field: DescField, form: Form): Buffer {
  if (form.codec === "proto")
    return wireTypeOf(field) === 2 ? Buffer.alloc(0) : form.number(field, 0);
  if (field.message) return Buffer.from("{}");
  return wireTypeOf(field) === 2 ? Buffer.from('""') : form.number(field, 0);
}

/** Returns known values with a counter in one text of a message. */
function markersOf(message: DescMessage | undefined, variant: number): Plan["known"] {
  const texts = message?.fields.filter((one) => one.scalar === ScalarType.STRING) ?? [];
  const name = texts[variant % Math.max(1, texts.length)]?.name;
  const type = { event_type: "tool" };
  // Only messages with a text field get a counter; plain lists have no names.
  return name === undefined ? type : { ...type, [name]: marker };
}

function largeScalar(field: DescField, form: Form, one: Enlargement): Buffer {
  if (wireTypeOf(field) !== 2) return manyDigits(field, form, one);
  const isBase64 = field.scalar === ScalarType.BYTES && form.codec === "json";
  return form.field(
    field,
    form.text(isBase64 ? repeat("A", one.bytes & ~3) : longText(form, one)),
    1,
  );
}

function manyDigits(field: DescField, form: Form, { bytes, variant }: Enlargement): Buffer {
  if (form.codec === "json") return form.field(field, form.free.digits(bytes), 1);
  // Either a list of numbers in one field, or the longest form of a number, repeated.
  if (variant % 2 === 0) return lengthField(field.number, Buffer.alloc(bytes));
  const overlong = Buffer.from([...new Array<number>(9).fill(0xff), 1]);
  return form.field(field, overlong, Math.max(1, Math.floor(bytes / (overlong.length + 1))));
}

/** Returns the field numbers that lead from a message back to itself. */
function cycleOf(desc: DescMessage): readonly number[] | undefined {
  const seen = new Set<DescMessage>();
  const search = (at: DescMessage): readonly number[] | undefined => {
    for (const { message, number, fieldKind } of at.fields) {
      if (!message || fieldKind === "map") continue;
      if (message === desc) return [number];
      if (seen.has(message)) continue;
      seen.add(message);
      const rest = search(message);
      if (rest) return [number, ...rest];
    }
    return undefined;
  };
  return search(desc);
}

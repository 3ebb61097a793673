// What the scan of a Protobuf body needs to know of each message: its fields by number, and how
// much memory protobuf-es takes for it. Compiled once for each message. Source: docs/limits.md.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { containerBytes, valueBytes } from "./tally.ts";

export type Shape = {
  /** By field number; absent for unknown fields, which are dropped. */
  readonly fields: ReadonlyMap<number, FieldShape>;
  /** False for a `Value` and for an entry of a map: JSON has no object of its own for them. */
  readonly isContainer: boolean;
  /** Bytes of memory that an empty message takes. */
  readonly bytes: number;
};

export type FieldShape = {
  readonly name: string;
  readonly number: number;
  /** The message of the field; undefined for scalars. Looked up late: messages hold themselves. */
  readonly message: (() => Shape) | undefined;
  /** Whether the number of its items is limited: every list but the arrays of free-form values. */
  readonly isList: boolean;
  /** Bytes of an item of a packed list; undefined for other fields. */
  readonly packedBytes: number | undefined;
  /** Values that one scalar counts as: none for a key of a map, which is no value of JSON. */
  readonly values: number;
  /** Bytes of memory that the field takes besides its text or message. */
  readonly bytes: number;
  /** Whether it is a part of a `Value` outside of buckets, which is held as messages. */
  readonly isLoose: boolean;
};

/** Measured on spans, events, links and attributes. */
const messageBytes = 80;
const slotBytes = 8;
const listBytes = 32;
/** The object that says which member of a choice is set. */
export const oneofBytes = 40;
/** A view of the body. */
const byteArrayBytes = 96;
/** A key and its place in an object of JSON. */
const entryBytes = 48;

const shapes = { bucket: new Map<DescMessage, Shape>(), loose: new Map<DescMessage, Shape>() };

/** Returns the shape of a message; `isLoose` for parts of a `Value` outside of buckets. */
export function shapeOf(desc: DescMessage, isLoose = false): Shape {
  const known = shapes[isLoose ? "loose" : "bucket"].get(desc);
  if (known) return known;
  const fields = new Map<number, FieldShape>();
  const isContainer = desc.typeName !== "google.protobuf.Value";
  const shape: Shape = { fields, isContainer, bytes: bytesOf(desc, isLoose) };
  // Set before the fields are read: a message may hold itself.
  shapes[isLoose ? "loose" : "bucket"].set(desc, shape);
  for (const field of desc.fields) fields.set(field.number, fieldShapeOf(field, isLoose));
  return shape;
}

function bytesOf(desc: DescMessage, isLoose: boolean): number {
  if (isFreeForm(desc) && !isLoose) return desc.name === "Value" ? 0 : containerBytes;
  const isImplicit = ({ presence }: DescField) => presence === FeatureSet_FieldPresence.IMPLICIT;
  const isList = ({ fieldKind }: DescField) => fieldKind === "list" || fieldKind === "map";
  const slots = desc.fields.filter((field) => isImplicit(field) && !isList(field)).length;
  return messageBytes + slots * slotBytes + desc.fields.filter(isList).length * listBytes;
}

function fieldShapeOf(field: DescField, isInLoose: boolean): FieldShape {
  const isLoose = isInLoose || (isLooseField(field) && !isFreeForm(field.parent));
  return {
    name: field.name,
    number: field.number,
    message: messageShapeOf(field, isLoose),
    isList: field.fieldKind === "map" || (field.fieldKind === "list" && !isFreeForm(field.parent)),
    packedBytes: packedBytesOf(field),
    values: 1,
    bytes: (field.oneof && !isFreeForm(field.parent) ? oneofBytes : 0) + scalarBytesOf(field),
    isLoose,
  };
}

function isFreeForm({ typeName }: DescMessage): boolean {
  return /^google\.protobuf\.(Value|ListValue|Struct)$/.test(typeName);
}

/** Tells whether a field takes any value of JSON and is held as messages. */
export function isLooseField({ message }: DescField): boolean {
  return message !== undefined && isFreeForm(message) && message.name !== "Struct";
}

/** Tells whether a field is a bucket, which is held as JSON. */
export function isStructField({ message, fieldKind }: DescField): boolean {
  return fieldKind === "message" && message?.typeName === "google.protobuf.Struct";
}

function scalarBytesOf(field: DescField): number {
  if (field.message) return 0;
  const isBytes = "scalar" in field && field.scalar === ScalarType.BYTES;
  return isBytes ? byteArrayBytes : valueBytes;
}

function messageShapeOf(field: DescField, isLoose: boolean): (() => Shape) | undefined {
  if (field.fieldKind === "map") {
    const fields = entryFields(field, isLoose);
    const entry: Shape = { fields, isContainer: false, bytes: entryBytes };
    return () => entry;
  }
  const { message } = field;
  if (!message) return undefined;
  let shape: Shape | undefined;
  return () => (shape ??= shapeOf(message, isLoose));
}

/** Field 1 of a map's entry is the key, field 2 the value. */
function entryFields(
  field: DescField & { fieldKind: "map" },
  isLoose: boolean,
): ReadonlyMap<number, FieldShape> {
  const { message } = field;
  let shape: Shape | undefined;
  const scalar = { message: undefined, isList: false, packedBytes: undefined, isLoose };
  const value = message && { ...scalar, message: () => (shape ??= shapeOf(message, isLoose)) };
  return new Map([
    [1, { ...scalar, number: 1, name: "key", values: 0, bytes: 0 }],
    [
      2,
      {
        ...(value ?? scalar),
        number: 2,
        name: "value",
        values: 1,
        bytes: message ? 0 : valueBytes,
      },
    ],
  ]);
}

const packedSizes: { readonly [Type in ScalarType]?: number } = {
  [ScalarType.DOUBLE]: 8,
  [ScalarType.FIXED64]: 8,
  [ScalarType.SFIXED64]: 8,
  [ScalarType.FLOAT]: 4,
  [ScalarType.FIXED32]: 4,
  [ScalarType.SFIXED32]: 4,
};

function packedBytesOf(field: DescField): number | undefined {
  if (field.fieldKind !== "list" || field.listKind === "message") return undefined;
  if (field.listKind === "enum") return 1;
  const isText = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
  return isText ? undefined : (packedSizes[field.scalar] ?? 1);
}

const viewing = new Map<DescMessage, boolean>();

/** Tells whether decoded messages hold views of the body, which keep all of it in memory. */
export function holdsViews(desc: DescMessage): boolean {
  const known = viewing.get(desc);
  if (known !== undefined) return known;
  // A message that holds itself adds no view by that.
  viewing.set(desc, false);
  const found = desc.fields.some(
    (field) =>
      ("scalar" in field && field.scalar === ScalarType.BYTES) ||
      (field.message !== undefined && holdsViews(field.message)),
  );
  viewing.set(desc, found);
  return found;
}

// Shape of each message for the scan of a Protobuf body: its fields by number, and the memory that
// protobuf-es takes for it. Compiled once per message. Source: docs/limits.md.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { containerBytes, valueBytes } from "../../base/decode/tally.ts";

export type Shape = {
  /** Fields by number; unknown fields are absent, since they are dropped. */
  readonly fields: ReadonlyMap<number, FieldShape>;
  /** False for a `Value` and for a map entry, which JSON does not write as separate objects. */
  readonly isContainer: boolean;
  /** Bytes of memory of an empty message. */
  readonly bytes: number;
};

export type FieldShape = {
  readonly name: string;
  readonly number: number;
  /**
   * Shape of the field's message; undefined for scalars. A function, since messages may be
   * recursive.
   */
  readonly message: (() => Shape) | undefined;
  /**
   * Whether the number of items is limited: true for all lists except arrays of free-form values.
   */
  readonly isList: boolean;
  /** Bytes of an item in a packed list; undefined for other fields. */
  readonly packedBytes: number | undefined;
  /** Values that one scalar counts for: 0 for the key of a map, which is not a value in JSON. */
  readonly values: number;
  /** Whether it is the key of a map, which is the name of a member in JSON. */
  readonly isName?: true;
  /** Bytes of memory of the field in addition to its text or message. */
  readonly bytes: number;
  /** Whether the field is part of a `Value` outside of buckets, which is held as messages. */
  readonly isLoose: boolean;
};

/**
 * Bytes of a message, of a scalar's slot and of a list, measured on spans, events, links and
 * attributes.
 */
const messageBytes = 80;
const slotBytes = 8;
const listBytes = 32;
/** Bytes of the object that holds the set member of a oneof. */
export const oneofBytes = 40;
/** Bytes of a view of the body, which a `bytes` field holds. */
const byteArrayBytes = 96;
/** Bytes of a key and its slot in a JSON object. */
const entryBytes = 48;

const shapes = { bucket: new Map<DescMessage, Shape>(), loose: new Map<DescMessage, Shape>() };

/** Returns the shape of a message; `isLoose` for parts of a `Value` outside of buckets. */
export function shapeOf(desc: DescMessage, isLoose = false): Shape {
  const known = shapes[isLoose ? "loose" : "bucket"].get(desc);
  if (known) return known;
  const fields = new Map<number, FieldShape>();
  const isContainer = desc.typeName !== "google.protobuf.Value";
  const shape: Shape = { fields, isContainer, bytes: bytesOf(desc, isLoose) };
  // Set before the fields are read, since a message may contain itself.
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

/** Returns whether a field takes any JSON value and is held as messages. */
export function isLooseField({ message }: DescField): boolean {
  return message !== undefined && isFreeForm(message) && message.name !== "Struct";
}

/** Returns whether a field is a bucket, which is held as JSON. */
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

/** Returns the fields of a map's entry: field 1 is the key, field 2 the value. */
function entryFields(
  field: DescField & { fieldKind: "map" },
  isLoose: boolean,
): ReadonlyMap<number, FieldShape> {
  const { message } = field;
  let shape: Shape | undefined;
  const scalar = { message: undefined, isList: false, packedBytes: undefined, isLoose };
  const value = message && { ...scalar, message: () => (shape ??= shapeOf(message, isLoose)) };
  return new Map<number, FieldShape>([
    [1, { ...scalar, number: 1, name: "key", isName: true, values: 0, bytes: 0 }],
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

/** Returns whether decoded messages hold views of the body, which keep the whole body in memory. */
export function holdsViews(desc: DescMessage): boolean {
  const known = viewing.get(desc) ?? hasBytes(desc, new Set());
  viewing.set(desc, known);
  return known;
}

/** Returns whether a message or one inside it has a field of bytes; `seen` ends recursion. */
function hasBytes(desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some(
    (field) =>
      ("scalar" in field && field.scalar === ScalarType.BYTES) ||
      (field.message !== undefined && hasBytes(field.message, seen)),
  );
}

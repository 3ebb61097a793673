// JSON Schemas of messages in requests and answers, by the rules of json-reader.ts and
// json-writer.ts.
// Source: JSON Schema 2020-12; proto/waggle/v1/options.proto.

import {
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.js";
import { listItemsMax } from "../../base/limits.ts";
import {
  hasStrictKeys,
  isAnswerOnly,
  isStruct,
  isTimestamp,
  isWellKnown,
  jsonKeyOf,
  treatmentOf,
} from "../rest/field-names.ts";
import { readFileSync } from "node:fs";

export type Schema = { readonly [key: string]: unknown };

/** Form of a message; each form that differs is a separate component. */
export type Form =
  /** Form in a request; a strict one refuses unknown and legacy keys. */
  | { readonly side: "request"; readonly isStrict: boolean }
  /** Form in an answer; records of a projected one may omit nullable fields and empty lists. */
  | {
      readonly side: "answer";
      readonly isTextTimes: boolean;
      readonly isNullFree: boolean;
      readonly isProjected: boolean;
      /** Whether the message is a record in the answer rather than the answer itself. */
      readonly isRecord: boolean;
    };

/** Components, which schemas add as they refer to them. */
export type Components = Map<string, Schema>;

const freeForm: Schema = { type: "object", additionalProperties: true };
const timeText: Schema = {
  anyOf: [{ type: "string", pattern: "^\\d{4,}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$" }, integer()],
};

/** Returns a reference to the schema of a message and adds the schema to the components. */
export function messageSchema(message: DescMessage, form: Form, components: Components): Schema {
  const name = componentName(message, form);
  const reference = { $ref: `#/components/schemas/${name}` };
  if (components.has(name)) return reference;
  // Added before the fields are built, since a message may contain itself.
  components.set(name, {});
  components.set(name, objectSchema(message, form, components));
  return reference;
}

/** Returns the schema of one field's value, with its comment as description. */
export function fieldSchema(field: DescField, form: Form, components: Components): Schema {
  const description = commentOf(`${field.parent.typeName}.${field.name}`);
  const { isNullable, isLegacy } = treatmentOf(field);
  const value = valueSchema(field, form, components);
  return {
    ...(isNullable && mayBeNull(form) ? { anyOf: [value, { type: "null" }] } : value),
    ...(description === undefined ? {} : { description }),
    ...(isLegacy || field.proto.options?.deprecated === true ? { deprecated: true } : {}),
  };
}

function mayBeNull(form: Form): boolean {
  return form.side === "request" || !form.isNullFree;
}

function componentName(message: DescMessage, form: Form): string {
  const name = message.typeName.split(".").at(-1) ?? message.name;
  if (form.side === "request") {
    const input = name.endsWith("Request") ? name : `${name}Input`;
    return form.isStrict ? `${input}Strict` : input;
  }
  const projected = form.isProjected ? "Projected" : "";
  const textTimes = form.isTextTimes ? "TextTimes" : "";
  return `${name}${projected}${textTimes}${form.isNullFree ? "WithoutNulls" : ""}`;
}

/** Returns the schema of a message itself, and adds those of messages inside to the components. */
export function objectSchema(message: DescMessage, form: Form, components: Components): Schema {
  const fields = message.fields.filter((field) => isShown(field, form));
  const properties = fields.map((field) => [
    jsonKeyOf(field),
    fieldSchema(field, form, components),
  ]);
  const required = fields.filter((field) => isRequired(field, form)).map(jsonKeyOf);
  const description = commentOf(message.typeName);
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(properties) as Schema,
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed(message, form) ? { additionalProperties: false } : {}),
  };
}

/** Returns whether a form has the field: json-reader.ts knows no other key of a request. */
function isShown(field: DescField, form: Form): boolean {
  if (form.side === "answer") return true;
  return !isAnswerOnly(field) && !(form.isStrict && treatmentOf(field).isLegacy);
}

/** Returns whether json-reader.ts refuses unknown keys. */
function isClosed(message: DescMessage, form: Form): boolean {
  return form.side === "request" && (form.isStrict || hasStrictKeys(message));
}

function isRequired(field: DescField, form: Form): boolean {
  if (form.side === "request") return mustBeGiven(field);
  const { isNullable, isOmittedEmpty } = treatmentOf(field);
  if (field.oneof || isOmittedEmpty) return false;
  const mayLackFields = form.isProjected && form.isRecord;
  if (field.fieldKind === "list") return !mayLackFields;
  if (isNullable) return !mayLackFields && !form.isNullFree;
  return field.fieldKind === "map" || field.presence === FeatureSet_FieldPresence.IMPLICIT;
}

/**
 * Returns whether a request must have the field. A list that may not be empty may not be absent.
 */
export function mustBeGiven(field: DescField): boolean {
  if (!hasOption(field, fieldRules)) return false;
  const { required, type } = getOption(field, fieldRules);
  return required || (type.case === "repeated" && type.value.minItems > 0n);
}

function valueSchema(field: DescField, form: Form, components: Components): Schema {
  switch (field.fieldKind) {
    case "list": {
      const items = itemSchema(field, form, components);
      const isBounded = form.side === "request" && field.message !== undefined;
      return { type: "array", items, ...(isBounded ? { maxItems: listItemsMax } : {}) };
    }
    case "map":
      return { type: "object", additionalProperties: itemSchema(field, form, components) };
    default:
      return itemSchema(field, form, components);
  }
}

function itemSchema(field: DescField, form: Form, components: Components): Schema {
  if (field.message) {
    if (isStruct(field.message)) return freeForm;
    if (isTimestamp(field.message)) return timestampSchema(form);
    if (isWellKnown(field.message)) return {};
    const inner = form.side === "answer" ? { ...form, isRecord: true } : form;
    return messageSchema(field.message, inner, components);
  }
  if (field.enum) return { type: "string", enum: field.enum.values.map((value) => value.name) };
  return scalarSchema(field, form);
}

function timestampSchema({ side }: Form): Schema {
  const text = { type: "string", format: "date-time" };
  return side === "answer" ? text : { anyOf: [text, { type: "number" }] };
}

function scalarSchema(field: DescField, form: Form): Schema {
  if (treatmentOf(field).isUnixMs) {
    if (form.side === "request") return { type: ["number", "string"] };
    return form.isTextTimes ? timeText : integer();
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.INT32:
    case ScalarType.UINT32:
    case ScalarType.SINT32:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return { ...integer(), ...boundsOf(field) };
    default:
      // 64-bit integers are text in JSON.
      return { type: "string", pattern: "^-?\\d+$" };
  }
}

function integer(): Schema {
  return { type: "integer" };
}

/** Bounds that `buf.validate` sets on an int32. */
function boundsOf(field: DescField): Schema {
  if (!hasOption(field, fieldRules)) return {};
  const { type } = getOption(field, fieldRules);
  if (type.case !== "int32") return {};
  const { greaterThan, lessThan } = type.value;
  return {
    ...(greaterThan.case === "gte" ? { minimum: greaterThan.value } : {}),
    ...(lessThan.case === "lte" ? { maximum: lessThan.value } : {}),
  };
}

const file = new URL("../../../gen/comments.json", import.meta.url);
let comments: Readonly<Record<string, string>> | undefined;

/**
 * Returns the comment of a service, rpc, message or field, which comments-plugin.ts writes;
 * undefined if it has none.
 */
export function commentOf(fullName: string): string | undefined {
  comments ??= JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  return comments[fullName];
}

// Content of a datapoint from a row of a file: the columns of an export, or those that a mapping
// names. Pure. Source: docs/datasets.md, "Files".

import { refuse } from "../../../base/errors.ts";
import { quoteText } from "../../../base/quote-text.ts";
import { isUuid } from "../../../base/ids.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  tryParseJson,
} from "../../../base/json.ts";
import { type DatapointContent, toMessages } from "../datapoint.ts";
import { type Mapping, mapObject } from "../mapping.ts";
import { type FileColumn, findUnknownColumn, unknownColumn } from "./file-format.ts";

export type RowContent = {
  /** Undefined for a new datapoint. */
  readonly id: string | undefined;
  readonly content: DatapointContent;
};

/** Throws INVALID_ARGUMENT naming the column, after `path`. */
export function toRowContent(
  row: JsonObject,
  mapping: Mapping | undefined,
  path: string,
): RowContent {
  if (mapping) return { id: undefined, content: mapObject(row, mapping, path) };
  const unknown = findUnknownColumn(Object.keys(row));
  if (unknown !== undefined) refuse(path + quoteText(unknown), unknownColumn);
  const read = (name: FileColumn): JsonValue => {
    const value = row[name] ?? null;
    return value === "" ? null : value;
  };
  const id = read("id");
  if (id !== null && !(typeof id === "string" && isUuid(id))) refuse(`${path}id`, "must be a UUID");
  const linkedEvent = read("linked_event");
  if (linkedEvent !== null && typeof linkedEvent !== "string") {
    refuse(`${path}linked_event`, "must be text");
  }
  return {
    id: id ?? undefined,
    content: {
      inputs: toObject(read("inputs"), `${path}inputs`) ?? refuse(`${path}inputs`, "is required"),
      history: toList(read("history"), `${path}history`),
      groundTruth: toObject(read("ground_truth"), `${path}ground_truth`),
      metadata: toObject(read("metadata"), `${path}metadata`),
      linkedEvent,
    },
  };
}

function toObject(value: JsonValue, path: string): JsonObject | null {
  const read = parsed(value);
  return read === null || isJsonObject(read) ? read : refuse(path, "must be an object");
}

function toList(value: JsonValue, path: string): readonly JsonObject[] {
  const read = parsed(value) ?? [];
  return isJsonArray(read) ? toMessages(read, path) : refuse(path, "must be a list of objects");
}

/** Returns the value of a cell, which is JSON text in CSV. */
function parsed(value: JsonValue): JsonValue {
  return typeof value === "string" ? (tryParseJson(value) ?? value) : value;
}

// Names the field of a JSON message that does not fit, in the words of REST, since the messages of
// Protobuf's own reader name types of JavaScript and no path. Source: docs/clients.md.

import type { DescMessage } from "@bufbuild/protobuf";
import type { ItemFault } from "../../access/call.ts";
import { isJsonObject } from "../../base/json.ts";
import { FieldFault } from "../rest/field-fault.ts";
import { type ItemList, messageReader } from "../rest/json-reader.ts";

/**
 * Returns the first fault in the JSON value of a message that Protobuf's reader has refused;
 * undefined if REST would accept the value.
 */
export function findJsonFault(desc: DescMessage, json: unknown): FieldFault | undefined {
  if (!isJsonObject(json)) return new FieldFault("must be an object");
  const itemFaults: ItemFault[] = [];
  const lists: ItemList[] = [];
  const counts = { loose: { count: 0 }, made: { bytes: 0 } };
  try {
    messageReader(desc)(json, { isStrict: false, itemFaults, lists, ...counts });
  } catch (error) {
    // Other errors are those of limits, which the reading itself reports.
    return error instanceof FieldFault ? error : undefined;
  }
  for (const { length, readItem } of lists) {
    for (let index = 0; index < length; index += 1) {
      readItem(index);
      const [fault] = itemFaults;
      if (fault) return faultOfItem(fault);
    }
  }
  return undefined;
}

function faultOfItem({ field, index, message }: ItemFault): FieldFault {
  const [, path = "", text = message] = /^([^\s:]+): (.*)$/s.exec(message) ?? [];
  const fault = new FieldFault(text);
  if (path !== "") fault.path = path;
  return fault.at(index).within(field);
}

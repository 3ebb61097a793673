// HoneyHive's own attributes: every bucket as dotted keys under `honeyhive_<bucket>`.
// Source: output of the SDKs honeyhive 0.2, 1.7 (PyPI) and 1.0.42 (npm).

import { isJsonObject, type JsonValue, setOwn } from "../../../base/json.ts";
import { buckets, type Bucket } from "../../events/event.ts";
import { hasPrefix, keep, take, takePrefix, type Draft } from "../draft.ts";
import { isSameJson, parseJsonText, unflatten } from "../values.ts";
import type { Convention } from "./convention.ts";

/** Key for a bucket that is sent whole and is not an object. */
const wholeKey: Readonly<Record<Bucket, string>> = {
  config: "value",
  inputs: "input",
  outputs: "result",
  metadata: "value",
  metrics: "value",
  feedback: "value",
  user_properties: "value",
};

export const honeyhive: Convention = {
  fields: {
    honeyhive_user_id: "user_properties.user_id",
  },
  read(draft) {
    if (!hasPrefix(draft, "honeyhive_")) return;
    for (const bucket of buckets) {
      const entries = takePrefix(draft, `honeyhive_${bucket}.`);
      if (entries.size > 0) merge(draft, bucket, unflatten(entries));
      const whole = take(draft, `honeyhive_${bucket}`);
      if (whole !== undefined) placeWhole(draft, bucket, whole);
    }
  },
};

function placeWhole(draft: Draft, bucket: Bucket, whole: JsonValue): void {
  const value = parseJsonText(whole);
  merge(draft, bucket, isJsonObject(value) ? value : { [wholeKey[bucket]]: value });
}

// The sender's dotted keys name the field, so they replace values from a table.
function merge(draft: Draft, bucket: Bucket, values: { readonly [key: string]: JsonValue }): void {
  const target = draft.buckets[bucket];
  for (const key of Object.keys(values)) {
    const value = values[key] ?? null;
    const before = Object.hasOwn(target, key) ? target[key] : undefined;
    setOwn(target, key, value);
    if (before !== undefined && !isSameJson(before, value)) {
      keep(draft, `${bucket}.${key}`, before);
    }
  }
}

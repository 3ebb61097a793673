// What holds of the mapping of any record of another service: it is mapped or named as bad, the
// same way each time, and no field of it is lost.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../src/base/json.ts";
import { mapLangfuse } from "../../../../src/commands/import/langfuse.ts";
import { mapLangSmith } from "../../../../src/commands/import/langsmith.ts";
import type { Mapped, Mapper } from "../../../../src/commands/import/mapping.ts";
import { mapOtlp } from "../../../../src/commands/import/otlp.ts";
import { mapPhoenix } from "../../../../src/commands/import/phoenix.ts";
import { BadRecord } from "../../../../src/commands/import/source-record.ts";
import { recordsOf } from "./records.ts";

const formats: readonly (readonly [file: string, mapper: Mapper])[] = [
  ["langfuse-api.jsonl", mapLangfuse],
  ["langfuse-blob.jsonl", mapLangfuse],
  ["langsmith.jsonl", mapLangSmith],
  ["phoenix.jsonl", mapPhoenix],
  ["otlp.jsonl", mapOtlp],
];

/** Maps a record; undefined if it is named as bad. */
function mapOrRefuse(mapper: Mapper, record: JsonObject): Mapped | undefined {
  try {
    return mapper(record, JSON.stringify(record));
  } catch (error) {
    expect(error).toBeInstanceOf(BadRecord);
    return undefined;
  }
}

function namesOf(records: readonly JsonObject[]): readonly string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

const anyJson = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

describe.each(formats)("%s", (file, mapper) => {
  const records = recordsOf(file);

  test("with any values is mapped, or named as bad, the same way each time", () => {
    const changes = fc.dictionary(fc.constantFrom(...namesOf(records)), anyJson, { maxKeys: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...records), changes, (record, changed) => {
        const changedRecord = { ...record, ...changed };

        const first = mapOrRefuse(mapper, changedRecord);

        expect(mapOrRefuse(mapper, changedRecord)).toEqual(first);
      }),
      { numRuns: 300 },
    );
  });
});

// The service itself keeps the attributes of OTLP.
const flat = formats.filter(([, mapper]) => mapper !== mapOtlp);

describe.each(flat)("%s", (file, mapper) => {
  const records = recordsOf(file);
  const known = namesOf(records);

  test("keeps fields of any name", () => {
    const name = fc.oneof(
      fc.stringMatching(/^[a-z]{1,6}(_[a-z]{1,4})?$/),
      fc.stringMatching(/^[a-z]{1,6}[A-Z][a-z]{0,4}$/),
    );
    const names = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...records), names, (record, given) => {
        const added = given.filter((one) => !isKnown(one, known));
        const marked = Object.fromEntries(added.map((one, at) => [one, `marker ${at} of ${one}`]));

        const mapped = mapOrRefuse(mapper, { ...record, ...marked });

        const text = JSON.stringify(mapped?.writes);
        expect(Object.values(marked).filter((marker) => !text.includes(marker))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("keeps a field that is there in both ways of writing", () => {
    for (const record of records) {
      const twice = { ...record, noteOfUser: "marker 1", note_of_user: "marker 2" };

      const text = JSON.stringify(mapOrRefuse(mapper, twice)?.writes);

      expect([text.includes("marker 1"), text.includes("marker 2")]).toEqual([true, true]);
    }
  });
});

/** Returns whether a name means a field of the format, in either way of writing it. */
function isKnown(name: string, known: readonly string[]): boolean {
  const plain = (text: string): string => text.replaceAll("_", "").toLowerCase();
  return known.some((one) => plain(one) === plain(name));
}

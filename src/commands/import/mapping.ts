// Maps a record of an export to calls of the public API. Source: docs/moving-in.md.

import type { JsonObject } from "../../base/json.ts";

/** A whole event, an update of one, or spans in OTLP JSON. */
export type Write =
  | { readonly kind: "event"; readonly eventId: string; readonly event: JsonObject }
  | {
      readonly kind: "update";
      readonly eventId: string;
      readonly update: JsonObject;
      /** Key of `feedback` that only this update sets: with it, the update was stored before. */
      readonly mark: string;
    }
  | {
      readonly kind: "spans";
      readonly eventIds: readonly string[];
      /** ResourceSpans, which may share a request with others; or a whole request as text. */
      readonly spans: JsonObject | string;
    };

export type Mapped = {
  readonly writes: readonly Write[];
  /** Records in it: 1, except for requests of many spans. */
  readonly records: number;
  readonly mapped: readonly string[];
  readonly raw: readonly string[];
  /** Number of all records of the export, where the record is its end and says so. */
  readonly total?: number;
};

/** Maps one record; throws BadRecord with the reason. Pure: the same record, the same writes. */
export type Mapper = (record: JsonObject, text: string) => Mapped;

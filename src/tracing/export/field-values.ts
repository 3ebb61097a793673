// Values of a field for people who write a filter: the most frequent ones among the newest events.
// Source: docs/decisions.md, 57.4.

import { refuse } from "../../base/errors.ts";
import { fieldValuesMax } from "../../base/limits.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import { textSource } from "../charts/fields.ts";
import type { Reading } from "../events/sized-read.ts";
import type { FieldCatalogue } from "../fields/fields.ts";
import { type FilterInput, parseFilters } from "./filter.ts";
import * as store from "./field-values-store.ts";
import { type Bounds, parseBounds } from "./instant.ts";

export type ValuesRequest = Bounds & {
  readonly field: string;
  readonly prefix: string | undefined;
  readonly limit: number | undefined;
  readonly filters: readonly FilterInput[];
};

export type FieldValues = Omit<store.FieldValues, "hasMoreEvents"> & {
  /** Whether every event of the range was looked at and every value is listed. */
  readonly isExact: boolean;
};

export type FieldValueLists = {
  /** Throws INVALID_ARGUMENT and INVALID_FILTER naming the field. */
  list(projectId: ProjectId, request: ValuesRequest, reading?: Reading): Promise<FieldValues>;
};

const limitDefault = 20;
const rangeMsDefault = 7 * 86_400_000;

export function createFieldValueLists(options: {
  readonly database: Database;
  readonly fields: FieldCatalogue;
}): FieldValueLists {
  const { database, fields } = options;
  return {
    async list(projectId, request, reading = {}) {
      const { field, prefix = "", limit = limitDefault } = request;
      if (limit > fieldValuesMax) refuse("limit", `must be at most ${fieldValuesMax}`);
      const recorded = await fields.fieldsOf(projectId, reading);
      const source = textSource("field", field, recorded);
      const conditions = parseFilters(request.filters, recorded);
      const { fromUs, toUs } = parseBounds(request);
      const { organization, signal } = reading;
      const read = database.reader({ owner: projectId, organization, signal, kind: "charts" });
      const found = await store.listValues(
        read,
        { projectId, conditions, fromUs: fromUs ?? earliestUs(toUs), toUs },
        { source, prefix, limit: limit + 1 },
      );
      return {
        values: found.values.slice(0, limit),
        scanned: found.scanned,
        isExact: !found.hasMoreEvents && found.values.length <= limit,
      };
    },
  };
}

/** Returns the start of the default range, in microseconds. */
function earliestUs(toUs: number | undefined): number {
  return (toUs ?? Date.now() * 1_000) - rangeMsDefault * 1_000;
}

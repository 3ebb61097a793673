// The fields of the project's events, for filters and measures: one entry for each name.

import { useMemo } from "react";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { useRpc } from "../../api/query.ts";
import type { CatalogueField } from "../../design/filter-editor.tsx";

type IsOffered = (name: string, eventTypes: ReadonlySet<string>) => boolean;

const isAny = (): boolean => true;

/**
 * Returns the fields with the types of the events that have them; empty until they are read.
 * `isOffered` is stable between renders.
 */
export function useEventFields(isOffered: IsOffered = isAny): readonly CatalogueField[] {
  const { data } = useRpc(ExportService.method.getEventSchema, {}, { staleMs: 60_000 });
  return useMemo(() => {
    const byName = Map.groupBy(data?.fields ?? [], ({ name }) => name);
    return [...byName].flatMap(([name, found]) => {
      const eventTypes = new Set(found.map(({ eventType }) => eventType));
      const type = found[0]?.type ?? "string";
      return isOffered(name, eventTypes) ? [{ name, type, hint: [...eventTypes].join(", ") }] : [];
    });
  }, [data, isOffered]);
}

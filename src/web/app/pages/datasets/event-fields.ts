// The fields of the project's events, for filter bars: one entry for each name.

import { useMemo } from "react";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { useRpc } from "../../api/query.ts";
import type { CatalogueField } from "../../design/filter-editor.tsx";

/** Returns the catalogue of fields; empty until it is there. */
export function useEventFields(): readonly CatalogueField[] {
  const { data } = useRpc(ExportService.method.getEventSchema, {}, { staleMs: 60_000 });
  return useMemo(() => {
    const byName = Map.groupBy(data?.fields ?? [], ({ name }) => name);
    return [...byName].map(([name, found]) => ({
      name,
      type: found[0]?.type ?? "string",
      hint: [...new Set(found.map(({ eventType }) => eventType))].join(", "),
    }));
  }, [data]);
}

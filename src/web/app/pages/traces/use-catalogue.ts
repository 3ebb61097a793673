// Fields of the project for the filter builder, and the values that a field has.

import { useCallback, useMemo } from "react";
import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { useRpc } from "../../api/query.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { callRpc } from "../../api/transport.ts";
import type { CatalogueField, SuggestValues } from "../../design/filter-editor.tsx";
import { histogramMeasures, toValueCounts } from "./chart-answer.ts";
import { type Question, sessionTotals, toChartFilters } from "./question.ts";
import { chart } from "./use-overview.ts";

const staleMs = 60_000;
const valuesMax = 20;

/** Fields that only sessions have. */
const sessionFields = Object.entries(sessionTotals).map(([name, type]): CatalogueField => ({
  name,
  type,
  hint: "total",
}));

/**
 * Returns the fields that filters of a list may name: of sessions those that a session has itself,
 * since a filter by a field of its events would match none.
 */
export function useFields(tab: Question["tab"]): readonly CatalogueField[] {
  const { data } = useRpc(ExportService.method.getEventSchema, {}, { staleMs });
  return useMemo(() => {
    const byName = Map.groupBy(data?.fields ?? [], ({ name }) => name);
    const isOffered = (name: string, same: readonly { readonly eventType: string }[]) =>
      tab === "events" ||
      (name !== "event_type" && same.some(({ eventType }) => eventType === "session"));
    const found = [...byName]
      .filter(([name, same]) => isOffered(name, same))
      .map(([name, same]) => ({
        name,
        type: same[0]?.type ?? "string",
        hint: [...new Set(same.map(({ eventType }) => eventType))].join(", "),
      }));
    return tab === "sessions" ? [...sessionFields, ...found] : found;
  }, [data, tab]);
}

/** Returns the values of a field in the range of the question that contain a text. */
export function useSuggestions({ tab, from, to }: Question): SuggestValues {
  const projectId = useCurrentProjectId();
  return useCallback(
    async (field, text, signal) => {
      const question: Question = { tab, filters: [], from, ...(to !== undefined && { to }) };
      const contains = { field, operator: "contains" as const, value: text };
      const filters = [...toChartFilters(question), ...(text === "" ? [] : [contains])];
      const answer = await callRpc(
        ChartService.method.queryChart,
        chart(question, filters, {
          kind: "table",
          measures: histogramMeasures.slice(0, 1),
          splitBy: field === "config.model" ? "model" : field,
          splitRanking: { limit: valuesMax, includeOther: false },
        }),
        { projectId, signal },
      );
      return toValueCounts(answer);
    },
    [projectId, tab, from, to],
  );
}

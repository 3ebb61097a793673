// Fields of the project for the filter builder, and the values that a field has.

import { useCallback, useMemo } from "react";
import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { callRpc } from "../../api/transport.ts";
import type { CatalogueField, SuggestValues } from "../../design/filter-editor.tsx";
import { histogramMeasures, toValueCounts } from "./chart-answer.ts";
import { useEventFields } from "./event-fields.ts";
import { type Question, sessionTotals, toChartFilters } from "./question.ts";
import { chart } from "./use-overview.ts";

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
  const found = useEventFields(tab === "sessions" ? isOfSession : undefined);
  return useMemo(() => (tab === "sessions" ? [...sessionFields, ...found] : found), [tab, found]);
}

function isOfSession(name: string, eventTypes: ReadonlySet<string>): boolean {
  return name !== "event_type" && eventTypes.has("session");
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

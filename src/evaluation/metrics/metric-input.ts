// Converts requests about metrics to fields of a definition.

import type {
  CreateMetricRequest,
  MetricThreshold,
  UpdateMetricRequest,
} from "../../../gen/waggle/v1/metric_pb.js";
import { changedLists } from "../../base/changed-list.ts";
import { toFilterInput, toScalar } from "../../tracing/export/filter-message.ts";
import type { DefinitionFields, ThresholdFields } from "./fields.ts";

/**
 * Returns the fields of a request. An empty type and an empty list of categories count as omitted.
 */
export function toDefinitionFields(
  request: CreateMetricRequest | UpdateMetricRequest,
): DefinitionFields {
  const { categories, threshold, filters, passWhen } = request;
  return {
    name: request.name,
    type: request.type || undefined,
    criteria: request.criteria,
    definition: request.definition,
    code_snippet: request.codeSnippet,
    prompt: request.prompt,
    description: request.description,
    return_type: request.returnType,
    enabled_in_prod: request.enabledInProd,
    sampling_percentage: request.samplingPercentage,
    model_provider: request.modelProvider,
    model_name: request.modelName,
    scale: request.scale,
    threshold: threshold && toThresholdFields(threshold),
    categories:
      categories.length === 0
        ? undefined
        : categories.map(({ category, score = null }) => ({ category, score })),
    filters: filters?.filterArray.map(toFilterInput),
    pass_when: passWhen && (toScalar(passWhen) ?? null),
    event_type: request.eventType,
    event_name: request.eventName,
    child_metrics: request.childMetrics,
  };
}

/** Returns the fields of a change. Throws INVALID_ARGUMENT for another name of an emptied list. */
export function toChangedFields(request: UpdateMetricRequest): DefinitionFields {
  const listOf = changedLists(["categories", "child_metrics"], request.emptiedLists);
  const fields = toDefinitionFields(request);
  return { ...fields, categories: listOf("categories", fields.categories ?? []) };
}

/** Returns the fields of an older client's request, whose texts stand side by side. */
export function toOlderFields(
  request: CreateMetricRequest | UpdateMetricRequest,
): DefinitionFields {
  const { criteria, code_snippet, prompt, ...fields } = toDefinitionFields(request);
  return {
    ...fields,
    older_texts: {
      ...(criteria !== undefined && { criteria }),
      ...(code_snippet !== undefined && { code_snippet }),
      ...(prompt !== undefined && { prompt }),
    },
  };
}

function toThresholdFields(threshold: MetricThreshold): ThresholdFields {
  const { min, max, passWhen, passingCategories } = threshold;
  return {
    min,
    max,
    pass_when: passWhen && (toScalar(passWhen) ?? null),
    passing_categories: passingCategories,
  };
}

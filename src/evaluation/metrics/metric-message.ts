// Converts metrics to messages, in the current form and in the older one.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { formatVersion } from "../../base/versions.ts";
import type { OldMetricSchema } from "../../../gen/waggle/compat/v0/metric_pb.js";
import type { MetricSchema, MetricThresholdSchema } from "../../../gen/waggle/v1/metric_pb.js";
import { toFilterMessage } from "../../tracing/export/filter-message.ts";
import type { MetricType, OlderTexts, Threshold } from "./definition.ts";
import { olderFilterOf } from "./event-filters.ts";
import type { Evaluator } from "./metrics.ts";
import { olderNames } from "./older-texts.ts";
import { toValueMessage } from "../../base/value-message.ts";

export function toMetricMessage(evaluator: Evaluator): MessageInitShape<typeof MetricSchema> {
  const { definition, createdAt, updatedAt, disabledReason } = evaluator;
  const { model_provider: modelProvider, model_name: modelName, scale, threshold } = definition;
  return {
    id: evaluator.id,
    name: definition.name,
    type: definition.type,
    criteria: definition.criteria,
    description: definition.description,
    returnType: definition.return_type,
    enabledInProd: definition.enabled_in_prod,
    needsGroundTruth: evaluator.readsGroundTruth,
    samplingPercentage: definition.sampling_percentage,
    ...(modelProvider !== null && { modelProvider }),
    ...(modelName !== null && { modelName }),
    ...(scale !== null && { scale }),
    ...(threshold && { threshold: toThresholdMessage(threshold) }),
    categories: (definition.categories ?? []).map(({ category, score }) => ({
      category,
      ...(score !== null && { score }),
    })),
    filters: { filterArray: definition.filters.filterArray.map(toFilterMessage) },
    createdAt: timestampFromDate(createdAt),
    ...(updatedAt && { updatedAt: timestampFromDate(updatedAt) }),
    version: formatVersion(evaluator.version),
    ...(disabledReason !== null && { disabledReason }),
  };
}

function toThresholdMessage(threshold: Threshold): MessageInitShape<typeof MetricThresholdSchema> {
  const { min, max, pass_when: passWhen, passing_categories: passingCategories } = threshold;
  return {
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(passWhen !== undefined && { passWhen: toValueMessage(passWhen) }),
    ...(passingCategories && { passingCategories: [...passingCategories] }),
  };
}

const oldTypes: Readonly<Record<MetricType, string>> = {
  PYTHON: "custom",
  LLM: "model",
  HUMAN: "human",
};

/** Converts a metric to the older form; older clients call the project's name the task. */
export function toOldMetricMessage(
  { id, definition, readsGroundTruth }: Evaluator,
  projectName: string,
): MessageInitShape<typeof OldMetricSchema> {
  const { type, threshold, filters, model_provider: modelProvider } = definition;
  const eventType = olderFilterOf(filters, "event_type");
  const eventName = olderFilterOf(filters, "event_name");
  const passWhen = threshold?.pass_when;
  const own = { [olderNames[type]]: definition.criteria };
  const texts: OlderTexts = { ...definition.older_texts, ...own };
  const { return_type: returnType, model_name: modelName } = definition;
  return {
    Id: id,
    name: definition.name,
    task: projectName,
    type: oldTypes[type],
    description: definition.description,
    returnType: returnType === "categorical" ? "string" : returnType,
    ...(texts.criteria !== undefined && { criteria: texts.criteria }),
    ...(texts.code_snippet !== undefined && { codeSnippet: texts.code_snippet }),
    ...(texts.prompt !== undefined && { prompt: texts.prompt }),
    enabledInProd: definition.enabled_in_prod,
    needsGroundTruth: readsGroundTruth,
    ...(threshold && { threshold: toThresholdMessage(threshold) }),
    ...(typeof passWhen === "boolean" && { passWhen }),
    ...(eventType !== undefined && { eventType }),
    ...(eventName !== undefined && { eventName }),
    ...(modelProvider !== null && { modelProvider }),
    ...(modelName !== null && { modelName }),
  };
}

// EvaluationService: a message in, a message out, no decisions.

import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ListValueSchema, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { EvaluationSchema, EvaluationService } from "../../../gen/waggle/v1/evaluation_pb.js";
import { actorOf, projectOf } from "../../access/call.ts";
import { toStruct } from "../../base/struct.ts";
import { fromValueMessages } from "../../base/value-message.ts";
import { readingOf } from "../../tracing/export/handlers.ts";
import type { Evaluation, Evaluations } from "./evaluations.ts";

export function evaluationHandlers(
  evaluations: Evaluations,
): ServiceImpl<typeof EvaluationService> {
  return {
    async getEvaluation({ id }, context) {
      const reading = readingOf(context);
      return toMessage(await evaluations.get(projectOf(context), id, reading));
    },
    async createEvaluation(request, context) {
      const { name, description, dataset, prompts, generations, results, summary } = request;
      const { datasetName, accepted, comments, metricsToCompute } = request;
      const change = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
      };
      const metrics = request.metrics.map(({ values }, index) =>
        fromValueMessages(`metrics[${index}]`, values),
      );
      const parts = { dataset, prompts, generations, results, summary, metrics };
      const report = { ...parts, datasetName, accepted, comments, metricsToCompute };
      const project = projectOf(context);
      const id = await evaluations.create(project, change, report, actorOf(context));
      return { id, success: true };
    },
    async reviewEvaluation({ id, accepted, comments }, context) {
      const review = { accepted, comments, actor: actorOf(context) };
      const reading = readingOf(context);
      return toMessage(await evaluations.review(projectOf(context), id, review, reading));
    },
  };
}

function toMessage(evaluation: Evaluation): MessageInitShape<typeof EvaluationSchema> {
  const { run, task, datasetName, accepted, metrics } = evaluation;
  return {
    id: run.runId,
    name: run.name ?? "",
    description: run.description ?? "",
    task,
    user: run.createdBy,
    createdAt: timestampFromDate(run.createdAt),
    datasetName,
    dataset: evaluation.dataset.map(toStruct),
    prompts: evaluation.prompts.map(toStruct),
    generations: evaluation.generations.map(toStruct),
    metrics: metrics.map((list) =>
      fromJson(ListValueSchema, list as Parameters<typeof fromJson<typeof ListValueSchema>>[1]),
    ),
    results: evaluation.results.map(toStruct),
    summary: evaluation.summary.map(toStruct),
    accepted: [...accepted],
    comments: evaluation.comments.map(toStruct),
  };
}

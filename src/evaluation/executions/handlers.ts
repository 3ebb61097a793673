// ExecutionService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ExecutionSchema, ExecutionService } from "../../../gen/waggle/v1/execution_pb.js";
import { actorOf, projectOf } from "../../access/call.ts";
import { toStruct } from "../../base/struct.ts";
import { formatVersion } from "../../base/versions.ts";
import type { Execution, Executions } from "./executions.ts";

export function executionHandlers(executions: Executions): ServiceImpl<typeof ExecutionService> {
  const toAnswer = (execution: Execution) => ({ success: true, data: toMessage(execution) });
  return {
    async executeRun({ runId, ...request }, context) {
      const project = projectOf(context);
      return toAnswer(await executions.start(project, runId, request, actorOf(context)));
    },
    async getExecution({ runId }, context) {
      return toAnswer(await executions.get(projectOf(context), runId));
    },
    async cancelExecution({ runId }, context) {
      return toAnswer(await executions.cancel(projectOf(context), runId, actorOf(context)));
    },
    async resumeExecution({ runId }, context) {
      return toAnswer(await executions.resume(projectOf(context), runId, actorOf(context)));
    },
  };
}

function toMessage(execution: Execution): MessageInitShape<typeof ExecutionSchema> {
  const { counts, datapoints, error, endedAt, createdAt } = execution;
  const { configuration, environment, model, hyperparameters } = execution.model;
  const { id, name, version } = configuration;
  const { done, failed, unpriced, cost } = counts;
  return {
    runId: execution.runId,
    state: execution.state,
    configuration: {
      id,
      name,
      version: formatVersion(version),
      ...(environment !== undefined && { environment }),
    },
    ...(model !== undefined && { model }),
    ...(hyperparameters && { hyperparameters: toStruct(hyperparameters) }),
    datasetId: execution.datasetId,
    datasetVersion: execution.datasetVersion,
    concurrency: execution.concurrency,
    progress: { datapoints, done, failed, left: Math.max(0, datapoints - done - failed), unpriced },
    cost,
    ...(error !== null && { error }),
    createdAt: timestampFromDate(createdAt),
    createdBy: execution.createdBy,
    ...(endedAt && { endedAt: timestampFromDate(endedAt) }),
    workflowId: execution.workflowId,
  };
}

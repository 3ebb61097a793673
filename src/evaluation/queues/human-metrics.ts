// The metrics of a project that people score. Source: docs/queues.md.

import type { ProjectId } from "../../base/ids.ts";
import { allMetrics } from "../metrics/all-metrics.ts";
import type { Evaluator, Metrics } from "../metrics/metrics.ts";

export type HumanMetrics = {
  /** Returns the metrics of type HUMAN that texts name, by their ids or else by their names. */
  find(projectId: ProjectId, named: readonly string[]): Promise<ReadonlyMap<string, Evaluator>>;
  /** Returns the ids, names and return types of all of them, by name. */
  list(projectId: ProjectId): Promise<readonly HumanMetric[]>;
};

export type HumanMetric = Pick<Evaluator, "id"> & {
  readonly name: string;
  readonly returnType: Evaluator["definition"]["return_type"];
};

export function createHumanMetrics(metrics: Pick<Metrics, "list">): HumanMetrics {
  return {
    async find(projectId, named) {
      const [byId, byName] = [new Map<string, Evaluator>(), new Map<string, Evaluator>()];
      for await (const metric of allMetrics(metrics, projectId, "HUMAN")) {
        const { name } = metric.definition;
        if (named.includes(metric.id)) byId.set(metric.id, metric);
        if (named.includes(name)) byName.set(name, metric);
      }
      return new Map([...byName, ...byId]);
    },

    async list(projectId) {
      const found: HumanMetric[] = [];
      for await (const { id, definition } of allMetrics(metrics, projectId, "HUMAN")) {
        found.push({ id, name: definition.name, returnType: definition.return_type });
      }
      return found;
    },
  };
}

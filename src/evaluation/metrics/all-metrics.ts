// Reads all metrics of a project, page by page.

import type { ProjectId } from "../../base/ids.ts";
import type { Evaluator, Metrics } from "./metrics.ts";

/** Yields the metrics of a project, of one type or of all. A page holds some megabytes at most. */
export async function* allMetrics(
  metrics: Pick<Metrics, "list">,
  projectId: ProjectId,
  type?: "HUMAN",
): AsyncGenerator<Evaluator, void> {
  let cursor: string | undefined;
  do {
    const page = await metrics.list(projectId, { ...(type && { type }), cursor });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

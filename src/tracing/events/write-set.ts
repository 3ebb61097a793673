// One request's writes, on their way from record.ts through the commit queue to apply-writes.ts.

import type { ProjectId } from "../../base/ids.ts";
import type { EventWrite } from "./event.ts";

/** One request's writes. */
export type WriteSet = {
  readonly projectId: ProjectId;
  readonly writes: readonly EventWrite[];
  /** `create`: events. `enrich`: updates that may wait. `update`: of what exists. */
  readonly kind: "create" | "enrich" | "update";
  readonly sessionNames: ReadonlyMap<string, string>;
  readonly receivedAtMs: number;
};

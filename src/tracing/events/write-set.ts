// One request's writes, on their way from record.ts through the commit queue to apply-writes.ts.

import type { ProjectId } from "../../base/ids.ts";
import type { EventWrite } from "./event.ts";

/** `create`: whole events. `enrich`: updates that may wait. `update`: updates of what exists. */
export type WriteKind = "create" | "enrich" | "update";

/** One request's writes. */
export type WriteSet = {
  readonly projectId: ProjectId;
  readonly writes: readonly EventWrite[];
  readonly kind: WriteKind;
  readonly sessionNames: ReadonlyMap<string, string>;
  readonly receivedAtMs: number;
};

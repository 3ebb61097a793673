// Who a request comes from, once its key is known. Made by keys/keys.ts, read by every handler.

import type { ProjectId } from "../base/ids.ts";

/** docs/spec.md, Authentication, 2. */
export const keyKinds = ["project", "project_read_only", "ingestion"] as const;
export type KeyKind = (typeof keyKinds)[number];

export type Principal = {
  readonly keyId: string;
  readonly keyKind: KeyKind;
  readonly orgId: string;
  readonly workspaceId: string;
  readonly projectId: ProjectId;
  readonly projectName: string;
};

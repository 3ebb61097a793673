// Every workflow under the name that Temporal uses. Entry of the workflow bundle.

export {
  archiveDataplane,
  archiveOrganization,
  archiveWorkspace,
} from "./archive-scope/workflow.ts";
export { backfill } from "./backfill/workflow.ts";
export { executeRun } from "./execute-run/workflow.ts";
export { evaluateChunk } from "./evaluate-chunk/workflow.ts";
export { archiveProject } from "./archive-project/workflow.ts";
export { revokeKey } from "./revoke-key/workflow.ts";

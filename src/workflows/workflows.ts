// Every workflow under the name that Temporal uses. Entry of the workflow bundle.

export {
  archiveDataplane,
  archiveOrganization,
  archiveWorkspace,
} from "./archive-scope/workflow.ts";
export { applyRetention } from "./apply-retention/workflow.ts";
export { checkRetention } from "./check-retention/workflow.ts";
export { checkAlerts } from "./check-alerts/workflow.ts";
export { deliverNotification } from "./deliver-notification/workflow.ts";
export { evaluateAlert } from "./evaluate-alert/workflow.ts";
export { backfill } from "./backfill/workflow.ts";
export { executeRun } from "./execute-run/workflow.ts";
export { evaluateChunk } from "./evaluate-chunk/workflow.ts";
export { archiveProject } from "./archive-project/workflow.ts";
export { revokeKey } from "./revoke-key/workflow.ts";

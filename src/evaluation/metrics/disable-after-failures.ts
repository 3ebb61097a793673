// Disables a metric after too many failures in a row: counts them as results are committed,
// decides, and records the version that says why. Source: docs/decisions.md, 25.1.

import type { Actor } from "../../base/actor.ts";
import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import { toStorableText } from "../../base/storable-text.ts";
import type { Sql } from "../../postgres/database.ts";
import { changeMetric, type ChangeParts } from "./change.ts";
import * as store from "./failures-store.ts";
import type { FailureCount, FailuresKey } from "./failures-store.ts";

export type { FailureCount, FailuresKey };

/** Returns the failures in a row of an enablement. */
export function getFailures(sql: Sql, key: FailuresKey): Promise<FailureCount> {
  return store.findFailures(sql, key, { isLocked: false });
}

/**
 * Counts results in their order, each a failure's text or null for a score, in the caller's
 * transaction. A count at its bound stays: if the process that disables the metric is interrupted,
 * the next chunk still sees it.
 */
export async function countFailures(
  sql: Sql,
  key: FailuresKey,
  { failures, failuresMax }: { failures: readonly (string | null)[]; failuresMax: number },
): Promise<FailureCount> {
  if (failures.some((failure) => failure !== null)) await store.ensureFailures(sql, key);
  const before = await store.findFailures(sql, key, { isLocked: true });
  let { failuresInRow, lastFailure } = before;
  for (const failure of failures) {
    if (failuresInRow >= failuresMax) break;
    failuresInRow = failure === null ? 0 : failuresInRow + 1;
    lastFailure = failure ?? lastFailure;
  }
  const isSame = failuresInRow === before.failuresInRow && lastFailure === before.lastFailure;
  const count = { failuresInRow, ...(lastFailure !== undefined && { lastFailure }) };
  if (!isSame) await store.setFailures(sql, key, count);
  return count;
}

/** A chunk that counted failures, online or of a backfill. */
export type FailedChunk = FailuresKey & {
  readonly projectId: ProjectId;
  readonly backfillId?: string | undefined;
};

export type DisableParts = {
  readonly metrics: { disable(disabling: Disabling): Promise<boolean> };
  readonly backfills: {
    failOpenOf(projectId: string, evaluatorId: string, error: string): Promise<void>;
  };
  readonly failuresMax: number;
};

/**
 * Disables the metric and fails its backfill if it has failed too often. Returns the reason without
 * the text of the failure, which may contain event data: Temporal must not store that. Undefined
 * also if an online chunk counted failures of a metric that has changed since.
 */
export async function disableAfterFailures(
  { metrics, backfills, failuresMax }: DisableParts,
  { projectId, evaluatorId, enablement, backfillId }: FailedChunk,
  { failuresInRow, lastFailure }: FailureCount,
): Promise<string | undefined> {
  if (failuresInRow < failuresMax) return undefined;
  const reason = `disabled after ${failuresMax} failures in a row`;
  const message = `${reason}: ${lastFailure ?? "unknown"}`;
  const isDisabled = await metrics.disable({ projectId, evaluatorId, enablement, message });
  // Backfills run disabled metrics too.
  if (!isDisabled && backfillId === undefined) return undefined;
  await backfills.failOpenOf(projectId, evaluatorId, message);
  return reason;
}

/** Failures for which to disable a metric. */
export type Disabling = {
  readonly projectId: ProjectId;
  readonly evaluatorId: string;
  /** Enablement in which the failures were counted. */
  readonly enablement: number;
  /** Human-readable: the number of failures, and the last one. */
  readonly message: string;
};

const reasonCharactersMax = 1_000;

/** Actor that disables metrics for their failures. */
const evaluation: Actor = { type: "system", id: "evaluation", name: "evaluation" };

/** Returns false if the metric was already disabled, redeployed or deleted. */
export async function disableMetric(
  parts: ChangeParts,
  { projectId, evaluatorId, enablement, message: given }: Disabling,
): Promise<boolean> {
  const whose = { project: { projectId }, id: evaluatorId, actor: evaluation };
  const message = toStorableText(given.slice(0, reasonCharactersMax));
  try {
    const version = await changeMetric(parts, whose, async (before) => {
      const { definition, readsGroundTruth } = before;
      if (!definition.enabled_in_prod || before.enablement !== enablement) return undefined;
      return {
        action: "evaluator.disable",
        message,
        readsGroundTruth,
        definition: { ...definition, enabled_in_prod: false },
        // The count of the failures that caused the disabling is kept.
        deploy: { isFresh: false, disabledReason: message },
      };
    });
    return version !== undefined;
  } catch (error) {
    // Deleted, or archived with its project: there is nothing to disable.
    if (error instanceof ServiceError && error.reason === "NOT_FOUND") return false;
    throw error;
  }
}

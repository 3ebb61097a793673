// What operators look for workflows by in Temporal. Imported by workflows too, so it does nothing
// by itself.

import { defineSearchAttributeKey } from "@temporalio/common";
import type { SearchAttributePair } from "@temporalio/common";
import type { OutboxEntry } from "../outbox/entry.ts";

const organizationKey = defineSearchAttributeKey("WaggleOrganization", "KEYWORD");
export const scopeKey = defineSearchAttributeKey("WaggleScope", "KEYWORD");
const actorKey = defineSearchAttributeKey("WaggleActor", "KEYWORD");
const evaluatorKey = defineSearchAttributeKey("WaggleEvaluator", "KEYWORD");

/** A Temporal that lists workflows by way of a SQL database cannot list one with a longer value. */
const keywordCharactersMax = 255;

export const searchAttributeNames = [
  organizationKey.name,
  scopeKey.name,
  actorKey.name,
  evaluatorKey.name,
];

/**
 * Returns the attributes of a workflow that works for an organization, on a scope of it, and, where
 * its input names one, for an evaluator.
 */
export function searchAttributesOf(
  about: Pick<OutboxEntry, "orgId" | "scopeId" | "actor" | "input">,
): SearchAttributePair[] {
  const { evaluatorId } = about.input as { readonly evaluatorId?: string };
  return [
    { key: organizationKey, value: about.orgId },
    { key: scopeKey, value: about.scopeId },
    { key: actorKey, value: about.actor.slice(0, keywordCharactersMax) },
    ...(evaluatorId === undefined ? [] : [{ key: evaluatorKey, value: evaluatorId }]),
  ];
}

// Search attributes with which operators find workflows in Temporal. Without side effects, because
// workflows import this file.

import { defineSearchAttributeKey, type SearchAttributePair } from "@temporalio/common";
import type { OutboxEntry } from "../outbox/entry.ts";

const organizationKey = defineSearchAttributeKey("WaggleOrganization", "KEYWORD");
export const scopeKey = defineSearchAttributeKey("WaggleScope", "KEYWORD");
const actorKey = defineSearchAttributeKey("WaggleActor", "KEYWORD");
const evaluatorKey = defineSearchAttributeKey("WaggleEvaluator", "KEYWORD");

/** Maximum length of a value: a Temporal server on a SQL database cannot store a longer one. */
const keywordCharactersMax = 255;

export const searchAttributeNames = [
  organizationKey.name,
  scopeKey.name,
  actorKey.name,
  evaluatorKey.name,
];

/**
 * Returns the search attributes of a workflow: its organization, scope, actor, and its evaluator if
 * the input names one.
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

// What Temporal's screens say about a workflow: a line in the list, names beside the ids. Imported
// by workflows and by client.ts, so it does nothing by itself.

import type { ArchiveInput, RevokeKeyInput, WorkflowType } from "../outbox/entry.ts";

export type Description = {
  readonly staticSummary: string;
  readonly staticDetails: string;
  readonly memo: Readonly<Record<string, string>>;
};

const levelNames = {
  org: "organization",
  dataplane: "data plane",
  workspace: "workspace",
  project: "project",
} as const;

export function describeWork(type: WorkflowType, input: unknown): Description {
  // Written by outbox.ts, which ties the one to the other.
  return type === "revokeKey"
    ? describeRevocation(input as RevokeKeyInput)
    : describeArchive(input as ArchiveInput);
}

export function describeArchive({ level, id, name, orgId, actor }: ArchiveInput): Description {
  const what = levelNames[level];
  return {
    staticSummary: `archive ${what} ${name}`.slice(0, summaryCharactersMax),
    staticDetails: [
      `Archives what is inside ${what} ${id}, which ${actor.type} ${actor.id} has archived.`,
      "Access ended with the request. Safe to terminate and to start again at any time.",
    ].join("\n"),
    memo: { level, name, organization: orgId, actor: `${actor.type} ${actor.name}` },
  };
}

/** What Temporal accepts, in bytes of UTF-8, is four times this. */
const summaryCharactersMax = 100;

function describeRevocation({ keyId, orgId, scopeId, actor }: RevokeKeyInput): Description {
  return {
    staticSummary: `follow the revocation of key ${keyId}`,
    staticDetails: [
      `Key ${keyId} is revoked. Waits until every server has said that it has forgotten the key,`,
      "and writes down when the last one did.",
    ].join("\n"),
    memo: { key: keyId, organization: orgId, scope: scopeId, actor },
  };
}

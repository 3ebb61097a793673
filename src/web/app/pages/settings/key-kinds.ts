// The kinds of API keys as one table: where each may be, what it is for, and its rpcs.

import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import {
  type ApiKeyResponseSchema,
  ApiKeyService,
  type CreateApiKeyResponseSchema,
  type ListApiKeysResponseSchema,
} from "../../../../../gen/waggle/v1/api_key_pb.js";
import type { Level, ScopeRef } from "../../api/scope.ts";

type Input = MessageInitShape<DescMessage>;

export type KeyKind = {
  readonly name: "ingestion" | "project" | "project_read_only" | "data_plane" | "control_plane";
  readonly title: string;
  /** Purpose of keys of this kind. */
  readonly purpose: string;
  readonly levels: readonly Level[];
  /** Whether it carries permissions of its own and ends at a time. */
  readonly isFineGrained: boolean;
  readonly create: DescMethodUnary<DescMessage, typeof CreateApiKeyResponseSchema>;
  readonly list: DescMethodUnary<DescMessage, typeof ListApiKeysResponseSchema>;
  readonly revoke: DescMethodUnary<DescMessage, typeof ApiKeyResponseSchema>;
};

const { method } = ApiKeyService;

const keyKinds: readonly KeyKind[] = [
  {
    name: "project",
    title: "Project",
    purpose: "Reads and writes everything in the project.",
    levels: ["project"],
    isFineGrained: false,
    create: method.createProjectApiKey,
    list: method.listProjectApiKeys,
    revoke: method.revokeProjectApiKey,
  },
  {
    name: "project_read_only",
    title: "Read-only",
    purpose: "Reads everything in the project and never writes.",
    levels: ["project"],
    isFineGrained: false,
    create: method.createReadOnlyProjectApiKey,
    list: method.listReadOnlyProjectApiKeys,
    revoke: method.revokeReadOnlyProjectApiKey,
  },
  {
    name: "ingestion",
    title: "Ingestion",
    purpose: "Logs traces and never reads: safe in an app that others run.",
    levels: ["project"],
    isFineGrained: false,
    create: method.createIngestionApiKey,
    list: method.listIngestionApiKeys,
    revoke: method.revokeIngestionApiKey,
  },
  {
    name: "data_plane",
    title: "Fine-grained",
    purpose:
      "Works with charts, alerts, datasets and experiments, with the permissions that you pick, " +
      "until the day that you set. It neither logs nor reads traces.",
    levels: ["project", "workspace", "org"],
    isFineGrained: true,
    create: method.createDataPlaneApiKey,
    list: method.listDataPlaneApiKeys,
    revoke: method.revokeDataPlaneApiKey,
  },
  {
    name: "control_plane",
    title: "Control plane",
    purpose: "Manages scopes, members and settings, with the permissions that you pick.",
    levels: ["workspace", "org"],
    isFineGrained: true,
    create: method.createControlPlaneApiKey,
    list: method.listControlPlaneApiKeys,
    revoke: method.revokeControlPlaneApiKey,
  },
];

/** Returns the kinds of keys that a scope of a level may have. */
export function keyKindsAt(level: Level): readonly KeyKind[] {
  return keyKinds.filter(({ levels }) => levels.includes(level));
}

/** Returns the part of every request about keys that says where they are. */
function rootOf({ isFineGrained }: KeyKind, { level, id }: ScopeRef): object {
  if (!isFineGrained) return { projectId: id };
  const names = { project: "projectId", workspace: "workspaceId", org: "orgId", dataplane: "" };
  return { root: { case: names[level], value: id } };
}

/** The table holds rpcs of several inputs, which TypeScript cannot tell apart by the kind. */
export function keyInput(kind: KeyKind, scope: ScopeRef, fields: object): Input {
  return { ...rootOf(kind, scope), ...fields };
}

// Whose an Idempotency-Key is, and where its answer is kept. Source: docs/decisions.md, 8.1.

import { create } from "@bufbuild/protobuf";
import { createContextValues, type UnaryRequest } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { CreateEventRequestSchema, EventService } from "../../../gen/waggle/v1/event_pb.js";
import {
  CreateWorkspaceRequestSchema,
  WorkspaceService,
} from "../../../gen/waggle/v1/workspace_pb.js";
import type { Claim } from "../../../src/access/idempotency/store.ts";
import type { Principal } from "../../../src/access/principal.ts";
import type { Scope } from "../../../src/access/scope.ts";
import { createUuid } from "../../../src/base/ids.ts";
import { principalKey, scopeKey } from "../../../src/access/call.ts";
import { createIdempotencyInterceptor } from "../../../src/transport/interceptors/idempotency.ts";

const person: Principal = {
  kind: "user",
  actor: { type: "user", id: createUuid(), name: "ada@example.com" },
  email: "ada@example.com",
  grants: [],
  expiresAtMs: Number.POSITIVE_INFINITY,
};

const stop = new Error("kept");

/** Runs a call up to the place where its answer would be kept. */
async function claimOf(
  call: Pick<UnaryRequest, "method" | "message">,
  scope: Scope,
): Promise<{ scopeId: string; isProjectData: boolean | undefined }> {
  let claim: Claim | undefined;
  let isProjectData: boolean | undefined;
  const interceptor = createIdempotencyInterceptor({
    idempotencyOf: (_scope, isData) => {
      isProjectData = isData;
      const refuse = (given: Claim): Promise<never> => {
        claim = given;
        return Promise.reject(stop);
      };
      return { run: refuse, runLong: refuse };
    },
    generationTimeoutMs: 1_000,
  });
  const values = createContextValues().set(principalKey, person).set(scopeKey, scope);
  const request = {
    ...call,
    stream: false,
    header: new Headers({ "idempotency-key": "k" }),
    contextValues: values,
  } as UnaryRequest;
  await expect(interceptor(() => Promise.reject(stop))(request)).rejects.toBe(stop);
  return { scopeId: claim?.scopeId ?? "", isProjectData };
}

function aScope(level: "project" | "dataplane"): Scope {
  return { level, id: createUuid(), name: "x" };
}

test("a person's key on project data is the project's, one for each", async () => {
  const call = {
    method: EventService.method.createEvent,
    message: create(CreateEventRequestSchema),
  };
  const [one, other] = [aScope("project"), aScope("project")];

  expect(await claimOf(call, one)).toEqual({ scopeId: one.id, isProjectData: true });
  expect(await claimOf(call, other)).toEqual({ scopeId: other.id, isProjectData: true });
});

test("a person's key on the control plane is the person's", async () => {
  const message = create(CreateWorkspaceRequestSchema);
  const call = { method: WorkspaceService.method.createWorkspace, message };

  expect(await claimOf(call, aScope("dataplane"))).toEqual({
    scopeId: person.actor.id,
    isProjectData: false,
  });
});

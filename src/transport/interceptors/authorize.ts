// Checks whether the caller has the permission of the rpc in the scope of the call. Runs behind the
// decoders of all protocols, because the message may name the scope.
// Source: docs/spec.md, Authentication, 5; docs/decisions.md, 1, 33, 35.

import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import type { Authenticator } from "../../access/authenticate.ts";
import { isAllowed } from "../../access/authorize.ts";
import type { Principal } from "../../access/principal.ts";
import { type Scope, type ScopeLevel, systemScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { type AccessRule, accessRuleOf } from "../access-rules.ts";
import {
  credentialsKey,
  isScopeGoneKey,
  pathProjectKey,
  principalKey,
  scopeKey,
} from "../../access/call.ts";
import { idempotencyHeader } from "./idempotency.ts";

export type FindScope = (level: ScopeLevel, id: string) => Promise<Scope | undefined>;

/** Header that names the project of the call of a person or of a fine-grained key. */
const projectHeader = "x-project-id";

/** Levels of the request fields that hold the id of a scope. */
const fieldLevels: Readonly<Record<string, ScopeLevel>> = {
  org_id: "org",
  virtual_dataplane_id: "dataplane",
  workspace_id: "workspace",
  project_id: "project",
};

/** Placeholder for the level of the scope at the beginning of a permission. */
const anyLevel = "{scope}";

const checkIntervalMs = 1_000;

export type AuthorizeOptions = {
  readonly authenticate: Authenticator;
  readonly findScope: FindScope;
  /** Finds archived scopes too. */
  readonly findAnyScope: FindScope;
};

type Request = Parameters<ReturnType<Interceptor>>[0];

export function createAuthorizeInterceptor(options: AuthorizeOptions): Interceptor {
  return (next) => async (request) => {
    const { method, contextValues } = request;
    const rule = accessRuleOf(method);
    if (rule.keyKinds === undefined || rule.scope === "any") return next(request);
    const principal = contextValues.get(principalKey);
    if (!principal) throw new Error("the gate let a call without a caller pass");
    let scope = await findScopeOf(rule, principal, request, options.findScope);
    if (!scope && request.header.has(idempotencyHeader)) {
      // This may be a retry of the call that archived the scope, which may get only its kept
      // answer.
      scope = await findScopeOf(rule, principal, request, options.findAnyScope);
      contextValues.set(isScopeGoneKey, true);
    }
    assertAllowed(rule, principal, scope);
    contextValues.set(scopeKey, scope);
    const answer = await next(request);
    if (!answer.stream || !isRead(rule)) return answer;
    const check = async (): Promise<void> => {
      const credentials = contextValues.get(credentialsKey);
      const caller = credentials ? await options.authenticate(credentials) : principal;
      assertAllowed(rule, caller, await findScopeOf(rule, caller, request, options.findScope));
    };
    return { ...answer, message: whileAllowed(answer.message, check) };
  };
}

function assertAllowed(
  { permission, keyKinds }: AccessRule,
  principal: Principal,
  scope: Scope | undefined,
): asserts scope is Scope {
  if (scope && keyKinds) {
    const demand = { permission: permission.replace(anyLevel, scope.level), keyKinds };
    if (isAllowed(principal, demand, scope)) return;
  }
  throw new ServiceError("NOT_FOUND", `denied ${permission}`);
}

/** Returns whether an rpc only reads stored data. A stream of any other rpc runs to its end. */
function isRead({ permission }: AccessRule): boolean {
  return permission.endsWith(".get") || permission.endsWith(".list");
}

/**
 * Yields messages and checks once a second that the caller still may have them: a slow client reads
 * a stream for hours after its key has ended.
 */
async function* whileAllowed<T>(
  messages: AsyncIterable<T>,
  check: () => Promise<void>,
): AsyncGenerator<T, void, undefined> {
  let checkedAtMs = performance.now();
  for await (const message of messages) {
    if (performance.now() - checkedAtMs >= checkIntervalMs) {
      await check();
      checkedAtMs = performance.now();
    }
    yield message;
  }
}

async function findScopeOf(
  rule: AccessRule,
  principal: Principal,
  { header, contextValues, stream, method, message }: Request,
  find: FindScope,
): Promise<Scope | undefined> {
  if (rule.scope === "") {
    const named = {
      byPath: contextValues.get(pathProjectKey),
      byHeader: header.get(projectHeader),
    };
    return projectOfCall(principal, named, find);
  }
  return scopeOfMessage(rule.scope, stream ? undefined : { schema: method.input, message }, find);
}

async function projectOfCall(
  principal: Principal,
  { byPath, byHeader }: { readonly byPath: string | undefined; readonly byHeader: string | null },
  findScope: FindScope,
): Promise<Scope | undefined> {
  const id = byPath ?? byHeader;
  if (principal.kind === "data_plane" || principal.kind === "control_plane") {
    return id === null ? undefined : findScope("project", id);
  }
  if (principal.kind !== "user") {
    return byPath === undefined || byPath === principal.root.id ? principal.root : undefined;
  }
  return findScope("project", id ?? refuse(projectHeader, "must name the project by its id"));
}

type NamingMessage = { readonly schema: DescMessage; readonly message: Message };

async function scopeOfMessage(
  name: string,
  naming: NamingMessage | undefined,
  findScope: FindScope,
): Promise<Scope | undefined> {
  if (name === "system") return systemScope;
  // Start-up refuses streams that would get here.
  if (!naming) throw new Error("a stream names no scope");
  const named = readScopeField(name, naming);
  return named && findScope(named.level, named.id);
}

/** Returns the level and id in a field, or in the set member of a oneof. */
function readScopeField(
  name: string,
  { schema, message }: NamingMessage,
): { readonly level: ScopeLevel; readonly id: string } | undefined {
  const values = message as Message & Readonly<Record<string, unknown>>;
  const field = schema.fields.find((candidate) => candidate.name === name);
  if (field) {
    const level = fieldLevels[name];
    const id = values[field.localName];
    return level && typeof id === "string" ? { level, id } : undefined;
  }
  const oneof = schema.oneofs.find((candidate) => candidate.name === name);
  const set = oneof && (values[oneof.localName] as { case?: string; value?: unknown });
  const setField = oneof?.fields.find(({ localName }) => localName === set?.case);
  const level = fieldLevels[setField?.name ?? ""];
  return level && typeof set?.value === "string" ? { level, id: set.value } : undefined;
}

/**
 * Returns the permissions that an rpc may require: one for each level that its request can name.
 */
export function permissionsOf(method: DescMethod): readonly string[] {
  const { permission, scope } = accessRuleOf(method);
  if (!permission.includes(anyLevel)) return permission === "" ? [] : [permission];
  const fields = method.input.oneofs.find(({ name }) => name === scope)?.fields ?? [];
  return fields.map(({ name }) => permission.replace(anyLevel, fieldLevels[name] ?? ""));
}

/** Throws if the rule of an rpc names a scope that its request cannot carry. */
export function assertScopeIsReadable(method: DescMethod): void {
  const { scope } = accessRuleOf(method);
  if (["", "any", "system"].includes(scope)) return;
  const { fields, oneofs } = method.input;
  const named = [
    ...fields.filter(({ name }) => name === scope),
    ...oneofs.filter(({ name }) => name === scope).flatMap((oneof) => oneof.fields),
  ];
  const isReadable =
    method.methodKind === "unary" &&
    named.length > 0 &&
    named.every(({ name }) => Object.hasOwn(fieldLevels, name));
  if (!isReadable) throw new Error(`${method.toString()}: its scope ${scope} cannot be read`);
}

// Sends generated attacks to a service and returns the faults in its answers.
// Source: issue 12, "Prove".

import type { DescMethod } from "@bufbuild/protobuf";
import { bindingsOf } from "../../../../src/transport/rest/http-rule.ts";
import { type Answer, type Call, compressOnce, openAttackClient, protocols } from "../protocols.ts";
import type { AttackedService, AttackTenant } from "../service.ts";
import { type Attack, type KeyName, methodOf } from "./attacks.ts";
import { forms } from "./form.ts";
import { encodeChat, type Enlargement, isHttpBody } from "./any-value.ts";
import { encodeMessage, type Plan } from "./message.ts";

/** Maximum bytes of all copies of one round on the wire. */
const wireBytesMax = 96_000_000;

/** Maximum bytes of a query, so that path and header lines stay within Node's limit. */
const queryBytesMax = 12_000;

/** Time-out of a health watch, which is endless. */
const watchTimeoutMs = 1_000;

/** Sends an attack; returns the distinct faults in its answers. */
export async function send(service: AttackedService, attack: Attack): Promise<readonly string[]> {
  const call = callOf(service, attack);
  const { length } = await compressOnce(attack.encoding, call.body);
  const copies = Math.max(1, Math.min(attack.copies, Math.floor(wireBytesMax / length)));
  const faults = new Set<string>();
  for (let round = 0; round < attack.rounds; round += 1) {
    const client = openAttackClient(service.url);
    const answers = await Promise.all(Array.from({ length: copies }, () => client.call(call)));
    client.close();
    for (const answer of answers) {
      const fault = faultOf(answer, attack);
      if (fault !== undefined) faults.add(fault);
    }
  }
  return [...faults];
}

/** gRPC codes for faults of the service: Unknown, Internal, DataLoss. */
const faultCodes: ReadonlySet<number | undefined> = new Set([2, 13, 15]);

const refusedStream = /NGHTTP2_(ENHANCE_YOUR_CALM|REFUSED_STREAM)/;

/** Reasons of errors of model providers, which do not count as faults. */
const othersReasons = /^PROVIDER_/;

function faultOf(answer: Answer, { rpc }: Attack): string | undefined {
  const { status, code, reason, retryAfter, failure, message } = answer;
  const isEndless = rpc === "grpc.health.v1.Health.Watch" && failure === "no answer in time";
  if (isEndless || othersReasons.test(reason)) return undefined;
  const isLater = (status === 503 || code === 14) && retryAfter === "1";
  // Node refuses a stream of a connection that holds too much memory already.
  if (status === 0 && refusedStream.test(failure)) return undefined;
  const isGood = status >= 200 && status < 500 && !faultCodes.has(code) && code !== 14;
  if (isGood && failure === "") return undefined;
  if (isLater) return undefined;
  return JSON.stringify({
    status,
    code,
    reason,
    retryAfter,
    failure,
    message: message.slice(0, 200),
  });
}

/** Returns the call of an attack, with the ids of the attacker's own scopes in its body. */
function callOf({ attacker }: AttackedService, attack: Attack): Call {
  const method = methodOf(attack);
  const form = forms[protocols[attack.protocol].codec];
  const plan: Plan = { form, isFilled: attack.isFilled, known: knownValues(attacker, method) };
  const { enlargements } = attack;
  const rest = attack.rest === "" ? "" : restOf(attack, plan);
  return {
    protocol: attack.protocol,
    method,
    rest,
    body: bodyOf(method, attack, plan, enlargements),
    encoding: attack.encoding,
    key: keyOf(attacker, attack.key),
    ...(attack.rpc === "grpc.health.v1.Health.Watch" ? { timeoutMs: watchTimeoutMs } : {}),
  };
}

function keyOf(tenant: AttackTenant, name: KeyName): string | undefined {
  return name === "none" ? undefined : tenant[`${name}Key`];
}

function bodyOf(
  method: DescMethod,
  { rest }: Attack,
  plan: Plan,
  enlargements: readonly Enlargement[],
): Buffer {
  const binding = bindingsOf(method).find(
    ({ httpMethod, path }) => `${httpMethod} ${path}` === rest,
  );
  if (!binding?.body || binding.body === "message") {
    return encodeMessage(method.input, enlargements, plan);
  }
  const { name, message } = binding.body;
  if (message && isHttpBody(message)) return encodeChat(enlargements[0]);
  if (!message) return encodeMessage(method.input, enlargements, plan);
  const prefix = `${name}.`;
  const inner = enlargements.map((one) => ({
    ...one,
    path: one.path.startsWith(prefix) ? one.path.slice(prefix.length) : "",
  }));
  return encodeMessage(message, inner, plan);
}

/** Returns HTTP method and path; forms without a body have the enlarged field in the query. */
function restOf({ rest, enlargements }: Attack, { known }: Plan): string {
  const [httpMethod = "", template = ""] = rest.split(" ");
  const path = template.replace(/\{([^}=]+)[^}]*\}/g, (_, name: string) =>
    encodeURIComponent(String(known[name.split(".").at(-1) ?? ""] ?? "a")),
  );
  const [first] = enlargements;
  if ((httpMethod !== "GET" && httpMethod !== "DELETE") || !first?.path)
    return `${httpMethod} ${path}`;
  const bytes = Math.min(first.bytes, queryBytesMax);
  const query =
    first.operation === "enlarge"
      ? `${first.path}=${"x".repeat(bytes)}`
      : `${first.path}=1&`.repeat(Math.ceil(bytes / (first.path.length + 3)));
  return `${httpMethod} ${path}?${query.slice(0, queryBytesMax)}`;
}

const absentId = "00000000-0000-4000-8000-000000000000";

/** Calls that would delete the attacker's own scopes and keys and so end the run early. */
const destructive = /^(Archive|Revoke|Remove|Delete(?!Event|Session)|UpdateApiKeyPolicy)/;

function knownValues({ project }: AttackTenant, { name }: DescMethod): Plan["known"] {
  const isDestructive = destructive.test(name);
  const idOf = (id: string): string => (isDestructive ? absentId : id);
  return {
    event_type: "tool",
    event_id: "generated-event",
    session_id: "generated-session",
    parent_id: "generated-session",
    org_id: idOf(project.orgId),
    virtual_dataplane_id: idOf(project.dataplaneId),
    workspace_id: idOf(project.workspaceId),
    project_id: idOf(project.projectId),
    project_name: project.projectName,
    project: project.projectName,
    start_time: 1_767_225_600_000,
    end_time: 1_767_225_601_000,
    gte: 0,
    lte: 4_000_000_000_000,
    field: "event_type",
    operator: "is",
    type: "PYTHON",
    view: "skeleton",
    limit: 1_000,
    page: 1,
    provider: "openai",
    role: "admin",
    return_type: "float",
    code_snippet: "result = 1",
    criteria: "result = 1",
    email: "someone@example.com",
  };
}

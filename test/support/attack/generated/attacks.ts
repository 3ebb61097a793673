// Arbitrary attacks on the contract: any call over any protocol, with enlarged fields, compressed,
// with any key, several at once. An attack is plain JSON, so that a found one can be repeated
// exactly. Source: issue 12, "Prove".

import type { DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import fc from "fast-check";
import { Health } from "../../../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../../../gen/grpc/reflection/v1/reflection_pb.js";
import * as alpha from "../../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { LogsService } from "../../../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { TraceService } from "../../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { bodyBytesMaxDefault } from "../../../../src/base/limits.ts";
import {
  accessRuleOf,
  bodyClassAt,
  rpcBodyClassOf,
} from "../../../../src/transport/access-rules.ts";
import { bindingsOf } from "../../../../src/transport/rest/http-rule.ts";
import { rpcs } from "../../contract.ts";
import { type Encoding, encodings } from "../bytes.ts";
import { type ProtocolName, rpcProtocols } from "../protocols.ts";
import { type Enlargement, hasPaths, operations } from "./any-value.ts";

const keyNames = ["none", "ingestion", "readOnly", "project", "dataPlane", "controlPlane"] as const;

export type KeyName = (typeof keyNames)[number];

export type Attack = {
  /** Full name of the rpc. */
  readonly rpc: string;
  readonly protocol: ProtocolName;
  /** HTTP method and path template of the REST form; empty for other protocols. */
  readonly rest: string;
  readonly encoding: Encoding;
  readonly key: KeyName;
  readonly isFilled: boolean;
  /** Number of simultaneous calls. */
  readonly copies: number;
  /** Number of times that the copies are sent, one after another. */
  readonly rounds: number;
  readonly enlargements: readonly Enlargement[];
};

const services: readonly DescService[] = [
  Health,
  TraceService,
  LogsService,
  ServerReflection,
  // Older clients call it.
  // oxlint-disable-next-line typescript/no-deprecated
  alpha.ServerReflection,
];

/** Every rpc of the service. */
const methods: readonly DescMethod[] = [...rpcs, ...services.flatMap((one) => one.methods)];

const byName = new Map(methods.map((method) => [nameOf(method), method] as const));

function nameOf({ parent, name }: DescMethod): string {
  return `${parent.typeName}.${name}`;
}

export function methodOf({ rpc }: Attack): DescMethod {
  const method = byName.get(rpc);
  if (!method) throw new Error(`no rpc is named ${rpc}`);
  return method;
}

type Target = Pick<Attack, "rpc" | "protocol" | "rest"> & {
  readonly input: DescMessage;
  readonly bytesMax: number;
  readonly keys: readonly KeyName[];
};

const keyNamesByKind = {
  project: "project",
  project_read_only: "readOnly",
  ingestion: "ingestion",
  data_plane: "dataPlane",
  control_plane: "controlPlane",
} as const;

function targetsOf(method: DescMethod): readonly Target[] {
  const { keyKinds } = accessRuleOf(method);
  const base = {
    rpc: nameOf(method),
    input: method.input,
    keys: keyKinds ? [...keyKinds].map((kind) => keyNamesByKind[kind]) : (["none"] as const),
  };
  const ofRpc = { ...base, rest: "", bytesMax: bodyBytesMaxDefault[rpcBodyClassOf(method)] };
  const isBidi = method.methodKind === "bidi_streaming";
  // HTTP/1.1 has no bidirectional streams.
  const overRpc = rpcProtocols.filter(
    (name) => !isBidi || (name !== "Connect JSON" && name !== "gRPC-Web"),
  );
  const overRest = bindingsOf(method).flatMap(({ httpMethod, path }) =>
    (["REST over HTTP/1.1", "REST over HTTP/2"] as const).map((protocol) => ({
      ...base,
      protocol,
      rest: `${httpMethod} ${path}`,
      bytesMax: bodyBytesMaxDefault[bodyClassAt(method, path)],
    })),
  );
  const isOtlp = method.parent === TraceService || method.parent === LogsService;
  const overOtlp = isOtlp ? (["OTLP/HTTP JSON", "OTLP/HTTP Protobuf"] as const) : [];
  return [...[...overRpc, ...overOtlp].map((protocol) => ({ ...ofRpc, protocol })), ...overRest];
}

/** Returns the paths of all fields, except those of a message nested in itself more than once. */
function pathsOf(desc: DescMessage, around: readonly DescMessage[] = []): readonly string[] {
  return desc.fields.flatMap((field) => {
    const { message, name } = field;
    if (!message || !hasPaths(message)) return [name];
    const times = around.filter((one) => one === message).length;
    if (times > 1) return [];
    const inner = pathsOf(message, [...around, message]).map((path) => `${name}.${path}`);
    return [name, ...inner];
  });
}

const enlargementsMax = 3;
const copiesMax = 40;
const roundsMax = 3;

/** Maximum body of all classes, up to which some bodies of every call are made. */
const anyBytesMax = bodyBytesMaxDefault.batch;

/** Sizes with evenly spread logarithms, up to a little above the maximum. */
function sizes(bytesMax: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: 1_010 }).map((part) => Math.ceil(bytesMax ** (part / 1_000)));
}

function enlargements(input: DescMessage, bytesMax: number) {
  const paths = pathsOf(input);
  return fc.record({
    // The whole message is as likely as any single path.
    path: fc.constantFrom("", ...paths),
    operation: fc.constantFrom(...operations),
    bytes: sizes(bytesMax),
    variant: fc.nat(11),
    around: fc.constantFrom(1, 1, 10, 1_000, 50_000),
  });
}

function attacksOn(method: DescMethod): fc.Arbitrary<Attack> {
  return fc
    .record({
      target: fc.constantFrom(...targetsOf(method)),
      isBeyond: fc.nat(3).map((one) => one === 0),
    })
    .chain(({ target: { rpc, protocol, rest, input, bytesMax, keys }, isBeyond }) =>
      fc.record({
        rpc: fc.constant(rpc),
        protocol: fc.constant(protocol),
        rest: fc.constant(rest),
        encoding: fc.constantFrom(...encodings),
        key: fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...keys) },
          { weight: 1, arbitrary: fc.constantFrom(...keyNames) },
        ),
        isFilled: fc.boolean(),
        copies: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: copiesMax })),
        rounds: fc.oneof(
          { weight: 3, arbitrary: fc.constant(1) },
          { weight: 1, arbitrary: fc.integer({ min: 2, max: roundsMax }) },
        ),
        enlargements: fc.array(enlargements(input, isBeyond ? anyBytesMax : bytesMax), {
          minLength: 1,
          maxLength: enlargementsMax,
        }),
      }),
    );
}

/** Calls that take large bodies or need no key. */
const heavyMethods = methods.filter((method) => {
  const { bodyClass, batchPaths } = accessRuleOf(method);
  return bodyClass !== "other" || batchPaths.length > 0;
});

/** Any attack; half of them are on the heavy calls. */
export const attacks: fc.Arbitrary<Attack> = fc
  .oneof(fc.constantFrom(...methods), fc.constantFrom(...heavyMethods))
  .chain(attacksOn);

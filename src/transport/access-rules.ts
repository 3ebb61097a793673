// The access rule of each rpc: callers and body size. Read from the `(waggle.v1.access)` option of
// our protos and, for third-party services, from the table below.
// Source: docs/decisions.md, 35, 36.1.

import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { access, BodyClass, KeyKind as ProtoKeyKind } from "../../gen/waggle/v1/options_pb.js";
import type { KeyKind, Principal } from "../access/principal.ts";
import { isKindAllowed } from "../access/authorize.ts";
import { ServiceError } from "../base/errors.ts";
import type { bodyBytesMaxDefault } from "../base/limits.ts";

export type BodyClassName = keyof typeof bodyBytesMaxDefault;

/** Maximum bytes of a body of each class, after inflating. */
export type BodyLimits = { readonly [Name in BodyClassName]: number };

export type AccessRule = {
  /** Dotted permission; empty on open services. */
  readonly permission: string;
  /** Key kinds that may hold the permission; undefined if the rpc needs no caller. */
  readonly keyKinds: ReadonlySet<KeyKind> | undefined;
  /** Class of REST bodies, except on the batch paths. */
  readonly bodyClass: BodyClassName;
  readonly isIngestion: boolean;
  readonly batchPaths: readonly string[];
  /** Same meaning as `scope` of the option. */
  readonly scope: string;
  readonly isSecretAnswer: boolean;
  /** Whether the rpc is denied if data planes are assigned automatically. */
  readonly isManualOnly: boolean;
  /**
   * Whether the rpc runs a model: it may exceed the deadline of other calls, and no transaction is
   * open meanwhile.
   */
  readonly isGeneration: boolean;
  /** Whether the rpc is about the key's project but changes the control database. */
  readonly isControlData: boolean;
  /** Whether an rpc that needs no caller still knows a person who is signed in. */
  readonly knowsPeople: boolean;
};

const bare = {
  batchPaths: [],
  scope: "",
  isSecretAnswer: false,
  isManualOnly: false,
  isGeneration: false,
  isControlData: false,
  knowsPeople: false,
};

/** Rule of services that reveal nothing of any tenant and that tools call without a key. */
const open: AccessRule = {
  ...bare,
  permission: "",
  keyKinds: undefined,
  bodyClass: "open",
  isIngestion: false,
};

/** Rule of OTLP: what a trace is sent with may be sent with the same key. */
const otlp: AccessRule = {
  ...bare,
  permission: "project.trace.export",
  keyKinds: new Set(["project", "ingestion"]),
  bodyClass: "traces",
  isIngestion: true,
};

/** Rules of third-party services, whose protos are unchanged copies without our option. */
const thirdPartyRules: Readonly<Record<string, AccessRule>> = {
  "opentelemetry.proto.collector.trace.v1.TraceService": otlp,
  "opentelemetry.proto.collector.logs.v1.LogsService": otlp,
  "grpc.health.v1.Health": open,
  "grpc.reflection.v1.ServerReflection": open,
  "grpc.reflection.v1alpha.ServerReflection": open,
};

const keyKindNames: Readonly<Record<ProtoKeyKind, KeyKind | undefined>> = {
  [ProtoKeyKind.UNSPECIFIED]: undefined,
  [ProtoKeyKind.PROJECT]: "project",
  [ProtoKeyKind.PROJECT_READ_ONLY]: "project_read_only",
  [ProtoKeyKind.INGESTION]: "ingestion",
  [ProtoKeyKind.DATA_PLANE]: "data_plane",
  [ProtoKeyKind.CONTROL_PLANE]: "control_plane",
};

const bodyClassNames: Readonly<Record<BodyClass, BodyClassName>> = {
  [BodyClass.UNSPECIFIED]: "other",
  [BodyClass.RECORD]: "record",
  [BodyClass.BATCH]: "batch",
  [BodyClass.TRACES]: "traces",
  [BodyClass.OTHER]: "other",
};

const rules = new Map<DescMethod, AccessRule>();

/** Returns the access rule of an rpc. Throws if the rpc has none; start-up reads every rule. */
export function accessRuleOf(method: DescMethod): AccessRule {
  const known = rules.get(method);
  if (known) return known;
  const rule = hasOption(method, access)
    ? fromOption(method)
    : thirdPartyRules[method.parent.typeName];
  if (!rule) throw new Error(`${method.parent.typeName}.${method.name} has no access rule`);
  rules.set(method, rule);
  return rule;
}

/** Returns the body class of one REST form of an rpc, by its path template. */
export function bodyClassAt(method: DescMethod, path: string): BodyClassName {
  const { bodyClass, batchPaths } = accessRuleOf(method);
  return batchPaths.includes(path) ? "batch" : bodyClass;
}

/** Returns the body class of an rpc over RPC protocols: the largest class of its REST forms. */
export function rpcBodyClassOf(method: DescMethod): BodyClassName {
  const { bodyClass, batchPaths } = accessRuleOf(method);
  return batchPaths.length > 0 ? "batch" : bodyClass;
}

/** Throws NOT_FOUND if the rule allows no caller of this kind. */
export function assertKindAllowed({ keyKinds, permission }: AccessRule, caller: Principal): void {
  if (keyKinds === undefined || isKindAllowed(caller, keyKinds)) return;
  throw new ServiceError("NOT_FOUND", `denied ${permission}`);
}

function fromOption(method: DescMethod): AccessRule {
  const option = getOption(method, access);
  if (option.open) return { ...open, knowsPeople: true };
  const kinds = option.keys.map((kind) => keyKindNames[kind]).filter((kind) => kind !== undefined);
  return {
    permission: option.permission,
    keyKinds: new Set(option.namedProject ? [...kinds, "data_plane" as const] : kinds),
    bodyClass: bodyClassNames[option.body],
    isIngestion: option.ingestion,
    batchPaths: option.batchPaths,
    scope: option.scope,
    isSecretAnswer: option.secretAnswer,
    isManualOnly: option.manualAssignment,
    isGeneration: option.generation,
    isControlData: option.controlData,
    knowsPeople: false,
  };
}

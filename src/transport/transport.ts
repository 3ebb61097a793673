// Composes the transport: the services' method implementations behind one gate and one chain of
// interceptors, over every protocol, on one port.
// Source: ARCHITECTURE.md, "The way a request goes".

import type { DescService } from "@bufbuild/protobuf";
import { createServiceImplSpec, type ServiceImpl } from "@connectrpc/connect";
import { Health } from "../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import * as alpha from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { type Reason, ServiceError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { BodyLimits } from "./access-rules.ts";
import type { MethodImplSpec } from "./connect-adapter.ts";
import { createCors } from "./cors.ts";
import { createGate, type GateOptions } from "./gate.ts";
import { healthHandlers } from "./health.ts";
import {
  assertScopeIsReadable,
  type AuthorizeOptions,
  createAuthorizeInterceptor,
  permissionsOf,
} from "./interceptors/authorize.ts";
import { createDeadlineInterceptor, type Deadlines } from "./interceptors/deadline.ts";
import { createErrorInterceptor, createErrorMapper } from "./interceptors/errors.ts";
import { createIdempotencyInterceptor, type IdempotencyOf } from "./interceptors/idempotency.ts";
import { type CallObservation, createCallLog, createLogInterceptor } from "./interceptors/log.ts";
import { tenantInterceptor } from "./interceptors/tenant.ts";
import { createTraceInterceptor } from "./interceptors/trace.ts";
import { validateInterceptor } from "./interceptors/validate.ts";
import { createMemory } from "./memory.ts";
import { createOpenApiDocument } from "./openapi/openapi.ts";
import { createOtlpRoute } from "./otlp/route.ts";
import { createPageRoute, type PageRoute, type Pages } from "./pages.ts";
import { reflectionHandlers } from "./reflection.ts";
import { createTranscoder } from "./rest/transcoder.ts";
import type { StreamEncoder } from "./rest/stream.ts";
import { createRequestListener, type Readiness } from "./routes.ts";
import { createRpcServer } from "./rpc.ts";
import { createTransportServer, type TransportServer } from "./server.ts";

export type TransportOptions = Deadlines &
  GateOptions &
  Pick<AuthorizeOptions, "findScope" | "findAnyScope"> & {
    /** Adds the services, whose rpcs answer over every protocol. */
    readonly services: (router: ServiceRouter) => void;
    readonly idempotencyOf: IdempotencyOf;
    readonly readiness: () => Promise<Readiness>;
    readonly findDatabaseFault: (error: unknown) => Reason | undefined;
    readonly observe: (call: CallObservation) => void;
    readonly logger: Logger;
    readonly version: string;
    readonly streamEncoders: readonly StreamEncoder[];
    /** Plain pages beside the rpcs. */
    readonly pages?: Pages;
    /** The web app, at paths that nothing else takes. */
    readonly web?: PageRoute | undefined;
    readonly corsOrigins: readonly string[];
    readonly bodyLimits: BodyLimits;
    readonly bytesInFlightMax: number;
    readonly bodyStallMs: number;
    readonly drainTimeoutMs: number;
    /** Whether calls create OpenTelemetry spans about the service itself. */
    readonly isTracing: boolean;
  };

export type ServiceRouter = {
  service<Desc extends DescService>(service: Desc, implementation: ServiceImpl<Desc>): void;
};

export type Transport = TransportServer & {
  /** Permissions that the rpcs require. */
  readonly permissions: readonly string[];
};

export function createTransport(options: TransportOptions): Transport {
  const { logger } = options;
  const closing = new AbortController();
  let isLeaving = false;
  const readiness = async (): Promise<Readiness> =>
    isLeaving ? { ready: false, missing: ["stopping"], degraded: [] } : options.readiness();
  const stop = new AbortController();
  const { services, specs } = collectServices({ ...options, readiness }, closing.signal);
  const callLog = createCallLog(logger, options.observe);
  const mapError = createErrorMapper(options);
  const shared = {
    gate: createGate(options, callLog),
    // The outermost first.
    interceptors: [
      createLogInterceptor(callLog),
      ...(options.isTracing ? [createTraceInterceptor()] : []),
      createErrorInterceptor(mapError),
      createDeadlineInterceptor(options),
      createAuthorizeInterceptor(options),
      tenantInterceptor,
      validateInterceptor,
      createIdempotencyInterceptor(options),
    ],
    mapError,
    callLog,
    memory: createMemory(options.bytesInFlightMax),
    bodyLimits: options.bodyLimits,
    bodyStallMs: options.bodyStallMs,
    shutdownSignal: stop.signal,
  };
  const listener = createRequestListener({
    rpc: createRpcServer({ ...shared, specs, logger }),
    transcoder: createTranscoder({ ...shared, specs, streamEncoders: options.streamEncoders }),
    otlp: createOtlpRoute(shared, specs),
    pages: options.pages && createPageRoute({ ...shared, pages: options.pages }),
    web: options.web,
    cors: createCors(options.corsOrigins),
    readiness,
    openapi: () =>
      createOpenApiDocument(
        services.flatMap((service) => service.methods),
        options,
      ),
    logger,
  });
  const server = createTransportServer({
    listener,
    logger,
    drainTimeoutMs: options.drainTimeoutMs,
    onLeaving: () => {
      isLeaving = true;
    },
    onClosing: () => closing.abort(),
    onDrainEnd: () => {
      stop.abort(new ServiceError("SHUTTING_DOWN", "the service stopped before the call was over"));
    },
  });
  const permissions = new Set(specs.flatMap(({ method }) => permissionsOf(method)));
  return { ...server, permissions: [...permissions] };
}

type Collected = {
  readonly services: readonly DescService[];
  readonly specs: readonly MethodImplSpec[];
};

function collectServices(options: TransportOptions, closing: AbortSignal): Collected {
  const services: DescService[] = [];
  const specs: MethodImplSpec[] = [];
  const router: ServiceRouter = {
    service(service, implementation) {
      services.push(service);
      specs.push(...Object.values(createServiceImplSpec(service, implementation).methods));
    },
  };
  options.services(router);
  for (const { method } of specs) assertScopeIsReadable(method);
  const names = (): readonly string[] => services.map((service) => service.typeName);
  const reflection = reflectionHandlers(() => services);
  router.service(Health, healthHandlers(options.readiness, names, closing));
  router.service(ServerReflection, reflection);
  // oxlint-disable-next-line typescript/no-deprecated -- clients still ask in v1alpha first
  router.service(alpha.ServerReflection, reflection);
  return { services, specs };
}

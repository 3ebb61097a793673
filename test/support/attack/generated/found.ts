// Generated attacks that once did harm. Each is sent again on every run, with fewer copies than did
// the harm described, so that a busy machine does not fail the test.

import type { Attack } from "./attacks.ts";

const enlarged = { variant: 0, around: 1 } as const;

export const found: readonly Attack[] = [
  // Nesting that overflowed the stack while the size of the body was estimated: Internal.
  {
    rpc: "waggle.v1.ApiKeyService.GetDataPlaneApiKey",
    protocol: "Connect JSON",
    rest: "",
    encoding: "zstd",
    key: "dataPlane",
    isFilled: true,
    copies: 1,
    rounds: 1,
    enlargements: [{ ...enlarged, path: "project_id", operation: "nest", bytes: 15_000 }],
  },
  // A message of a stream that was not valid Protobuf: Internal.
  {
    rpc: "grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo",
    protocol: "gRPC",
    rest: "",
    encoding: "gzip",
    key: "none",
    isFilled: true,
    copies: 1,
    rounds: 1,
    enlargements: [
      {
        path: "file_containing_extension.extension_number",
        operation: "enlarge",
        bytes: 66,
        variant: 6,
        around: 1,
      },
    ],
  },
  // A write over a megabyte, whose JSON answer could not be encoded: Internal.
  {
    rpc: "waggle.v1.EventService.EnrichEvent",
    protocol: "gRPC JSON",
    rest: "",
    encoding: "zstd",
    key: "ingestion",
    isFilled: true,
    copies: 4,
    rounds: 1,
    enlargements: [
      { ...enlarged, path: "metrics", operation: "repeat", bytes: 1_118_614, variant: 8 },
    ],
  },
  // Bodies in doubling buffers, and uncounted windows of zstd: 33 took 530 MB.
  {
    rpc: "waggle.v1.EventService.CreateEvent",
    protocol: "REST over HTTP/1.1",
    rest: "POST /v1/events",
    encoding: "zstd",
    key: "project",
    isFilled: false,
    copies: 12,
    rounds: 1,
    enlargements: [
      {
        path: "event.cost_estimate.reason",
        operation: "repeat",
        bytes: 5_756_412,
        variant: 7,
        around: 1,
      },
    ],
  },
  // 50,000 errors with stacks: 35 made /healthz 8 s late and took 1,057 MB.
  {
    rpc: "waggle.v1.SessionService.AddSessionEvents",
    protocol: "REST over HTTP/1.1",
    rest: "POST /v1/sessions/{session_id}/events/batch",
    encoding: "gzip",
    key: "project",
    isFilled: false,
    copies: 12,
    rounds: 1,
    enlargements: [
      {
        path: "events.event_type",
        operation: "unknown",
        bytes: 293,
        variant: 5,
        around: 50_000,
      },
    ],
  },
  // 190 kB of empty model events blocked the event loop for 1.5 s.
  {
    rpc: "waggle.compat.v0.TracingService.CreateModelEventBatch",
    protocol: "gRPC",
    rest: "",
    encoding: "gzip",
    key: "project",
    isFilled: false,
    copies: 2,
    rounds: 1,
    enlargements: [{ ...enlarged, path: "model_events", operation: "repeat", bytes: 190_000 }],
  },
  // Uncounted messages of a REST body: 24 took 625 MB.
  {
    rpc: "waggle.compat.v0.TracingService.CreateModelEventBatch",
    protocol: "REST over HTTP/1.1",
    rest: "POST /v1/events/model/batch",
    encoding: "gzip",
    key: "project",
    isFilled: false,
    copies: 8,
    rounds: 1,
    enlargements: [
      {
        path: "model_events.event_name",
        operation: "distinct",
        bytes: 44,
        variant: 5,
        around: 50_000,
      },
    ],
  },
  // A name of 33 MB, which V8 held five times: 29 took 530 MB.
  {
    rpc: "waggle.v1.ExportService.SearchEvents",
    protocol: "REST over HTTP/2",
    rest: "POST /v1/events/search",
    encoding: "gzip",
    key: "project",
    isFilled: true,
    copies: 29,
    rounds: 1,
    enlargements: [
      {
        path: "dateRange.start_time",
        operation: "long key",
        bytes: 32_911_776,
        variant: 9,
        around: 10,
      },
    ],
  },
  // Buffers of a decoder, which were kept for a quarter of their bytes: 7 took 599 MB.
  {
    rpc: "waggle.v1.LlmProxyService.StreamChatCompletion",
    protocol: "REST over HTTP/1.1",
    rest: "POST /v1/chat/completions/stream",
    encoding: "gzip",
    key: "project",
    isFilled: false,
    copies: 7,
    rounds: 2,
    enlargements: [
      { ...enlarged, path: "http_body", operation: "distinct", bytes: 55_428_170, variant: 2 },
    ],
  },
];

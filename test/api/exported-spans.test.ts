// The service's own spans, exported over OTLP to a real Waggle: each call is an event there, and
// the export itself is none.

import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  exportOwnTraces,
  findExportFault,
  leadsToItself,
} from "../../src/observability/own-traces.ts";
import { callRest } from "../support/read-back.ts";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;
const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };

async function readNames(): Promise<readonly string[]> {
  const page = { projections: ["event_name"], limit: 100 };
  const access = { url: service.url, key: service.projectKey };
  type Answer = { readonly events: readonly { readonly event_name: string }[] };
  const { events } = await callRest<Answer>(access, "POST", "/v1/events/export", page);
  return events.map(({ event_name }) => event_name);
}

function exportTo(endpoint: string, ownUrl: string) {
  return exportOwnTraces({ endpoint, ownUrls: [ownUrl], version: "1.2.3", logger });
}

describe("exported spans", () => {
  beforeEach(async () => {
    service = await startService({ tracing: "on" });
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", `Authorization=Bearer ${service.projectKey}`);
    vi.clearAllMocks();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await service.stop();
  });

  test("are events of the receiver, which makes none of the export", async () => {
    const traces = await exportTo(service.url, "http://127.0.0.1:1");
    onTestFinished(() => traces.stop());

    const { status } = await fetch(`${service.url}/v1/events/schema`, {
      headers: { authorization: `Bearer ${service.projectKey}` },
    });
    await traces.stop();

    expect(status).toBe(200);
    const names = await readNames();
    expect(names).toContain("waggle.v1.ExportService/GetEventSchema");
    expect(names.filter((name) => name.includes("TraceService"))).toEqual([]);
    expect(logger.info).toHaveBeenCalledOnce();
  });

  test("that the receiver refuses are named in the log, with its answer", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer wrong");
    const traces = await exportTo(service.url, "http://127.0.0.1:1");
    onTestFinished(() => traces.stop());

    await fetch(`${service.url}/v1/events/schema`, {
      headers: { authorization: `Bearer ${service.projectKey}` },
    });
    await traces.stop();

    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(
      { endpoint: service.url, reason: expect.stringMatching(/404|Not Found/) as string },
      "the service's own traces are not taken",
    );
  });

  test("have an endpoint of which doctor finds whether it takes them", async () => {
    expect(await findExportFault(service.url)).toBeUndefined();

    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer wrong");
    expect(await findExportFault(service.url)).toMatch(/404|Not Found/);
    expect(await findExportFault("http://127.0.0.1:1")).toMatch(/ECONNREFUSED/);
  });

  test("are not exported to the service itself, which says so", async () => {
    const traces = await exportTo(service.url, service.url);
    onTestFinished(() => traces.stop());

    await fetch(`${service.url}/v1/events/schema`, {
      headers: { authorization: `Bearer ${service.projectKey}` },
    });
    await traces.stop();

    expect(await readNames()).toEqual([]);
    expect(logger.error).toHaveBeenCalledWith(
      { endpoint: service.url },
      expect.stringContaining("OTEL_EXPORTER_OTLP_ENDPOINT is this service itself"),
    );
  });
});

test("are not exported to an internal name of a service that says to be the same", async () => {
  const publicUrl = "https://waggle.example.org";
  const other = await startService({ "public-url": publicUrl });
  onTestFinished(() => other.stop());
  vi.clearAllMocks();

  const traces = await exportTo(other.url, publicUrl);
  await traces.stop();

  expect(logger.info).not.toHaveBeenCalled();
  expect(logger.error).toHaveBeenCalledOnce();
});

test.each([
  { endpoint: "http://localhost:8080", own: "http://127.0.0.1:8080", isSelf: true },
  { endpoint: "http://[::1]:8080/x", own: "http://0.0.0.0:8080", isSelf: true },
  { endpoint: "https://waggle.example.org", own: "https://waggle.example.org", isSelf: true },
  { endpoint: "http://localhost:4318", own: "http://127.0.0.1:8080", isSelf: false },
  { endpoint: "http://collector:8080", own: "http://127.0.0.1:8080", isSelf: false },
  { endpoint: "https://waggle.example.org", own: "http://127.0.0.1:443", isSelf: false },
])("$endpoint from $own is the service itself: $isSelf", ({ endpoint, own, isSelf }) => {
  expect(leadsToItself(endpoint, [own])).toBe(isSelf);
});

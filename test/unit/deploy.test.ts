// The files of a deployment name only what the service has: its settings, metrics, reasons of
// errors and rpcs.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { outcomes as reasons } from "../../src/base/errors.ts";
import { readConfig, settings, variableOf } from "../../src/config.ts";
import { createMetrics, type Role } from "../../src/observability/metrics.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const rules = read("deploy/prometheus/rules.yaml");
const dashboard = read("deploy/grafana/waggle.json");
const chart = "deploy/helm/waggle";
const templateFiles = readdirSync(join(root, chart, "templates")).map((name) => ({
  name,
  text: read(join(chart, "templates", name)),
}));
const templates = templateFiles.map(({ text }) => text).join("\n");

function matches(text: string, pattern: RegExp): string[] {
  return [...new Set(Array.from(text.matchAll(pattern), ([, found = ""]) => found))];
}

/** Names of the series that Prometheus gets. */
function seriesNames(): Set<string> {
  const metrics = createMetrics("serve");
  metrics.watchWorkflows(() => true);
  metrics.watchQueue(() => ({ events: 0, requests: 0, bytes: 0 }));
  metrics.watchEvaluation(async () => ({
    oldestQueuedAgeSeconds: 0,
    queuedEvents: 0,
    sandboxProcesses: 0,
  }));
  const found = metrics.registry.getMetricsAsArray().map(({ name, type }) => ({ name, type }));
  return new Set(
    found.flatMap(({ name, type }) =>
      String(type) === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

describe("rules and dashboard", () => {
  test.each([
    { file: "rules.yaml", text: rules },
    { file: "waggle.json", text: dashboard },
  ])("$file names series that the service has", ({ text }) => {
    const named = matches(text, /\b((?:waggle|process|nodejs)_[a-z0-9_]+)\b/g);

    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !seriesNames().has(name))).toEqual([]);
  });

  test("the adapter's values name a series that the service has and the chart scales by", () => {
    const [series, ...more] = matches(
      read("deploy/prometheus/adapter-values.yaml"),
      /: (waggle\w+)/g,
    );

    expect(more).toEqual([]);
    expect(seriesNames()).toContain(series);
    expect(templates).toContain(`metric: { name: ${series} }`);
  });

  test("name roles that processes have", () => {
    const named = matches(rules, /role=~"([^"]+)"/g).flatMap((one) => one.split("|"));
    const roles: readonly Role[] = ["serve", "worker", "start"];

    expect(new Set(named)).toEqual(new Set(roles));
  });

  test("name reasons and rpcs that the service has", () => {
    const outcomes = matches(rules, /outcome=~?"([^"]+)"/g).flatMap((one) => one.split("|"));
    const [rpcs = ""] = matches(rules, /EventService\/\(([^)]+)\)/g);
    const methods = EventService.methods.map(({ name }) => name);

    expect(outcomes.filter((one) => !(one in reasons))).toEqual([]);
    expect(rpcs.split("|").filter((one) => !methods.includes(one))).toEqual([]);
  });

  test("count every reason of the service's own fault", () => {
    const counted = matches(rules, /outcome=~?"([^"]+)"/g).flatMap((one) => one.split("|"));
    // Faults of providers, deadlines of calls, the end of a server, and parts that are not built.
    const others = [
      "PROVIDER_FAILED",
      "PROVIDER_LIMITED",
      "PROVIDER_TIMEOUT",
      "DEADLINE_EXCEEDED",
      "SHUTTING_DOWN",
      "NOT_IMPLEMENTED",
    ];
    const faults = Object.entries(reasons).filter(([, { status }]) => status >= 500);

    const left = faults.map(([name]) => name).filter((name) => !counted.includes(name));
    expect(left.toSorted()).toEqual(others.toSorted());
  });

  test("are rules with a summary each, and panels with an expression each", () => {
    const { groups } = parse(rules) as {
      groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
    };
    const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };

    const all = groups.flatMap((group) => group.rules);
    expect(all.filter(({ expr, annotations }) => !expr || !annotations.summary)).toEqual([]);
    expect(panels.filter(({ targets }) => targets.some(({ expr }) => !expr))).toEqual([]);
  });
});

describe("image, compose and chart", () => {
  const known = new Set([
    ...settings.map(({ flag }) => variableOf(flag)),
    "POSTGRES_PASSWORD",
    "POSTGRES_USER",
    "POSTGRES_DB",
  ]);

  test.each(["Dockerfile", "deploy/compose.yaml", `${chart}/values.yaml`])(
    "%s names variables that are settings",
    (path) => {
      const named = matches(
        read(path),
        /\b((?:WAGGLE|TEMPORAL|POSTGRES)_[A-Z0-9_]+|DATABASE_URL)\b/g,
      );

      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => !known.has(name))).toEqual([]);
    },
  );

  // A compose file unsets a variable by the empty text, as `${WAGGLE_PORT:-}`.
  test.each([
    { name: "unset", port: undefined, want: 8080 },
    { name: "empty", port: "", want: 8080 },
    { name: "9000", port: "9000", want: 9000 },
  ])("the image's health check asks the port of a WAGGLE_PORT that is $name", ({ port, want }) => {
    const [expression = ""] = matches(
      read("Dockerfile"),
      /'http:\/\/127\.0\.0\.1:' \+ \(([^)]+)\)/g,
    );
    const asked: unknown = runInNewContext(expression, {
      process: { env: { WAGGLE_PORT: port } },
    });

    expect(Number(asked)).toBe(want);
    expect(readConfig({}, { WAGGLE_PORT: port }).port).toBe(want);
  });

  test("compose gives servers and workers longer to end than they take", () => {
    const { services } = parse(read("deploy/compose.yaml"), { merge: true }) as {
      services: Record<"serve" | "worker", { stop_grace_period: string }>;
    };
    const { shutdownDelayMs, drainTimeoutMs } = readConfig({}, {});
    const most = (shutdownDelayMs + drainTimeoutMs) / 1_000;

    expect(most).toBeGreaterThan(10);
    for (const { stop_grace_period: grace } of [services.serve, services.worker]) {
      expect(Number.parseInt(grace, 10)).toBeGreaterThan(most);
    }
  });

  test("compose has a Temporal that can write its volume, and links that lead to serve", () => {
    const { services } = parse(read("deploy/compose.yaml"), { merge: true }) as {
      services: {
        temporal: { image: string; user: string };
        serve: { environment: Record<string, string>; ports: string[] };
      };
    };
    const { image, user } = services.temporal;

    expect(image).toMatch(/:\d+\.\d+\.\d+$/);
    // A new volume belongs to root, and the image's own user is another.
    expect(user).toBe("0:0");
    expect(services.serve.environment["WAGGLE_PUBLIC_URL"]).toBe("http://127.0.0.1:8080");
    expect(services.serve.ports).toEqual(["127.0.0.1:8080:8080"]);
  });

  test("a pod's time to end is longer than its process may take", () => {
    const [, more = "0"] = /drainSeconds (\d+) \}\}/.exec(templates) ?? [];
    const service = read("src/commands/service.ts");
    const [, close = "NaN"] = /closeGraceMs = ([\d_]+);/.exec(service) ?? [];
    const delay = settings.find(({ flag }) => flag === "shutdown-delay-ms");

    const ownMs = Number(delay?.fallback) + Number(close.replaceAll("_", ""));
    expect(Number(more) * 1_000).toBeGreaterThan(ownMs);
  });

  test("compose runs migrate before serve and worker", () => {
    const { services } = parse(read("deploy/compose.yaml"), { merge: true }) as {
      services: Record<string, { command: string[]; depends_on: Record<string, unknown> }>;
    };

    expect(services["migrate"]?.command).toEqual(["migrate"]);
    for (const name of ["serve", "worker"]) {
      expect(services[name]?.depends_on).toMatchObject({
        migrate: { condition: "service_completed_successfully" },
      });
    }
  });

  test("the chart's templates use values that it has, and its version is the service's", () => {
    const values = parse(read(`${chart}/values.yaml`)) as Record<string, unknown>;
    const has = (path: string): boolean => {
      let at: unknown = values;
      for (const name of path.split(".")) {
        if (typeof at !== "object" || at === null || !(name in at)) return false;
        at = (at as Record<string, unknown>)[name];
      }
      return true;
    };
    const used = matches(templates, /\.Values\.([A-Za-z]+(?:\.[A-Za-z]+)*)/g);
    const { version, appVersion } = parse(read(`${chart}/Chart.yaml`)) as Record<string, string>;
    const own = JSON.parse(read("package.json")) as { version: string };

    expect(used.filter((path) => !has(path))).toEqual([]);
    expect([version, appVersion]).toEqual([own.version, own.version]);
    expect(parseAllDocuments(read(`${chart}/values.yaml`)).flatMap((one) => one.errors)).toEqual(
      [],
    );
  });

  // Kubernetes sets WAGGLE_PORT=tcp://… where the release is named waggle: every pod would fail.
  test("no pod gets variables from services", () => {
    const pods = /define "waggle\.pod" -\}\}\n(.*?)\{\{- end \}\}\n\n/s.exec(templates);
    const withContainers = templateFiles.filter(({ text }) => text.includes("containers:"));

    expect(pods?.[1]).toMatch(/^enableServiceLinks: false$/m);
    expect(withContainers.map(({ name }) => name)).toEqual([
      "migrate.yaml",
      "serve.yaml",
      "worker.yaml",
    ]);
    expect(withContainers.filter(({ text }) => !text.includes('include "waggle.pod"'))).toEqual([]);
  });
});

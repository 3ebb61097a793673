// The Helm chart by Helm itself, and what it renders by kubeconform and the schemas of Kubernetes.
// Runs where CHART_TOOLS is set, because Go compiles Helm first.

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import {
  chartToolsTimeoutMs,
  type Environment,
  installChartTools,
  projectFolder,
  pythonOf,
  sayMissing,
  skipTestsWhere,
} from "./environment.ts";
import { mustRun, runProgram } from "./program.ts";

const chart = join(projectFolder, "deploy/helm/waggle");

/** The oldest that Chart.yaml admits, and the newest whose schemas are installed. */
const versions = ["1.27.0", "1.37.0"] as const;

const scaled = ["HorizontalPodAutoscaler", "HorizontalPodAutoscaler"];
const always = [
  "Deployment",
  "Deployment",
  "Job",
  "PodDisruptionBudget",
  "PodDisruptionBudget",
  "Service",
];

const cases = [
  { name: "default values", values: {}, kinds: [...always, ...scaled] },
  {
    name: "every option",
    values: {
      imagePullSecrets: [{ name: "registry" }],
      temporal: { uiUrl: "https://temporal.example.org" },
      publicUrl: "https://waggle.example.org",
      environment: {
        WAGGLE_LOG_LEVEL: "debug",
        WAGGLE_PORT: 8443,
        WAGGLE_OPERATOR_PORT: 9000,
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: "/etc/temporal/ca.pem",
      },
      volumes: [{ name: "temporal", secret: { secretName: "temporal-tls" } }],
      volumeMounts: [{ name: "temporal", mountPath: "/etc/temporal", readOnly: true }],
      worker: { autoscaling: { queueAgeSeconds: 60 } },
      ingress: {
        enabled: true,
        className: "nginx",
        tlsSecretName: "waggle-tls",
        annotations: { "cert-manager.io/cluster-issuer": "main" },
      },
      podMonitor: { enabled: true },
    },
    kinds: [...always, ...scaled, "Ingress", "PodMonitor"],
  },
  {
    name: "no autoscaling",
    values: {
      serve: { autoscaling: { maxReplicas: 0 } },
      worker: { autoscaling: { maxReplicas: 0 } },
    },
    kinds: always,
  },
] as const;

type Rendered = {
  readonly kind: string;
  readonly spec: { readonly template?: { readonly spec: { enableServiceLinks?: boolean } } };
};

let environment: Environment;
let tools: string;
let folder: string;

beforeAll(async () => {
  environment =
    process.env["CHART_TOOLS"] === undefined
      ? { missing: "CHART_TOOLS is not set, and Helm takes minutes to compile" }
      : await installChartTools();
  sayMissing("the Helm chart", environment);
  if (environment.missing !== undefined) return;
  tools = environment.folder;
  folder = await mkdtemp(join(tmpdir(), "waggle-chart-"));
  for (const version of versions) await copySchemas(version);
}, 2 * chartToolsTimeoutMs);
afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
skipTestsWhere(() => environment.missing);

/** Kinds of the chart, as the package names their schemas. */
const schemas = [
  "_definitions",
  "deployment-apps-v1",
  "horizontalpodautoscaler-autoscaling-v2",
  "ingress-networking-v1",
  "job-batch-v1",
  "poddisruptionbudget-policy-v1",
  "service-v1",
];

/** Copies schemas; their ids and references lead to a website, which kubeconform would ask. */
async function copySchemas(version: string): Promise<void> {
  const find = "import importlib.util as u; print(u.find_spec('kubernetes_validate').origin)";
  const origin = await mustRun({ command: pythonOf(tools), words: ["-c", find] });
  const from = join(origin.trim(), "../kubernetes-json-schema", `v${version}-local-strict`);
  await mkdir(join(folder, version));
  for (const name of schemas) {
    const schema = JSON.parse(await readFile(join(from, `${name}.json`), "utf8")) as object;
    const text = JSON.stringify({ ...schema, $id: undefined });
    const local = text.replaceAll('"/api/_definitions.json', '"_definitions.json');
    await writeFile(join(folder, version, `${name}.json`), local);
  }
}

function runTool(name: string, ...words: readonly string[]) {
  return runProgram({ command: join(tools, "bin", name), words });
}

async function mustRender(version: string, values: string): Promise<string> {
  const words = ["--kube-version", version, "--values", values];
  const { code, stdout, stderr } = await runTool("helm", "template", "waggle", chart, ...words);
  expect(code, stderr).toBe(0);
  return stdout;
}

/** Returns what kubeconform finds wrong; `PodMonitor` is the Prometheus operator's. */
async function listFaults(version: string, path: string): Promise<string> {
  const schema = join(folder, version, "{{ .ResourceKind }}{{ .KindSuffix }}.json");
  const words = ["-kubernetes-version", version, "-schema-location", schema];
  return (await runTool("kubeconform", ...words, "-skip", "PodMonitor", path)).stdout;
}

describe.each(versions)("the chart on Kubernetes %s", (version) => {
  test.each(cases)("with $name is linted, and all it renders is valid", async (row) => {
    const values = join(folder, "values.json");
    await writeFile(values, JSON.stringify(row.values));
    const words = ["--strict", "--kube-version", version, "--values", values];
    const linted = await runTool("helm", "lint", chart, ...words);

    const rendered = await mustRender(version, values);
    const path = join(folder, "rendered.yaml");
    await writeFile(path, rendered);

    expect(linted.code, linted.stdout + linted.stderr).toBe(0);
    expect(await listFaults(version, path)).toBe("");
    const all = parseAllDocuments(rendered).map((one) => one.toJS() as Rendered);
    expect(all.map(({ kind }) => kind).toSorted()).toEqual(row.kinds.toSorted());
    const links = all.flatMap(({ spec }) => spec.template?.spec.enableServiceLinks ?? []);
    expect(links).toEqual([false, false, false]);
  });

  // YAML reads `on` as true, and Helm prints large numbers of a file as 1.28e+08.
  test("settings of a values file are texts that the service reads", async () => {
    const values = join(folder, "values.yaml");
    const lines = [
      "WAGGLE_BODY_BATCH_MAX: 128000000",
      "WAGGLE_TRACING: on",
      "TEMPORAL_TLS: off",
      "OTEL_SDK_DISABLED: true",
      "OTEL_TRACES_SAMPLER_ARG: 0.25",
      "WAGGLE_LOG_LEVEL: debug",
    ];
    await writeFile(values, `environment:\n  ${lines.join("\n  ")}\n`);

    const rendered = await mustRender(version, values);

    const got = Array.from(rendered.matchAll(/- \{ name: (\w+), value: "(.*)" \}/g));
    const pods = Map.groupBy(got, ([, name]) => name);
    const valuesOf = (name: string) => pods.get(name)?.map(([, , value]) => value);
    expect(valuesOf("WAGGLE_BODY_BATCH_MAX")).toEqual(["128000000", "128000000", "128000000"]);
    expect(valuesOf("WAGGLE_TRACING")).toEqual(["on", "on", "on"]);
    expect(valuesOf("TEMPORAL_TLS")).toEqual(["off", "off", "off"]);
    expect(valuesOf("OTEL_SDK_DISABLED")).toEqual(["true", "true", "true"]);
    expect(valuesOf("OTEL_TRACES_SAMPLER_ARG")).toEqual(["0.25", "0.25", "0.25"]);
    expect(valuesOf("WAGGLE_LOG_LEVEL")).toEqual(["debug", "debug", "debug"]);
  });

  test("every pod has the files, and the ports that the service listens on", async () => {
    const values = join(folder, "values.json");
    await writeFile(values, JSON.stringify(cases[1].values));

    const rendered = await mustRender(version, values);

    const count = (text: string) => rendered.split(text).length - 1;
    expect(count("secretName: temporal-tls")).toBe(3);
    expect(count("mountPath: /etc/temporal")).toBe(3);
    expect(count("containerPort: 8443")).toBe(1);
    expect(count("containerPort: 9000")).toBe(2);
  });

  test("a field that Kubernetes does not know is found", async () => {
    const values = join(folder, "values.json");
    await writeFile(values, "{}");
    const rendered = await mustRender(version, values);
    const path = join(folder, "wrong.yaml");
    await writeFile(path, rendered.replaceAll("enableServiceLinks", "enableServiceLink"));

    expect(await listFaults(version, path)).toContain("'enableServiceLink' not allowed");
  });
});

// The checks of `npm run proof`: each proves a claim by a run of the suite with more rounds than in
// CI, or by a bench. PROOF_ROUNDS and PROOF_SECONDS make them longer or shorter.

export type Check = {
  readonly name: string;
  readonly claim: string;
  /** Arguments of vitest, or of the benches. */
  readonly run: { readonly tests: readonly string[] } | { readonly bench: readonly string[] };
  readonly environment?: Readonly<Record<string, string>>;
};

const rounds = process.env["PROOF_ROUNDS"] ?? "500";
const seconds = process.env["PROOF_SECONDS"] ?? "120";
const seed = process.env["PROOF_SEED"] ?? "1";

export const checks: readonly Check[] = [
  {
    name: "kills",
    claim:
      "kill -9 of the service, of Postgres or of both, during batches, spans, single events and " +
      "updates, loses nothing acknowledged, leaves no half batch, and keeps totals exact",
    run: { tests: ["--project", "process", "test/process/faults.test.ts"] },
    environment: { KILL_ROUNDS: rounds, PROOF_SEED: seed },
  },
  {
    name: "openapi",
    claim:
      "requests generated from /openapi.json by Schemathesis, with ids of real resources and " +
      "each kind of key, get no server error and no answer that the description lacks",
    run: { tests: ["--config", "test/proof/vitest.config.ts"] },
    environment: { PROOF_SECONDS: seconds, PROOF_SEED: seed },
  },
  {
    name: "access",
    claim: "each route answers each kind of caller as its rule says; all denials are one 404",
    run: { tests: ["--project", "service", "test/api/access"] },
  },
  {
    name: "sandbox",
    claim:
      "evaluator code reaches no file, socket, process or secret, and ends at its limits of time " +
      "and memory",
    run: { tests: ["--project", "process", "--project", "alone", "test/sandbox/"] },
  },
  {
    name: "exactly-once",
    claim:
      "evaluations, runs, alerts and archivals whose worker is killed end with each " +
      "result once",
    run: { tests: ["--project", "process", "killed.test.ts"] },
    environment: { DATAPOINTS: "5000" },
  },
  {
    name: "chart",
    claim:
      "helm lint accepts the Helm chart, and all that helm template makes of it, with default " +
      "values and with every option, is valid by the schemas of Kubernetes",
    run: { tests: ["--project", "process", "test/clients/chart.test.ts"] },
    environment: { CHART_TOOLS: "on" },
  },
  {
    name: "outages",
    claim:
      "a server stopped for a minute and Temporal away for ten, under load, lose and double " +
      "nothing: other servers answer every call, and each event is scored once",
    run: {
      tests: [
        "--project",
        "process",
        "test/process/stopped-server.test.ts",
        "test/process/temporal-outage.test.ts",
      ],
    },
    environment: { STOP_SECONDS: "60", OUTAGE_SECONDS: "600" },
  },
  {
    name: "ingest",
    claim: "throughput of committed events and spans as a share of COPY into the same table",
    run: { bench: ["ingest", "--rounds", "3"] },
  },
  {
    name: "gateway",
    claim: "time that a recorded call adds to a model's, beside Portkey, which records nothing",
    run: { bench: ["gateway", "--rounds", "3", "--only", "turns"] },
  },
  {
    name: "charts",
    claim: "p95 of charts over 1,000,000 of 5,000,000 events beside DuckDB on the same rows",
    run: { bench: ["charts"] },
  },
];

/** Claims of the documentation that no check above proves. */
export const unproven: readonly string[] = [
  "Backfills whose worker is killed: no check kills one.",
  "Behaviour with more than one machine: all processes share one here.",
  "Loss of power: kill -9 leaves the operating system's cache; Postgres' own fsync is trusted.",
  "The container image and the Helm chart in a cluster: there was no container runtime and no " +
    "Kubernetes.",
  "Real model providers, mail servers, Slack and single sign-on services: stand-ins on loopback " +
    "answered.",
  "Capacity beyond one machine: docs/capacity.md computes it and says from what.",
  "Citus: its tests run where CITUS_URL is set, and docs/clusters.md says what was run; its " +
    "speed, a worker that hangs without an end and the loss of its coordinator were not tried.",
];

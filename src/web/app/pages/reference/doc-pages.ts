// The repository's docs that the app shows: each page of `docs/` once, in groups, in the order in
// which people need them.

export type DocPage = {
  /** Name of the file in `docs/` without `.md`, and last part of the address. */
  readonly name: string;
  readonly title: string;
};

export type DocGroup = { readonly title: string; readonly pages: readonly DocPage[] };

export const docGroups: readonly DocGroup[] = [
  {
    title: "Use",
    pages: [
      { name: "web", title: "The web app" },
      { name: "otlp", title: "OpenTelemetry" },
      { name: "ingestion", title: "Ingestion" },
      { name: "reading", title: "Reading events" },
      { name: "clients", title: "Clients" },
      { name: "generations", title: "Generations" },
      { name: "prompts", title: "Prompts" },
      { name: "evaluators", title: "Evaluators" },
      { name: "judges", title: "Judges" },
      { name: "datasets", title: "Datasets" },
      { name: "experiments", title: "Experiments" },
      { name: "queues", title: "Queues" },
      { name: "charts", title: "Charts" },
      { name: "alerts", title: "Alerts" },
      { name: "budgets", title: "Budgets" },
      { name: "moving-in", title: "Moving in" },
      { name: "mcp", title: "Agents (MCP)" },
    ],
  },
  {
    title: "Run",
    pages: [
      { name: "operations", title: "Operations" },
      { name: "sign-in", title: "Sign-in" },
      { name: "roles", title: "Roles" },
      { name: "audit", title: "Audit log" },
      { name: "masking", title: "Masking" },
      { name: "retention", title: "Retention" },
      { name: "workflows", title: "Workflows" },
      { name: "clusters", title: "Clusters" },
      { name: "capacity", title: "Capacity" },
      { name: "recovery", title: "Recovery" },
      { name: "sandbox", title: "Sandbox" },
      { name: "limits", title: "Limits" },
      { name: "benchmarks", title: "Benchmarks" },
    ],
  },
  {
    title: "Know",
    pages: [
      { name: "spec", title: "Specification" },
      { name: "decisions", title: "Decisions" },
      { name: "glossary", title: "Glossary" },
      { name: "dependencies", title: "Dependencies" },
    ],
  },
];

// The command line: waggle start | start-once | serve | worker | migrate | doctor | keys |
// members | sign-in-link | audit | provider-credentials | prices | import | events | datasets |
// runs | mcp. Each command is one file in commands/.

import { parseArgs } from "node:util";
import { OperatorError } from "../base/operator-error.ts";
import { runAudit } from "./audit.ts";
import { print } from "./command.ts";
import type { Command } from "./command.ts";
import { columnFlags, runDatasets } from "./datasets.ts";
import { runDoctor } from "./doctor.ts";
import { runEvents } from "./events.ts";
import { runImport } from "./import.ts";
import { runKeys } from "./keys.ts";
import { runMembers } from "./members.ts";
import { runMigrate } from "./migrate.ts";
import { runPrices } from "./prices.ts";
import { runProviderCredentials } from "./provider-credentials.ts";
import { runRuns } from "./runs.ts";
import { runServe } from "./serve.ts";
import { runSignInLink } from "./sign-in-link.ts";
import { runStart } from "./start.ts";
import { superviseService } from "./supervisor.ts";
import { runWorker } from "./worker.ts";
import { ConfigError, readConfig, settings, variableOf } from "../config.ts";
import { providerVariables } from "../provider-settings.ts";

/** Flags of each command that calls a running service. */
const callFlags = ["key-file", "url"];
/** Flags that name a scope: of keys, and of members. */
const keyScopeFlags = ["org", "project", "workspace"];
const scopeFlags = [...keyScopeFlags, "dataplane"];

const commands: Readonly<Record<string, Command>> = {
  start: {
    summary: "everything on this machine (embedded Postgres), restarted after a crash",
    run: ({ words }) => superviseService(words),
  },
  "start-once": { summary: "the same, without restarts", run: runStart },
  serve: { summary: "the service alone, on DATABASE_URL", run: runServe },
  worker: { summary: "workflows alone, on DATABASE_URL and TEMPORAL_ADDRESS", run: runWorker },
  migrate: { summary: "bring the database up to date", run: runMigrate },
  doctor: { summary: "check what the service needs and say what to do", run: runDoctor },
  keys: {
    summary: "create, list or revoke API keys",
    acts: {
      create: [...keyScopeFlags, "expires-in-days", "kind", "name", "permissions"],
      list: keyScopeFlags,
      revoke: ["with-created"],
    },
    run: runKeys,
  },
  members: {
    summary: "give and take roles of people",
    acts: {
      add: [...scopeFlags, "email", "role"],
      list: scopeFlags,
      release: ["email"],
      remove: [...scopeFlags, "email"],
    },
    run: runMembers,
  },
  "sign-in-link": { summary: "a link that signs the administrator in", run: runSignInLink },
  audit: { summary: "verify the audit log's chains", flags: ["org"], run: runAudit },
  prices: {
    summary: "estimate the costs of stored events anew: recost",
    flags: ["apply", "from", "project", "to"],
    run: runPrices,
  },
  import: {
    summary: "move exports of langfuse, phoenix, langsmith, otlp or waggle into a project",
    flags: [...callFlags, "dry-run", "format", "report"],
    run: runImport,
  },
  events: {
    summary: "search, export or follow events of a running service",
    flags: [...callFlags, "fields"],
    acts: { export: ["from", "to"], search: ["from", "limit", "to"], tail: [] },
    run: runEvents,
  },
  datasets: {
    summary: "list, export or import datasets of a running service",
    flags: callFlags,
    acts: { export: ["format"], import: ["format", ...columnFlags], list: ["limit"] },
    run: runDatasets,
  },
  runs: {
    summary: "list, read or compare experiment runs of a running service",
    flags: callFlags,
    acts: { compare: [], list: ["limit"], result: [] },
    run: runRuns,
  },
  mcp: {
    flags: callFlags,
    summary: "tools for an agent that reads traces (MCP on standard input)",
    // Its library is of no use to the others.
    run: async (context) => (await import("./mcp.ts")).runMcp(context),
  },
  "provider-credentials": {
    summary: "put stored secrets under the first encryption key: rotate",
    run: runProviderCredentials,
  },
};

const flagOptions = {
  ...Object.fromEntries(settings.map(({ flag }) => [flag, { type: "string" } as const])),
  help: { type: "boolean", short: "h" },
  apply: { type: "boolean" },
  dataplane: { type: "string" },
  "dry-run": { type: "boolean" },
  email: { type: "string" },
  "expires-in-days": { type: "string" },
  fields: { type: "string" },
  format: { type: "string" },
  from: { type: "string" },
  "ground-truth": { type: "string", multiple: true },
  history: { type: "string", multiple: true },
  inputs: { type: "string", multiple: true },
  "key-file": { type: "string" },
  kind: { type: "string" },
  limit: { type: "string" },
  name: { type: "string" },
  org: { type: "string" },
  permissions: { type: "string" },
  project: { type: "string" },
  report: { type: "string" },
  role: { type: "string" },
  to: { type: "string" },
  url: { type: "string" },
  "with-created": { type: "boolean" },
  workspace: { type: "string" },
} as const;

const usageExitCode = 2;

/** Throws for a flag that the command would not heed, such as --dry-run on one that writes. */
function refuseOthers(name: string, act: string, given: readonly string[]): void {
  const { flags = [], acts } = commands[name] ?? {};
  // An act that does not exist is for the command to refuse.
  if (acts !== undefined && !Object.hasOwn(acts, act)) return;
  const own = [...flags, ...(acts?.[act] ?? []), ...settings.map(({ flag }) => flag)];
  const idle = given.find((flag) => !own.includes(flag));
  if (idle === undefined) return;
  const words = acts === undefined ? name : `${name} ${act}`;
  throw new OperatorError(`waggle ${words} takes no --${idle}`);
}

/** Runs the command that the arguments name; returns the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: flagOptions,
      allowPositionals: true,
      tokens: true,
    });
    const [name = "", ...operands] = positionals;
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (values.help === true || !command) {
      print(helpText());
      return values.help === true ? 0 : usageExitCode;
    }
    refuseOthers(name, operands[0] ?? "", Object.keys(values));
    const nameIndex = tokens.find(({ kind }) => kind === "positional")?.index;
    const words = args.filter((_, index) => index !== nameIndex);
    return await command.run({ config: readConfig(values), flags: values, operands, words });
  } catch (error) {
    return report(error);
  }
}

function report(error: unknown): number {
  const isUsage =
    error instanceof ConfigError ||
    String((error as { code?: unknown }).code).startsWith("ERR_PARSE_ARGS");
  const isExpected = isUsage || error instanceof OperatorError;
  const { message, stack } = error as Error;
  process.stderr.write(`waggle: ${isExpected ? message : (stack ?? message)}\n`);
  return isUsage ? usageExitCode : 1;
}

function helpText(): string {
  const commandLines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(22)}${summary}`,
  );
  const settingLines = settings.flatMap(({ flag, help, fallback }) => {
    const usual = fallback === "" ? "" : ` (${fallback})`;
    return [`  --${flag.padEnd(32)} ${help}${usual}`, `    ${"".padEnd(33)}${variableOf(flag)}`];
  });
  return [
    "usage: waggle COMMAND [FLAGS]",
    "",
    ...commandLines,
    "",
    "Flags, each also an environment variable:",
    ...settingLines,
    "",
    "Model providers of the deployment, by variables alone:",
    ...providerVariables.map(([name, names]) => `  ${name.padEnd(22)}${names.join(", ")}`),
  ].join("\n");
}

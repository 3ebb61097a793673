// The command line: waggle start | start-once | serve | worker | migrate | doctor | keys |
// members | sign-in-link | audit | provider-credentials | prices | import | events | datasets |
// runs | mcp. Each command is one file in commands/.

import { parseArgs } from "node:util";
import { OperatorError } from "../base/operator-error.ts";
import { runAudit, usage as auditUsage } from "./audit.ts";
import { print } from "./command.ts";
import type { Command } from "./command.ts";
import { columnFlags, runDatasets, usage as datasetsUsage } from "./datasets.ts";
import { runDoctor } from "./doctor.ts";
import { runEvents, usage as eventsUsage } from "./events.ts";
import { runImport, usage as importUsage } from "./import.ts";
import { runKeys, usage as keysUsage } from "./keys.ts";
import { runMembers, usage as membersUsage } from "./members.ts";
import { runMigrate } from "./migrate.ts";
import { runPrices, usage as pricesUsage } from "./prices.ts";
import {
  runProviderCredentials,
  usage as providerCredentialsUsage,
} from "./provider-credentials.ts";
import { runRuns, usage as runsUsage } from "./runs.ts";
import { runServe } from "./serve.ts";
import { runSignInLink } from "./sign-in-link.ts";
import { runStart } from "./start.ts";
import { superviseService } from "./supervisor.ts";
import { runWorker } from "./worker.ts";
import { ConfigError, readConfig, settings, variableOf } from "../config.ts";
import { providerVariables } from "../provider-settings.ts";

/** Flags of each command that calls a running service. Without --url two settings say where. */
const callFlags = ["host", "key-file", "port", "url"];
/** Flags that name a scope: of keys, and of members. */
const keyScopeFlags = ["org", "project", "workspace"];
const scopeFlags = [...keyScopeFlags, "dataplane"];

/** Not in mcp.ts, whose library is of no use to other commands. */
const mcpUsage = `usage:
  waggle mcp
      serves the Model Context Protocol on standard input and output, until standard input ends.
      --url, and --key-file or WAGGLE_API_KEY, say where and with which key.`;

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
    usage: keysUsage,
    acts: {
      create: [...keyScopeFlags, "expires-in-days", "kind", "name", "permissions"],
      list: keyScopeFlags,
      revoke: ["with-created"],
    },
    run: runKeys,
  },
  members: {
    summary: "give and take roles of people",
    usage: membersUsage,
    acts: {
      add: [...scopeFlags, "email", "role"],
      list: scopeFlags,
      release: ["email"],
      remove: [...scopeFlags, "email"],
    },
    run: runMembers,
  },
  "sign-in-link": { summary: "a link that signs the administrator in", run: runSignInLink },
  audit: {
    summary: "verify the audit log's chains",
    usage: auditUsage,
    flags: ["org"],
    run: runAudit,
  },
  prices: {
    summary: "estimate the costs of stored events anew: recost",
    usage: pricesUsage,
    flags: ["apply", "from", "project", "to"],
    run: runPrices,
  },
  import: {
    summary: "move exports of langfuse, phoenix, langsmith, otlp or waggle into a project",
    usage: importUsage,
    isCall: true,
    flags: ["dry-run", "format", "report"],
    run: runImport,
  },
  events: {
    summary: "search, export or follow events of a running service",
    usage: eventsUsage,
    isCall: true,
    flags: ["fields"],
    acts: { export: ["from", "to"], search: ["from", "limit", "to"], tail: [] },
    run: runEvents,
  },
  datasets: {
    summary: "list, export or import datasets of a running service",
    usage: datasetsUsage,
    isCall: true,
    acts: { export: ["format"], import: ["format", ...columnFlags], list: ["limit"] },
    run: runDatasets,
  },
  runs: {
    summary: "list, read or compare experiment runs of a running service",
    usage: runsUsage,
    isCall: true,
    acts: { compare: [], list: ["limit"], result: [] },
    run: runRuns,
  },
  mcp: {
    summary: "tools for an agent that reads traces (MCP on standard input)",
    usage: mcpUsage,
    isCall: true,
    run: async (context) => (await import("./mcp.ts")).runMcp(context),
  },
  "provider-credentials": {
    summary: "put stored secrets under the first encryption key: rotate",
    usage: providerCredentialsUsage,
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
function refuseOthers(name: string, command: Command, act: string, given: readonly string[]) {
  const { flags = [], acts, isCall } = command;
  // An act that does not exist is for the command to refuse.
  if (acts !== undefined && !Object.hasOwn(acts, act)) return;
  const general = isCall ? callFlags : settings.map(({ flag }) => flag);
  const own = [...flags, ...(acts?.[act] ?? []), ...general];
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
      print(helpOf(command));
      return values.help === true ? 0 : usageExitCode;
    }
    refuseOthers(name, command, operands[0] ?? "", Object.keys(values));
    if (command.usage === undefined && operands.length > 0) {
      throw new OperatorError(`waggle ${name} takes no ${operands[0]}`);
    }
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

function helpOf(command: Command | undefined): string {
  const { usage, isCall } = command ?? {};
  if (usage === undefined) return helpText();
  return isCall ? usage : `${usage}\nwaggle --help lists the settings, such as --database-url.`;
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
    "waggle COMMAND --help shows the words and flags of a command.",
    "",
    "Flags, each also an environment variable:",
    ...settingLines,
    "",
    "Model providers of the deployment, by variables alone:",
    ...providerVariables.map(([name, names]) => `  ${name.padEnd(22)}${names.join(", ")}`),
  ].join("\n");
}

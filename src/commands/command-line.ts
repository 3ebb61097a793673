// The command line: waggle start | start-once | serve | worker | migrate | doctor | keys |
// members | sign-in-link | audit | provider-credentials | prices | import | events | datasets |
// runs | mcp. Each command is one file in commands/.

import { parseArgs } from "node:util";
import { OperatorError } from "../base/operator-error.ts";
import { packageVersion } from "../base/package-version.ts";
import { type Command, type CommandModule, print } from "./command.ts";
import { ConfigError, readConfig, settings, variableOf } from "../config.ts";
import { providerVariables } from "../provider-settings.ts";

/** Flags of each command that calls a running service. Without --url two settings say where. */
const callFlags = ["host", "key-file", "port", "url"];
/** Flags that name a scope: of keys, and of members. */
const keyScopeFlags = ["org", "project", "workspace"];
const scopeFlags = [...keyScopeFlags, "dataplane"];

/** A command loads its module, and what that imports, when it is named. */
const commands: Readonly<Record<string, Command>> = {
  start: {
    summary: "everything on this machine (embedded Postgres), restarted after a crash",
    load: async () => {
      const { superviseService } = await import("./supervisor.ts");
      return { run: ({ words }) => superviseService(words) };
    },
  },
  "start-once": { summary: "the same, without restarts", load: () => import("./start.ts") },
  serve: { summary: "the service alone, on DATABASE_URL", load: () => import("./serve.ts") },
  worker: {
    summary: "workflows alone, on DATABASE_URL and TEMPORAL_ADDRESS",
    load: () => import("./worker.ts"),
  },
  migrate: { summary: "bring the database up to date", load: () => import("./migrate.ts") },
  doctor: {
    summary: "check what the service needs and say what to do",
    load: () => import("./doctor.ts"),
  },
  keys: {
    summary: "create, list or revoke API keys",
    acts: {
      create: [...keyScopeFlags, "expires-in-days", "kind", "name", "permissions"],
      list: keyScopeFlags,
      revoke: ["with-created"],
    },
    load: () => import("./keys.ts"),
  },
  members: {
    summary: "give and take roles of people",
    acts: {
      add: [...scopeFlags, "email", "role"],
      list: scopeFlags,
      release: ["email"],
      remove: [...scopeFlags, "email"],
    },
    load: () => import("./members.ts"),
  },
  "sign-in-link": {
    summary: "a link that signs the administrator in",
    load: () => import("./sign-in-link.ts"),
  },
  audit: {
    summary: "verify the audit log's chains",
    flags: ["org"],
    load: () => import("./audit.ts"),
  },
  prices: {
    summary: "estimate the costs of stored events anew: recost",
    flags: ["apply", "from", "project", "to"],
    load: () => import("./prices.ts"),
  },
  import: {
    summary: "move exports of langfuse, phoenix, langsmith, otlp or waggle into a project",
    isCall: true,
    flags: ["dry-run", "format", "report"],
    load: () => import("./import.ts"),
  },
  events: {
    summary: "search, export or follow events of a running service",
    isCall: true,
    flags: ["fields"],
    acts: { export: ["from", "to"], search: ["from", "limit", "to"], tail: [] },
    load: () => import("./events.ts"),
  },
  datasets: {
    summary: "list, export or import datasets of a running service",
    isCall: true,
    acts: {
      export: ["format"],
      import: ["format", "ground-truth", "history", "inputs"],
      list: ["limit"],
    },
    load: () => import("./datasets.ts"),
  },
  runs: {
    summary: "list, read or compare experiment runs of a running service",
    isCall: true,
    acts: { compare: [], list: ["limit"], result: [], usage: [] },
    load: () => import("./runs.ts"),
  },
  mcp: {
    summary: "tools for an agent that reads traces (MCP on standard input)",
    isCall: true,
    load: () => import("./mcp.ts"),
  },
  "provider-credentials": {
    summary: "put stored secrets under the first encryption key: rotate",
    load: () => import("./provider-credentials.ts"),
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
  version: { type: "boolean" },
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

/** Flags that may be given twice: the last value counts, so that a script can replace another's. */
const replaceable = new Set([...callFlags, ...settings.map(({ flag }) => flag)]);

/** Throws for a flag that is given twice where all but its last value would be lost. */
function refuseRepeated(given: readonly string[]) {
  const isOne = (name: string) => {
    const option: Readonly<Record<string, unknown>> = flagOptions[name as keyof typeof flagOptions];
    return option["type"] === "string" && option["multiple"] !== true && !replaceable.has(name);
  };
  const repeated = given.find((name, index) => given.indexOf(name) < index && isOne(name));
  if (repeated === undefined) return;
  throw new OperatorError(`--${repeated} is given more than once; only the last value would count`);
}

/** Settings that may be given without a value, which turns them off. */
const emptiable = new Set(
  settings.flatMap(({ flag, fallback }) => (fallback === "" ? [flag] : [])),
);

/** Throws for a flag without its value, such as `--project=$PROJECT` where that is not set. */
function refuseEmpty(given: readonly { readonly name: string; readonly value: unknown }[]) {
  const empty = given.find(({ name, value }) => value === "" && !emptiable.has(name));
  if (empty)
    throw new OperatorError(`--${empty.name} needs a value; the one that is given is empty`);
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
    if (!command) {
      // Output that a script keeps must not be the help.
      if (name !== "") throw new ConfigError(`no command ${name}; waggle --help lists them`);
      const isVersion = values.version === true;
      print(isVersion ? `waggle ${packageVersion()}` : helpText());
      return isVersion || values.help === true ? 0 : usageExitCode;
    }
    const { run, usage } = await command.load();
    if (values.help === true) {
      print(helpOf(command, usage));
      return 0;
    }
    refuseOthers(name, command, operands[0] ?? "", Object.keys(values));
    const options = tokens.filter((token) => token.kind === "option");
    refuseRepeated(options.map((option) => option.name));
    refuseEmpty(options);
    if (usage === undefined && operands.length > 0) {
      throw new OperatorError(`waggle ${name} takes no ${operands[0]}`);
    }
    const nameIndex = tokens.find(({ kind }) => kind === "positional")?.index;
    const words = args.filter((_, index) => index !== nameIndex);
    return await run({ config: readConfig(values), flags: values, operands, words });
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

function helpOf({ isCall }: Command, usage: CommandModule["usage"]): string {
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
    "waggle COMMAND --help shows the words and flags of a command, waggle --version the version.",
    "",
    "Flags, each also an environment variable:",
    ...settingLines,
    "",
    "Model providers of the deployment, by variables alone:",
    ...providerVariables.map(([name, names]) => `  ${name.padEnd(22)}${names.join(", ")}`),
  ].join("\n");
}

// `waggle import`: moves exports of other services into a project of a running service.
// Source: docs/moving-in.md.

import { readFile, writeFile } from "node:fs/promises";
import { OperatorError } from "../base/operator-error.ts";
import { type Flags, readApiKey } from "../config.ts";
import { print } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { createClient } from "./import/client.ts";
import { importFiles } from "./import/importer.ts";
import { mapLangfuse } from "./import/langfuse.ts";
import { mapLangSmith } from "./import/langsmith.ts";
import type { Mapper } from "./import/mapping.ts";
import { mapOtlp } from "./import/otlp.ts";
import { mapPhoenix } from "./import/phoenix.ts";
import { createReport, formatReport, type Report } from "./import/report.ts";
import { interruptibly } from "./interruption.ts";

const usage = `usage:
  waggle import --format langfuse|phoenix|langsmith|otlp [--url URL] [--key-file FILE]
      [--report FILE] [--dry-run] FILE...
      FILE is JSON Lines, or a JSON list, and may be gzipped. The key is a project key, from
      --key-file or WAGGLE_API_KEY. Running it again changes nothing.`;

const mappers: Readonly<Record<string, Mapper>> = {
  langfuse: mapLangfuse,
  langsmith: mapLangSmith,
  otlp: mapOtlp,
  phoenix: mapPhoenix,
};

const progressMs = 5_000;

/** Runs the command; the exit code is 1 if a record was rejected. */
export async function runImport({ config, flags, operands }: CommandContext): Promise<number> {
  const format = textFlag(flags, "format") ?? "";
  const mapper = Object.hasOwn(mappers, format) ? mappers[format] : undefined;
  if (mapper === undefined || operands.length === 0) throw new OperatorError(usage);
  const isDryRun = flags["dry-run"] === true;
  const url = textFlag(flags, "url") ?? `http://${config.host}:${config.port}`;
  if (!URL.canParse(url)) throw new OperatorError(`--url must be an address\n${usage}`);
  const key = isDryRun ? "" : await readKey(textFlag(flags, "key-file"));
  const report = createReport(format, operands, isDryRun);
  const timer = setInterval(() => printProgress(report), progressMs);
  try {
    await interruptibly(async (signal) => {
      const client = isDryRun ? undefined : createClient({ url, key, signal });
      await importFiles(operands, { mapper, report, client });
    });
  } finally {
    clearInterval(timer);
    for (const line of formatReport(report)) print(line);
    const path = textFlag(flags, "report");
    if (path !== undefined) await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
  }
  return report.records.rejected > 0 ? 1 : 0;
}

function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

async function readKey(path: string | undefined): Promise<string> {
  const text = path === undefined ? readApiKey() : await readFile(path, "utf8").catch(explain);
  const key = text?.trim() ?? "";
  if (key === "") throw new OperatorError(`give a key by --key-file or WAGGLE_API_KEY\n${usage}`);
  return key;
}

function explain(cause: Error): never {
  throw new OperatorError(`cannot read --key-file: ${cause.message}`, { cause });
}

function printProgress({ records }: Report): void {
  const { read, stored, already_stored: already, rejected } = records;
  print(`${read} read, ${stored} stored, ${already} already stored, ${rejected} rejected…`);
}

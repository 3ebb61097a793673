// `waggle import`: moves exports of other services, or of another Waggle, into a project of a
// running service. Source: docs/moving-in.md.

import { appendFile, writeFile } from "node:fs/promises";
import { OperatorError } from "../base/operator-error.ts";
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
import { endLine, mapWaggle } from "./import/waggle.ts";
import { standardInput } from "./input.ts";
import { interruptibly, orAborted } from "./interruption.ts";
import { readCallOptions, textFlag } from "./service-call.ts";

const usage = `usage:
  waggle import --format langfuse|phoenix|langsmith|otlp|waggle [--url URL] [--key-file FILE]
      [--report FILE] [--dry-run] FILE...
      FILE is JSON Lines, or a JSON list, and may be gzipped; - is standard input. The key is a
      project key, from --key-file or WAGGLE_API_KEY. Running it again changes nothing. Format
      waggle is what "waggle events export" writes.`;

type Format = {
  readonly mapper: Mapper;
  /** The last line of an export, which says how many records it has. */
  readonly endLine?: string;
};

const formats: Readonly<Record<string, Format>> = {
  langfuse: { mapper: mapLangfuse },
  langsmith: { mapper: mapLangSmith },
  otlp: { mapper: mapOtlp },
  phoenix: { mapper: mapPhoenix },
  waggle: { mapper: mapWaggle, endLine },
};

const progressMs = 5_000;

/** Runs the command; the exit code is 1 if a record was rejected. */
export async function runImport({ config, flags, operands }: CommandContext): Promise<number> {
  const name = textFlag(flags, "format") ?? "";
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format === undefined || operands.length === 0) throw new OperatorError(usage);
  if (operands.indexOf(standardInput) !== operands.lastIndexOf(standardInput)) {
    throw new OperatorError("- is standard input, which can be read only once");
  }
  const isDryRun = flags["dry-run"] === true;
  const service = isDryRun ? undefined : await readCallOptions(config, flags);
  const path = textFlag(flags, "report");
  // Before anything is stored; what the file has stays until there is a new report.
  if (path !== undefined) await appendFile(path, "").catch(failReport);
  const report = createReport(name, operands, isDryRun);
  const timer = setInterval(() => printProgress(report), progressMs);
  try {
    await interruptibly(async (signal) => {
      const client = service && createClient({ ...service, signal });
      // Standard input may wait for as long as its writer does.
      await orAborted(importFiles(operands, { ...format, report, client }), signal);
    });
  } catch (cause) {
    if (isDryRun || report.records.read === 0 || !(cause instanceof OperatorError)) throw cause;
    throw new OperatorError(
      `${cause.message}; what was stored before stays, and running it again stores nothing twice`,
      { cause },
    );
  } finally {
    clearInterval(timer);
    for (const line of formatReport(report)) print(line);
    if (path !== undefined) {
      await writeFile(path, `${JSON.stringify(report, null, 2)}\n`).catch(failReport);
    }
  }
  return report.records.rejected > 0 ? 1 : 0;
}

function failReport(cause: Error): never {
  throw new OperatorError(`cannot write --report: ${cause.message}`, { cause });
}

function printProgress({ records }: Report): void {
  const { read, stored, already_stored: already, rejected } = records;
  print(`${read} read, ${stored} stored, ${already} already stored, ${rejected} rejected…`);
}

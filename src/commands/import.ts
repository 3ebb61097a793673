// `waggle import`: moves exports of other services, or of another Waggle, into a project of a
// running service. Source: docs/moving-in.md.

import { writeFile } from "node:fs/promises";
import { OperatorError } from "../base/operator-error.ts";
import { type CommandContext, print } from "./command.ts";
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

export const usage = `usage:
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
export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  const name = textFlag(flags, "format");
  if (name === undefined || operands.length === 0) throw new OperatorError(usage);
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format === undefined) {
    const known = Object.keys(formats).join(", ");
    throw new OperatorError(`no format ${JSON.stringify(name)}; there are ${known}`);
  }
  if (operands.indexOf(standardInput) !== operands.lastIndexOf(standardInput)) {
    throw new OperatorError("- is standard input, which can be read only once");
  }
  const isDryRun = flags["dry-run"] === true;
  const service = isDryRun ? undefined : await readCallOptions(config, flags);
  const report = createReport(name, operands, isDryRun);
  const reportPath = textFlag(flags, "report");
  // Writes the report before anything is stored, so that an unwritable path fails at once.
  await writeReport(reportPath, report);
  const timer = setInterval(() => printProgress(report), progressMs);
  const work = interruptibly(async (signal) => {
    const client = service && createClient({ ...service, signal, onWait: printWait });
    // Standard input may wait for as long as its writer does.
    await orAborted(importFiles(operands, { ...format, report, client }), signal);
  });
  const failure = await work.then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
  clearInterval(timer);
  for (const line of formatReport(report)) print(line);
  const written = writeReport(reportPath, report);
  if (failure === undefined) {
    await written;
    return report.records.rejected > 0 ? 1 : 0;
  }
  await written.catch((cause: unknown) => {
    process.stderr.write(`waggle: ${(cause as Error).message}\n`);
  });
  throw isDryRun || report.records.read === 0 ? failure.cause : withWhatStays(failure.cause);
}

function withWhatStays(cause: unknown): unknown {
  if (!(cause instanceof OperatorError)) return cause;
  const stays = "what was stored before stays, and running it again stores nothing twice";
  return new OperatorError(`${cause.message}; ${stays}`, { cause });
}

async function writeReport(path: string | undefined, report: Report): Promise<void> {
  if (path === undefined) return;
  await writeFile(path, `${JSON.stringify(report, null, 2)}\n`).catch((cause: unknown) => {
    throw new OperatorError(`cannot write --report: ${(cause as Error).message}`, { cause });
  });
}

function printWait(why: string, waitMs: number): void {
  print(`${why}; the next try is in ${(waitMs / 1_000).toFixed(1)} s…`);
}

function printProgress({ records }: Report): void {
  const { read, stored, already_stored: already, rejected } = records;
  print(`${read} read, ${stored} stored, ${already} already stored, ${rejected} rejected…`);
}

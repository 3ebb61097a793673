// `waggle prices recost`: estimates the costs of a project's stored model events with the prices
// that hold in it now, and reports costs before and after.
// Source: docs/decisions.md, 18.2; docs/generations.md.

import { parseTimeMs } from "../base/iso-time.ts";
import { OperatorError } from "../base/operator-error.ts";
import type { Config, Flags } from "../config.ts";
import { readProjectPrices } from "../generation/model-prices/model-prices.ts";
import { recost, type Recosted, type RecostReport } from "../generation/prices/recost.ts";
import type { Database } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { type CommandContext, print, printTable } from "./command.ts";
import { withDatabase, withUrl } from "./database.ts";
import { interruptibly } from "./interruption.ts";
import { getLocalProject } from "./local-project.ts";

export const usage = `usage:
  waggle prices recost --project NAME-OR-ID --from TIME --to TIME [--apply]
      TIME is ISO 8601 (2026-01-31, 2026-01-31T12:00Z) or Unix milliseconds, of the events' start;
      --from is included, --to is not. Without --apply nothing is changed.`;

export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  const [name, ...others] = operands;
  if (name !== "recost" || others.length > 0) throw new OperatorError(usage);
  const span = { fromUs: parseTimeUs(flags, "from"), toUs: parseTimeUs(flags, "to") };
  if (span.fromUs >= span.toUs) throw new OperatorError(`--from must be before --to\n${usage}`);
  const nameOrId = flags["project"];
  if (typeof nameOrId !== "string") throw new OperatorError(`--project is required\n${usage}`);
  const applies = flags["apply"] === true;
  await withDatabase(config, async (control) => {
    await assertMigrated(control);
    const { projectId, clusterId } = await getLocalProject(control, nameOrId);
    const { pricing } = await readProjectPrices(control.sql(), projectId, config.prices);
    const { estimateCost, priceTable } = pricing;
    const report = await withCluster(config, clusterId, control, (database) =>
      recost({ database, projectId, span, estimateCost, applies }),
    );
    printReport(report, priceTable, applies);
  });
  return 0;
}

function parseTimeUs(flags: Flags, name: string): number {
  const timeMs = parseTimeMs(flags[name]);
  if (timeMs === undefined) throw new OperatorError(`--${name} must be a time\n${usage}`);
  return Math.round(timeMs * 1000);
}

/** Runs `work` on the project's cluster: the control database, unless the cluster has a URL. */
async function withCluster<T>(
  { clusters }: Config,
  clusterId: string,
  control: Database,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const url = clusters[clusterId];
  if (url === undefined && clusterId === "default") return work(control);
  if (url === undefined) {
    throw new OperatorError(
      `the project's events are in cluster ${clusterId}, which is not configured; give --clusters`,
    );
  }
  return interruptibly((signal) =>
    withUrl(url, signal, async (database) => {
      await assertMigrated(database);
      return work(database);
    }),
  );
}

function printReport(report: RecostReport, table: string, applies: boolean): void {
  const { models, total, reasons } = report;
  const titles = ["MODEL", "EVENTS", "BEFORE", "AFTER", "CHANGED", "UNKNOWN"];
  const rows = models.map(({ name, ...sums }) => toCells(name, sums));
  printTable([titles, ...rows, toCells("total", total)]);
  if (reasons.length > 0) print("\nprice not known:");
  for (const { reason, events } of reasons) print(`  ${events} × ${printable(reason)}`);
  print(`\nprice table: ${table}`);
  const count = `${total.changed} of ${total.events} estimates`;
  if (applies) print(`${count} were changed; metadata.cost is as its senders wrote it`);
  else print(`${count} would be changed; nothing was, without --apply`);
}

function toCells(name: string, sums: Recosted): readonly string[] {
  const { events, before, after, changed, unknown } = sums;
  const counts = [changed, unknown].map(String);
  return [printable(name), String(events), toDollars(before), toDollars(after), ...counts];
}

function toDollars(cost: number | null): string {
  return cost === null ? "unknown" : `$${cost.toFixed(6)}`;
}

/** Replaces control characters: model names come from senders and are printed to a terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, "�");
}

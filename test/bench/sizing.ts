// Machines, disks and money for rates of events, from measured costs of one event.

import { formatTable } from "./table.ts";

export type EventCosts = {
  readonly serviceUs: number;
  readonly postgresUs: number;
  readonly logBytes: number;
  readonly tableBytes: number;
};

/** Assumptions; docs/capacity.md gives their reasons. */
const assumed = {
  retentionDays: 30,
  /** Share of a processor that may be busy at the mean rate; peaks take the rest. */
  busy: 0.5,
  processorsOfPostgres: 16,
  /** Part of the events that come one by one; SDKs and exporters send the rest in batches. */
  singles: 0.1,
  /** Usable size of a Postgres node's disk. */
  diskTb: 8,
  /** US dollars a month, as large clouds list them without commitment. */
  processorUsd: 30,
  diskUsdPerTb: 100,
};

const rates = [1_000, 10_000, 100_000, 1_000_000];

/** Returns the table of machines for events that come singly and in batches. */
export function sizeFor(single: EventCosts, batch: EventCosts): string {
  const { singles, busy, processorsOfPostgres, retentionDays, diskTb } = assumed;
  const mean = (name: keyof EventCosts) => batch[name] * (1 - singles) + single[name] * singles;
  const rows = rates.map((rate) => {
    // A server is one Node process, which uses about one processor.
    const servers = Math.max(2, Math.ceil((rate * mean("serviceUs")) / 1e6 / busy));
    const processors = Math.max(2, Math.ceil((rate * mean("postgresUs")) / 1e6 / busy));
    const storedTb = (rate * mean("tableBytes") * 86_400 * retentionDays) / 1e12;
    const nodes = Math.max(
      Math.ceil(processors / processorsOfPostgres),
      Math.ceil(storedTb / diskTb),
    );
    // A standby holds everything once more.
    const usd =
      (servers + 2 * Math.max(processors, 2 * nodes)) * assumed.processorUsd +
      2 * storedTb * assumed.diskUsdPerTb;
    return [
      `${rate.toLocaleString("en-US")}/s`,
      servers,
      processors,
      nodes,
      storedTb,
      (rate * mean("logBytes")) / 1e6,
      Math.round(usd).toLocaleString("en-US"),
    ];
  });
  const head = ["events", "servers", "Postgres processors", "Postgres nodes", "stored TB"];
  return formatTable([...head, "log MB/s", "US$ a month"], rows);
}

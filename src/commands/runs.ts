// `waggle runs list | result | usage | compare`: reads experiment runs of a service as JSON.

import { z } from "zod";
import { OperatorError } from "../base/operator-error.ts";
import { type CommandContext, print } from "./command.ts";
import { listPages } from "./list-pages.ts";
import { countFlag, readCallOptions } from "./service-call.ts";
import { createServiceClient, type ServiceClient } from "./service-client.ts";

export const usage = `usage:
  waggle runs list [--limit N]
  waggle runs result RUN_ID
  waggle runs usage RUN_ID
  waggle runs compare NEW_RUN_ID OLD_RUN_ID
      list prints all runs, or the newest N. --url, and --key-file or WAGGLE_API_KEY, say where
      and with which key.`;

type Act = {
  /** Number of ids that it takes. */
  readonly ids: number;
  toPath(ids: string[]): string;
  /** Some of the answer's fields: another service's answer does not have them. */
  readonly shape: z.ZodType;
};

const acts: Readonly<Record<string, Act>> = {
  result: {
    ids: 1,
    toPath: ([id]) => `/v1/runs/${id}/result`,
    shape: z.object({ run_object: z.object({ run_id: z.string() }), datapoints: z.array(z.any()) }),
  },
  usage: {
    ids: 1,
    toPath: ([id]) => `/v1/runs/${id}/usage`,
    shape: z.object({ sessions: z.number(), totals: z.object({ num_events: z.number() }) }),
  },
  compare: {
    ids: 2,
    toPath: ([now, before]) => `/v1/runs/${now}/compare-with/${before}`,
    shape: z.object({ metrics: z.array(z.any()), commonDatapoints: z.array(z.string()) }),
  },
};

/** Runs the command; the exit code is 0 unless the service refuses. */
export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  const [name = "", ...ids] = operands;
  const open = async () => createServiceClient(await readCallOptions(config, flags));
  if (name === "list" && ids.length === 0) {
    const limit = countFlag(flags, "limit");
    await list(await open(), limit);
    return 0;
  }
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
  if (act?.ids !== ids.length) throw new OperatorError(usage);
  const client = await open();
  const path = act.toPath(ids.map(encodeURIComponent));
  print(JSON.stringify(await client.readAs({ method: "GET", path }, act.shape)));
  return 0;
}

const runPage = z.object({
  evaluations: z.array(z.object({ run_id: z.string() })),
  pagination: z.object({ total: z.number() }),
  next_cursor: z.string().optional(),
  metrics: z.array(z.string()),
});
type RunPage = z.infer<typeof runPage>;
type Run = RunPage["evaluations"][number];

/** Maximum runs of a page. */
const pageRuns = 100;

async function list(client: ServiceClient, limit: number | undefined): Promise<void> {
  let last: RunPage | undefined;
  const { items, hasMore } = await listPages(
    limit,
    (run: Run) => run.run_id,
    async (cursor) => {
      const query = { cursor, limit: pageRuns };
      last = await client.readAs({ method: "GET", path: "/v1/runs", query }, runPage);
      return { items: last.evaluations, next: last.next_cursor };
    },
  );
  const total = last?.pagination.total ?? 0;
  const pagination = { total, has_next: hasMore };
  print(JSON.stringify({ evaluations: items, pagination, metrics: last?.metrics ?? [] }));
  if (hasMore) process.stderr.write(`${items.length} of ${total} runs\n`);
}

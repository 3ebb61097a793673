// `waggle runs list | result | compare`: reads experiment runs of a running service as JSON.

import { OperatorError } from "../base/operator-error.ts";
import type { CommandContext } from "./command.ts";
import { print } from "./command.ts";
import { readCallOptions } from "./service-call.ts";
import { createServiceClient } from "./service-client.ts";

const usage = `usage:
  waggle runs list
  waggle runs result RUN_ID
  waggle runs compare NEW_RUN_ID OLD_RUN_ID
      --url, and --key-file or WAGGLE_API_KEY, say where and with which key.`;

/** Paths by act, with the number of ids that each takes. */
const acts: Readonly<Record<string, { readonly ids: number; toPath(ids: string[]): string }>> = {
  list: { ids: 0, toPath: () => "/v1/runs" },
  result: { ids: 1, toPath: ([id]) => `/v1/runs/${id}/result` },
  compare: { ids: 2, toPath: ([now, before]) => `/v1/runs/${now}/compare-with/${before}` },
};

/** Runs the command; the exit code is 0 unless the service refuses. */
export async function runRuns({ config, flags, operands }: CommandContext): Promise<number> {
  const [name = "", ...ids] = operands;
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
  if (act?.ids !== ids.length) throw new OperatorError(usage);
  const client = createServiceClient(await readCallOptions(config, flags));
  print(await client.read({ method: "GET", path: act.toPath(ids.map(encodeURIComponent)) }));
  return 0;
}

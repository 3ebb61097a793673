// `npm run bench -- servers`: one `serve` against two on the same Postgres, at the same load. All
// processes share the processors of this machine; the processor time of each tells what two servers
// would gain where Postgres and the senders have machines of their own.

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type LoadName, loads } from "./loads.ts";
import { cpuSecondsOf, cpuSecondsOfTree } from "./processes.ts";
import { runLoad } from "./run-load.ts";
import { becomeReady, type BenchService, runWaggle, startService, terminate } from "./service.ts";
import { describeMachine, formatTable, median } from "./table.ts";

export type ServersOptions = {
  readonly rounds: number;
  /** Events per round of the first load; the other has a share of it. */
  readonly events: number;
};

type Plan = { readonly load: LoadName; readonly title: string; readonly share: number };

const plans: readonly Plan[] = [
  { load: "batch-2k", title: "POST /events/batch, 100 × 2 KB", share: 1 },
  { load: "single-2k", title: "POST /events, 1 × 2 KB", share: 0.15 },
];

/** Senders, each a process; with two servers each has its own. */
const senders = 2;
const connectionsEach = 4;

type Server = { readonly url: string; readonly pid: number; stop(): Promise<void> };

type Measured = {
  readonly eventsPerSecond: number;
  /** Processor microseconds an event. */
  readonly serverUs: number;
  readonly postgresUs: number;
  readonly senderUs: number;
};

export async function benchServers({ rounds, events }: ServersOptions): Promise<void> {
  console.log(describeMachine());
  const service = await startService();
  const servers: Server[] = [];
  try {
    for (let count = 0; count < senders; count += 1) {
      servers.push(await startServer(service, `server-${count}`));
    }
    let firstEvent = 0;
    for (const { load, title, share } of plans) {
      const requests = Math.ceil((events * share) / loads[load].events / senders);
      const ones: Measured[] = [];
      const twos: Measured[] = [];
      // The first round warms up code and caches and is not counted.
      for (let round = 0; round <= rounds; round += 1) {
        for (const [used, kept] of [
          [servers.slice(0, 1), ones],
          [servers, twos],
        ] as const) {
          const measured = await measure({ service, servers: used, load, requests, firstEvent });
          firstEvent += senders * requests * loads[load].events;
          if (round > 0) kept.push(measured);
        }
      }
      console.log(`\n${title}\n\n${formatTable(head, [row("one", ones), row("two", twos)])}`);
      console.log(describeGain(ones, twos));
    }
  } finally {
    for (const server of servers) await server.stop();
    await service.stop();
  }
}

type Measure = {
  readonly service: BenchService;
  readonly servers: readonly Server[];
  readonly load: LoadName;
  readonly requests: number;
  readonly firstEvent: number;
};

async function measure(options: Measure): Promise<Measured> {
  const { service, servers, load, requests, firstEvent } = options;
  const before = await cpuOf(options);
  const results = await Promise.all(
    Array.from({ length: senders }, (_, at) =>
      runLoad({
        load,
        requests,
        connections: connectionsEach,
        url: servers[at % servers.length]?.url ?? "",
        key: service.credentials.project_api_key,
        firstEvent: firstEvent + at * requests * loads[load].events,
      }),
    ),
  );
  // Without the start of the senders, which takes as long as a short round.
  const seconds = Math.max(...results.map((result) => result.seconds));
  const after = await cpuOf(options);
  const stored = results.reduce((sum, result) => sum + result.events, 0);
  const usOf = (cpuSeconds: number) => (cpuSeconds / stored) * 1e6;
  return {
    eventsPerSecond: stored / seconds,
    serverUs: usOf(after.servers - before.servers),
    postgresUs: usOf(after.postgres - before.postgres),
    senderUs: usOf(results.reduce((sum, result) => sum + result.cpuSeconds, 0)),
  };
}

async function cpuOf({ service, servers }: Measure) {
  const each = await Promise.all(servers.map(({ pid }) => cpuSecondsOf(pid)));
  return {
    servers: each.reduce((sum, one) => sum + one, 0),
    postgres: await cpuSecondsOfTree(service.postgresPid),
  };
}

const head = ["servers", "events/s", "µs servers", "µs Postgres", "µs senders", "processors"];

function row(name: string, rounds: readonly Measured[]): (string | number)[] {
  const { eventsPerSecond, serverUs, postgresUs, senderUs } = medians(rounds);
  const used = (eventsPerSecond * (serverUs + postgresUs + senderUs)) / 1e6;
  return [name, eventsPerSecond, serverUs, postgresUs, senderUs, used];
}

function medians(rounds: readonly Measured[]): Measured {
  const of = (name: keyof Measured) => median(rounds.map((round) => round[name]));
  return {
    eventsPerSecond: of("eventsPerSecond"),
    serverUs: of("serverUs"),
    postgresUs: of("postgresUs"),
    senderUs: of("senderUs"),
  };
}

/**
 * Says what two servers gain here and elsewhere. Elsewhere each server has a processor, and
 * Postgres as many as this machine: whichever is full first is the limit.
 */
function describeGain(ones: readonly Measured[], twos: readonly Measured[]): string {
  const [one, two] = [medians(ones), medians(twos)];
  const ratio = two.eventsPerSecond / one.eventsPerSecond;
  const postgres = (availableParallelism() * 1e6) / two.postgresUs;
  const alone = Math.min(1e6 / one.serverUs, postgres);
  const both = Math.min(2e6 / two.serverUs, postgres);
  return (
    `\ntwo servers against one here: ${ratio.toFixed(2)}\n` +
    `with Postgres and the senders elsewhere, from processor time: one ` +
    `${Math.round(alone)} events/s, two ${Math.round(both)}: ${(both / alone).toFixed(2)}; ` +
    `Postgres on ${availableParallelism()} processors is full at ${Math.round(postgres)} events/s`
  );
}

async function startServer({ databaseUrl, folder }: BenchService, name: string): Promise<Server> {
  const logPath = join(folder, `${name}.log`);
  const words = ["serve", "--database-url", databaseUrl, "--shutdown-delay-ms", "0"];
  const child = await runWaggle(words, { logPath });
  const url = await becomeReady(child, logPath);
  return { url, pid: child.pid ?? 0, stop: () => terminate(child) };
}

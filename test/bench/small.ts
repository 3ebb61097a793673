// `npm run bench -- small`: writes of one event a request, beside plain single-row inserts into the
// same table over as many connections of the same driver, in rounds that alternate.

import { migrate } from "../../src/postgres/migrate.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { type InsertResult, runInserts } from "./inserts.ts";
import { type LoadName, newRun } from "./loads.ts";
import { cpuSecondsOf, cpuSecondsOfTree } from "./processes.ts";
import { runLoad } from "./run-load.ts";
import { type BenchService, startService } from "./service.ts";
import { describeMachine, formatTable, median } from "./table.ts";

export type SmallOptions = {
  readonly rounds: number;
  /** Writes of a round over 8 connections; a round over one has a quarter. */
  readonly events: number;
  readonly nodeFlags: readonly string[];
};

const kinds: readonly { readonly load: LoadName; readonly title: string }[] = [
  { load: "single-2k", title: "POST /events, 2 KB" },
  { load: "update", title: "PUT /events" },
  { load: "session-start", title: "POST /session/start" },
];

/**
 * The writes of a round in order, with an `Idempotency-Key` each at the end: an update changes the
 * events that `single-2k` stored.
 */
const writes = [
  ...kinds.map((kind) => ({ ...kind, hasKeys: false })),
  ...kinds.map(({ load, title }) => ({ load, title: `${title}, with a key`, hasKeys: true })),
];

type Write = {
  readonly speed: number;
  readonly p50Ms: number;
  readonly serviceCpu: number;
  readonly postgresCpu: number;
};

type Round = { readonly inserts: Write; readonly writes: readonly Write[] };

const databaseName = "bench_inserts";

export async function benchSmall(options: SmallOptions): Promise<void> {
  console.log(describeMachine());
  const service = await startService(options.nodeFlags);
  try {
    const insertUrl = await createInsertDatabase(service.databaseUrl);
    let firstEvent = 0;
    for (const connections of [8, 1]) {
      const requests = Math.ceil(options.events / (connections === 1 ? 4 : 1));
      const rounds: Round[] = [];
      // The first round warms up code and caches and is not counted.
      for (let number = 0; number <= options.rounds; number += 1) {
        const inserts = await measure(service, requests, () =>
          runInserts({ url: insertUrl, connections, requests }),
        );
        const measured = await sendWrites(service, { connections, requests, firstEvent });
        firstEvent += 4 * requests;
        if (number > 0) rounds.push({ inserts, writes: measured });
      }
      console.log(`\n${connections} connections:\n${formatTable(head, rowsOf(rounds))}`);
    }
  } finally {
    await service.stop();
  }
}

async function createInsertDatabase(url: string): Promise<string> {
  const source = openDatabase({ url, connectionsMax: 1 });
  await source.sql().unsafe(`create database ${databaseName}`);
  await source.close();
  const target = new URL(url);
  target.pathname = `/${databaseName}`;
  const database = openDatabase({ url: target.toString(), connectionsMax: 1 });
  await migrate(database);
  await database.close();
  return target.toString();
}

async function sendWrites(
  service: BenchService,
  job: { readonly connections: number; readonly requests: number; readonly firstEvent: number },
): Promise<readonly Write[]> {
  const { url, project_api_key: key } = service.credentials;
  const run = newRun();
  const measured: Write[] = [];
  for (const { load, hasKeys } of writes) {
    // Sessions of their own: the session of an event exists once the event is stored.
    const jobsBefore = (load === "session-start" ? 1 : 0) + (hasKeys ? 2 : 0);
    const firstEvent = job.firstEvent + jobsBefore * job.requests;
    const send = () => runLoad({ ...job, load, url, key, run, firstEvent, hasKeys });
    measured.push(await measure(service, job.requests, send));
  }
  return measured;
}

async function measure(
  service: BenchService,
  requests: number,
  send: () => Promise<InsertResult>,
): Promise<Write> {
  const cpuOf = () =>
    Promise.all([cpuSecondsOf(service.pid), cpuSecondsOfTree(service.postgresPid)]);
  const [serviceBefore, postgresBefore] = await cpuOf();
  const { seconds, p50Ms } = await send();
  const [serviceAfter, postgresAfter] = await cpuOf();
  return {
    speed: requests / seconds,
    p50Ms,
    serviceCpu: ((serviceAfter - serviceBefore) / requests) * 1e6,
    postgresCpu: ((postgresAfter - postgresBefore) / requests) * 1e6,
  };
}

const head = ["", "writes/s", "ratio", "p50 ms", "added ms", "service µs", "Postgres µs"];

/** Returns a row for the inserts and one for each write; ratios are taken within a round. */
function rowsOf(rounds: readonly Round[]): (string | number)[][] {
  const row = (title: string, of: (round: Round) => Write): (string | number)[] => [
    title,
    median(rounds.map((round) => of(round).speed)),
    median(rounds.map((round) => of(round).speed / round.inserts.speed)),
    median(rounds.map((round) => of(round).p50Ms)),
    median(rounds.map((round) => of(round).p50Ms - round.inserts.p50Ms)),
    median(rounds.map((round) => of(round).serviceCpu)),
    median(rounds.map((round) => of(round).postgresCpu)),
  ];
  return [
    row("plain insert", ({ inserts }) => inserts),
    ...writes.map(({ title }, index) => row(title, (round) => round.writes[index] as Write)),
  ];
}

// `npm run bench -- PART`: measures the service on this machine and prints tables; the usage below
// names the parts. docs/benchmarks.md keeps results.

import { parseArgs } from "node:util";
import { benchAccess } from "./access.ts";
import { benchBlocking } from "./blocking.ts";
import { benchCapacity } from "./capacity.ts";
import { benchCharts } from "./charts.ts";
import { benchCompare, compareLoads } from "./compare.ts";
import { benchEvaluate, evaluateParts } from "./evaluate.ts";
import { benchGateway, gatewayParts } from "./gateway.ts";
import { benchIngest } from "./ingest.ts";
import { loadNames } from "./loads.ts";
import { benchRead } from "./read.ts";
import { benchRuns } from "./runs.ts";
import { benchServers } from "./servers.ts";
import { benchSmall } from "./small.ts";
import { benchWeb } from "./web.ts";

const usage = `usage: npm run bench -- ingest [--rounds N] [--events N] [--only LOAD] [--node FLAG]…
       npm run bench -- small [--rounds N] [--events N] [--node FLAG]…
       npm run bench -- read [--runs N] [--events N] [--node FLAG]…
       npm run bench -- charts [--runs N] [--events N] [--node FLAG]…
       npm run bench -- capacity [--rounds N] [--events N]
       npm run bench -- servers [--rounds N] [--events N]
       npm run bench -- runs [--runs N] [--events DATAPOINTS] [--node FLAG]…
       npm run bench -- access [--rounds N] [--runs N]
       npm run bench -- gateway [--rounds N] [--requests N] [--seconds N] [--only PART]
                                 [--node FLAG]…
       npm run bench -- evaluate [--rounds N] [--runs N] [--events N] [--seconds N] [--only PART]
       npm run bench -- blocking [--rounds N]
       npm run bench -- web [--events N] [--seconds N]
       npm run bench -- compare --tree FOLDER [--rounds N] [--events N] [--only LOAD]
loads: ${loadNames.join(", ")}; of compare also ${compareLoads.slice(loadNames.length).join(", ")};
parts of gateway: ${gatewayParts.join(", ")};
parts of evaluate: ${evaluateParts.join(", ")}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    runs: { type: "string", default: "7" },
    events: { type: "string" },
    requests: { type: "string", default: "50000" },
    seconds: { type: "string" },
    only: { type: "string" },
    tree: { type: "string", default: "." },
    node: { type: "string", multiple: true, default: [] },
  },
});

switch (positionals[0]) {
  case "ingest":
    await benchIngest({
      rounds: Number(values.rounds),
      events: Number(values.events ?? 40_000),
      only: loadNames.find((name) => name === values.only),
      nodeFlags: values.node,
    });
    break;
  case "small":
    await benchSmall({
      rounds: Number(values.rounds),
      events: Number(values.events ?? 4_000),
      nodeFlags: values.node,
    });
    break;
  case "read":
    await benchRead({
      runs: Number(values.runs),
      events: Number(values.events ?? 1_000_000),
      nodeFlags: values.node,
    });
    break;
  case "charts":
    await benchCharts({
      runs: 3 * Number(values.runs),
      events: Number(values.events ?? 1_000_000),
      nodeFlags: values.node,
    });
    break;
  case "capacity":
    await benchCapacity({
      rounds: Number(values.rounds),
      events: Number(values.events ?? 40_000),
    });
    break;
  case "servers":
    await benchServers({
      rounds: Number(values.rounds),
      events: Number(values.events ?? 40_000),
    });
    break;
  case "runs":
    await benchRuns({
      runs: 3 * Number(values.runs),
      datapoints: Number(values.events ?? 10_000),
      metrics: 5,
      nodeFlags: values.node,
    });
    break;
  case "access":
    await benchAccess({
      rounds: Number(values.rounds),
      requests: 3_000,
      revocations: 10 * Number(values.runs),
    });
    break;
  case "gateway":
    await benchGateway({
      rounds: Number(values.rounds),
      requests: Number(values.requests),
      seconds: Number(values.seconds ?? 20),
      only: gatewayParts.find((part) => part === values.only),
      nodeFlags: values.node,
    });
    break;
  case "evaluate":
    await benchEvaluate({
      rounds: Number(values.rounds),
      runs: Number(values.runs),
      events: Number(values.events ?? 20_000),
      seconds: Number(values.seconds ?? 60),
      only: evaluateParts.find((part) => part === values.only),
      nodeFlags: values.node,
    });
    break;
  case "blocking":
    await benchBlocking({ rounds: Number(values.rounds) });
    break;
  case "web":
    await benchWeb({
      sessions: 2_000,
      events: Number(values.events ?? 100_000),
      seconds: Number(values.seconds ?? 600),
    });
    break;
  case "compare":
    await benchCompare({
      tree: values.tree,
      rounds: Number(values.rounds),
      events: Number(values.events ?? 6_000),
      only: compareLoads.find((name) => name === values.only),
    });
    break;
  default:
    console.error(usage);
    process.exitCode = 2;
}

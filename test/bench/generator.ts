// The load generator, a separate process: keep-alive connections that each send the next request
// after the last answer. Takes a Job as its argument and prints a LoadResult.

import { connect } from "node:net";
import { type Load, type LoadName, loads, newRun } from "./loads.ts";
import { patch } from "./template.ts";

export type Job = {
  readonly load: LoadName;
  readonly url: string;
  readonly key: string;
  readonly connections: number;
  readonly requests: number;
  /** Number of the first event; each number has a different start time. */
  readonly firstEvent: number;
  /** Ends the ids of events, so that an update finds the events of an earlier job; default: new. */
  readonly run?: string;
  /** Sends each request with an Idempotency-Key of its own. */
  readonly hasKeys?: boolean;
};

export type LoadResult = {
  readonly events: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuSeconds: number;
};

const templatesEach = 4;

type Answer = { readonly status: number; readonly body: string };

async function main(job: Job): Promise<LoadResult> {
  const load = loads[job.load];
  const run = job.run ?? newRun();
  const { hostname, port } = new URL(job.url);
  const latencies: number[] = [];
  let sent = 0;

  async function work(number: number): Promise<void> {
    const send = await openConnection(hostname, Number(port));
    // Separate bodies per connection, since one may still be on its way when the next is written.
    const templates = Array.from({ length: templatesEach }, (_, seed) => {
      const body = load.body(number * templatesEach + seed + 1, run);
      return { ...body, head: headOf(job, load, body.bytes.length) };
    });
    ready += 1;
    await started;
    while (sent < job.requests) {
      const request = sent;
      sent += 1;
      const template = templates[request % templates.length];
      if (template === undefined) throw new Error("no template");
      patch(template, job.firstEvent + request * load.events);
      const key = job.hasKeys
        ? `idempotency-key: ${load.path}-${run}-${job.firstEvent + request}\r\n`
        : "";
      const begunAt = performance.now();
      const answer = await send(`${template.head}${key}\r\n`, template.bytes);
      latencies.push(performance.now() - begunAt);
      checkStored(answer);
    }
  }

  let ready = 0;
  let start = (): void => undefined;
  const started = new Promise<void>((resolve) => (start = resolve));
  const workers = Array.from({ length: job.connections }, (_, number) => work(number));
  while (ready < job.connections) await new Promise((resolve) => setTimeout(resolve, 5));
  const begunAt = performance.now();
  const cpu = process.cpuUsage();
  start();
  await Promise.all(workers);
  const seconds = (performance.now() - begunAt) / 1_000;
  const used = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? 0;
  return {
    events: job.requests * load.events,
    seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuSeconds: (used.user + used.system) / 1e6,
  };
}

/** Returns the headers of a request, without the empty line that ends them. */
function headOf(job: Job, { method, path, contentType }: Load, length: number): string {
  return (
    `${method ?? "POST"} ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${job.key}\r\n` +
    `content-type: ${contentType}\r\ncontent-length: ${length}\r\n`
  );
}

/** Throws unless everything was stored: partly stored batches and rejected spans are errors. */
function checkStored({ status, body }: Answer): void {
  const isStored = body === "" || /"success":true|"session_id":/.test(body);
  if (status === 200 && isStored) return;
  throw new Error(`the service answered ${status}: ${body.slice(0, 500)}`);
}

type Send = (head: string, body: Buffer) => Promise<Answer>;

/** Opens a connection that sends one request at a time and reads answers of a declared length. */
function openConnection(host: string, port: number): Promise<Send> {
  return new Promise((resolveOpen, rejectOpen) => {
    const socket = connect({ host, port, noDelay: true });
    let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
    let received: Buffer = Buffer.alloc(0);
    const fail = (error: Error): void => {
      rejectOpen(error);
      waiting?.reject(error);
    };
    socket.on("error", fail).on("close", () => fail(new Error("the service closed a connection")));
    socket.on("data", (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const answer = readAnswer(received);
      if (answer === undefined) return;
      received = Buffer.alloc(0);
      waiting?.resolve(answer);
    });
    socket.once("connect", () => {
      socket.unref();
      resolveOpen(
        (head, body) =>
          new Promise((resolve, reject) => {
            waiting = { resolve, reject };
            socket.ref();
            socket.cork();
            socket.write(head);
            socket.write(body);
            socket.uncork();
          }),
      );
    });
  });
}

function readAnswer(received: Buffer): Answer | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = received.toString("latin1", 0, headEnd);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  if (received.length < headEnd + 4 + length) return undefined;
  return { status: Number(head.slice(9, 12)), body: received.toString("latin1", headEnd + 4) };
}

const result = await main(JSON.parse(process.argv[2] ?? "") as Job);
process.stdout.write(JSON.stringify(result), () => process.exit(0));

// `npm run bench -- blocking`: the longest time for which one request holds the event loop, for the
// largest and costliest requests of each kind. Baseline of the same run: JSON.parse of the same
// bytes at once, which cannot be interrupted.

import { create, toBinary } from "@bufbuild/protobuf";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { batch, loads, newRun } from "./loads.ts";
import { findFreePort, readTimes } from "./operator.ts";
import { type BenchService, startService } from "./service.ts";
import { describeMachine, formatTable } from "./table.ts";
import { patch } from "./template.ts";

export type BlockingOptions = { readonly rounds: number };

type Request = {
  readonly name: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
};

const json = "application/json";

export async function benchBlocking({ rounds }: BlockingOptions): Promise<void> {
  console.log(describeMachine());
  const operatorPort = await findFreePort();
  const service = await startService([], ["--operator-port", String(operatorPort)]);
  const lagOf = async (): Promise<number> => (await readTimes(operatorPort)).lagMs;
  try {
    const rows: (string | number)[][] = [];
    for (const request of requests()) {
      const gaps: number[] = [];
      let status = "";
      for (let round = 0; round < rounds; round += 1) {
        await lagOf();
        status = await send(service, request);
        gaps.push(await lagOf());
      }
      const megabytes = request.body.length / 1e6;
      rows.push([request.name, megabytes, status, Math.max(...gaps), parseMs(request)]);
    }
    const head = ["request", "MB", "answer", "longest gap, ms", "JSON.parse at once, ms"];
    console.log(`\n${formatTable(head, rows)}\n`);
  } finally {
    await service.stop();
  }
}

function filled(load: ReturnType<typeof batch>): Buffer {
  const body = load.body(1, newRun());
  patch(body, 0);
  return body.bytes;
}

function requests(): readonly Request[] {
  const events = { path: "/events/batch", contentType: json };
  const connect = { path: "/waggle.v1.EventService/CreateEventBatch", contentType: json };
  const event = { event_type: "tool", source: "bench" };
  const list = Array.from({ length: 490_000 }, () => 0);
  const numbers = JSON.stringify({ events: [{ ...event, inputs: { list } }] });
  const text = JSON.stringify({
    events: [{ ...event, inputs: { text: "é".repeat(29_000_000) } }],
  });
  const escaped = JSON.stringify({
    events: [{ ...event, inputs: { text: "\\".repeat(29_000_000) + "\u0001" } }],
  });
  const empty = `{"events":[${"{},".repeat(99_999)}{}]}`;
  const small = filled(batch(60_000, 256));
  const spans = Buffer.concat(Array.from({ length: 200 }, () => filled(loads["otlp-2k"])));
  const message = toBinary(
    EventService.method.createEventBatch.input,
    create(EventService.method.createEventBatch.input, {
      events: Array.from({ length: 25_000 }, (_, index) => ({
        eventType: "tool",
        source: "bench",
        inputs: { index, text: "x".repeat(2_000) },
      })),
    }),
  );
  return [
    { ...events, name: "29,000 events of 2 KB, REST", body: filled(batch(29_000, 2_048)) },
    { ...connect, name: "29,000 events of 2 KB, Connect JSON", body: filled(batch(29_000, 2_048)) },
    {
      ...connect,
      name: "25,000 events of 2 KB, Connect Protobuf",
      contentType: "application/proto",
      body: Buffer.from(message),
    },
    { ...events, name: "60,000 small events, REST", body: small },
    { ...events, name: "100,000 empty events, REST", body: Buffer.from(empty) },
    { ...events, name: "one event of 490,000 numbers, REST", body: Buffer.from(numbers) },
    { ...events, name: "one event with a text of 58 MB, REST", body: Buffer.from(text) },
    { ...events, name: "the same of 29,000,000 backslashes, REST", body: Buffer.from(escaped) },
    { ...loads["otlp-2k"], name: "20,000 spans of 2 KB, OTLP", body: spans },
    {
      name: "a page of 3,000 events, REST",
      path: "/v1/events/export",
      contentType: json,
      body: Buffer.from(
        '{"limit":3000,"filters":[{"field":"source","operator":"is","value":"bench"}]}',
      ),
    },
  ];
}

async function send({ credentials }: BenchService, request: Request): Promise<string> {
  const response = await fetch(credentials.url + request.path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${credentials.project_api_key}`,
      "content-type": request.contentType,
    },
    body: request.body,
  });
  await response.arrayBuffer();
  return String(response.status);
}

function parseMs({ body, contentType }: Request): number | string {
  if (contentType !== json) return "";
  const startedAtMs = performance.now();
  JSON.parse(body.toString());
  return performance.now() - startedAtMs;
}

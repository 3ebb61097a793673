// `npm run demo [-- --url URL --key KEY]`: an agent's run traced by OpenTelemetry and logged again
// by REST, both read back from a running service and printed. Ends non-zero when anything that was
// sent is not there.

import { readFile } from "node:fs/promises";
import { parseArgs, styleText } from "node:util";
import { SpanStatusCode } from "@opentelemetry/api";
import { hrTimeToMilliseconds } from "@opentelemetry/core";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { callRest, is, readEvents, type ReadAccess } from "../support/read-back.ts";
import { runAgent, type Run } from "./agent.ts";
import { compare, type Expected, type Session } from "./compare.ts";
import { logRun } from "./rest-run.ts";
import { startTelemetry } from "./telemetry.ts";
import { formatTree } from "./tree.ts";

const credentialsPath = "data/credentials.json";

async function main(): Promise<void> {
  const access = await readAccess();
  await checkService(access);
  const { run, spans } = await traceAgent(access);
  const tokens = run.steps.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0);
  const faults: string[] = [];

  const traced = await readTraced(access, spans);
  const bySpan = (node: { readonly metadata?: Readonly<Record<string, unknown>> }) =>
    node.metadata?.["span_id"];
  print("The run, sent by the OpenTelemetry exporter", traced);
  faults.push(...compare(traced, expectSpans(spans, traced.session_id), tokens, bySpan));

  const { sessionId, expected } = await logRun(access, run);
  const logged = await callRest<Session>(access, "GET", `/v1/sessions/${sessionId}`);
  print("The same run, logged by REST", logged);
  faults.push(...compare(logged, expected, tokens, ({ event_id }) => event_id));

  if (faults.length > 0) throw new Error(`not everything is there:\n  ${faults.join("\n  ")}`);
  const count = spans.length + expected.length;
  console.log(`\n${styleText("green", "✓")} all ${count} events are there as they were sent`);
}

async function readAccess(): Promise<ReadAccess> {
  const { values } = parseArgs({ options: { url: { type: "string" }, key: { type: "string" } } });
  if (values.url !== undefined && values.key !== undefined) {
    return { url: values.url.replace(/\/$/, ""), key: values.key };
  }
  const text = await readFile(credentialsPath, "utf8").catch((cause: unknown) => {
    const hint = "start the service with npm start, or give --url URL and --key KEY";
    throw new Error(`there is no ${credentialsPath}: ${hint}`, { cause });
  });
  const { url, project_api_key } = JSON.parse(text) as { url: string; project_api_key: string };
  return { url: values.url ?? url, key: values.key ?? project_api_key };
}

async function checkService({ url }: ReadAccess): Promise<void> {
  await fetch(`${url}/readyz`).catch((cause: unknown) => {
    throw new Error(`nothing answers at ${url}: start the service with npm start`, { cause });
  });
}

async function traceAgent({ url, key }: ReadAccess) {
  const standIn = await startOpenAiStandIn();
  const telemetry = startTelemetry(url, key);
  try {
    const { OpenAI } = telemetry.openai;
    const openai = new OpenAI({ apiKey: "none", baseURL: standIn.url, maxRetries: 0 });
    const run: Run = await runAgent(openai, telemetry.tracer, "How is the weather in Paris?");
    const { spans, complaints } = await telemetry.finish();
    if (complaints.length > 0) throw new Error(`the exporter says: ${complaints.join("; ")}`);
    return { run, spans };
  } finally {
    await standIn.stop();
  }
}

/** The service makes the session of a trace; its id is learned from any event of the trace. */
async function readTraced(access: ReadAccess, spans: readonly ReadableSpan[]): Promise<Session> {
  const traceId = spans[0]?.spanContext().traceId;
  const [event] = await readEvents(access, [is("metadata.trace_id", traceId)]);
  if (!event) throw new Error(`no event of the trace ${traceId ?? ""} is there`);
  return callRest<Session>(access, "GET", `/v1/sessions/${event.session_id}`);
}

function expectSpans(spans: readonly ReadableSpan[], sessionId: string): readonly Expected[] {
  return spans.map((span) => ({
    id: span.spanContext().spanId,
    name: span.name,
    parentId: span.parentSpanContext?.spanId ?? sessionId,
    startMs: hrTimeToMilliseconds(span.startTime),
    isFailed: span.status.code === SpanStatusCode.ERROR,
  }));
}

function print(title: string, session: Session): void {
  const { num_events, num_errors, total_tokens } = session.totals;
  const totals = `${num_events} events, ${num_errors} failed, ${total_tokens} tokens`;
  console.log(`\n${styleText("bold", title)}  ${styleText("gray", session.session_id)}`);
  console.log(`  ${totals}\n`);
  console.log(formatTree(session));
}

try {
  await main();
} catch (error) {
  console.error(
    `${styleText("red", "✗")} ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exitCode = 1;
}

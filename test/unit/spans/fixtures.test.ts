// Exports recorded from published instrumentations become the events beside them.
// test/fixtures/otlp/README.md says how both are made.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ExportTraceServiceRequestSchema } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { parseTraces, writesOf } from "../../support/spans.ts";

const folder = join(import.meta.dirname, "../../fixtures/otlp");
const fixtures = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".json") && !path.endsWith(".events.json"))
  .sort();

describe.each(fixtures)("%s", (path) => {
  const body = readFileSync(join(folder, path));

  test("becomes the events beside it", async () => {
    const { writes, sessionNames, rejected } = await writesOf("application/json", body);

    expect(rejected).toEqual([]);
    const got = { sessionNames: Object.fromEntries(sessionNames), events: writes };
    const golden = join(folder, path.replace(/\.json$/, ".events.json"));
    await expect(`${JSON.stringify(got, null, 1)}\n`).toMatchFileSnapshot(golden);
  });

  test("gives the same events as Protobuf", async () => {
    const { request } = await parseTraces("application/json", body);
    const binary = toBinary(ExportTraceServiceRequestSchema, request);

    const got = await writesOf("application/x-protobuf", binary);

    expect(got).toEqual(await writesOf("application/json", body));
  });

  test("keeps every attribute it carries", async () => {
    const { writes } = await writesOf("application/json", body);

    const kept = JSON.stringify(writes);
    const lost = textsIn(body).filter((text) => !kept.includes(JSON.stringify(text).slice(1, -1)));

    expect(lost).toEqual([]);
  });
});

// Every plain text that an attribute of a span holds; JSON texts are read into their parts.
function textsIn(body: Buffer): string[] {
  const request = JSON.parse(body.toString("utf8")) as { resourceSpans: { scopeSpans: unknown }[] };
  const texts: string[] = [];
  const scopeSpans = JSON.stringify(request.resourceSpans.map((one) => one.scopeSpans));
  JSON.parse(scopeSpans, (key: string, value: unknown) => {
    if (key === "stringValue" && typeof value === "string" && !/^\s*[[{"]/.test(value)) {
      texts.push(value);
    }
    return value;
  });
  return texts;
}

// Files of deleted sessions for a bucket, as a server other than AWS's sees them, on loopback.
// Source: docs/retention.md.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createFileStore, findBucketFault } from "../../../src/tracing/retention/file-store.ts";
import { patience } from "../../support/patience.ts";

beforeEach(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "waggle");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", undefined);
  vi.stubEnv("AWS_CONFIG_FILE", "/nowhere");
});
afterEach(() => vi.unstubAllEnvs());

/** Starts a server; returns its origin. */
async function givenAServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function* bytes() {
  yield Buffer.from("a file");
}

test.each([
  { name: "the region of the machine", region: "garage", want: "garage" },
  { name: "us-east-1 where none is set", region: undefined, want: "us-east-1" },
])("requests are signed for $name", async ({ region, want }) => {
  vi.stubEnv("AWS_REGION", region);
  const signed: string[] = [];
  const endpoint = await givenAServer((request, response) => {
    signed.push(request.headers.authorization ?? "");
    request.resume().on("end", () => response.end());
  });
  const files = createFileStore({ bucket: "traces", prefix: "" }, endpoint);

  await files.put("a.parquet", bytes(), new AbortController().signal);

  expect(signed).toEqual([expect.stringMatching(`/${want}/s3/aws4_request`)]);
});

test("a file ends with its signal, though the server never answers", async () => {
  const asked = vi.fn<() => void>();
  const endpoint = await givenAServer(asked);
  const files = createFileStore({ bucket: "traces", prefix: "" }, endpoint);
  const stop = new AbortController();

  const putting = files.put("a.parquet", bytes(), stop.signal);
  const outcome = expect(putting).rejects.toThrow("aborted");
  await vi.waitUntil(() => asked.mock.calls.length > 0, patience);
  stop.abort();

  await outcome;
});

test.each([
  { name: "that answers", status: 200, code: undefined, want: undefined },
  { name: "that may not be listed", status: 403, code: "AccessDenied", want: undefined },
  {
    name: "that knows no such key",
    status: 403,
    code: "InvalidAccessKeyId",
    want: /AccessKeyId: no/,
  },
  { name: "that is not there", status: 404, code: "NoSuchBucket", want: /^NoSuchBucket: no/ },
])("a check of a bucket $name", async ({ status, code, want }) => {
  const asked: string[] = [];
  const endpoint = await givenAServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const fault = `<Error><Code>${code}</Code><Message>no</Message></Error>`;
    response.writeHead(status, { "content-type": "application/xml" });
    response.end(code === undefined ? "<ListBucketResult></ListBucketResult>" : fault);
  });

  const fault = await findBucketFault("traces", endpoint);

  expect(asked).toEqual(["GET /traces/?list-type=2&max-keys=1"]);
  if (want === undefined) expect(fault).toBeUndefined();
  else expect(fault).toMatch(want);
});

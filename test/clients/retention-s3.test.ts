// Files of deleted sessions in a bucket of an S3-compatible server: moto 5.2.1 from PyPI, over real
// HTTP. Source: docs/retention.md.

import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { CreateBucketCommand, GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createFileStore } from "../../src/tracing/retention/file-store.ts";
import { listRuns } from "../../src/tracing/retention/store.ts";
import { installPython, sayMissing, skipTestsWhere } from "./environment.ts";
import { programTimeoutMs } from "./program.ts";
import { createTestDatabase } from "../support/database.ts";
import { findFreePort } from "../support/free-port.ts";
import { patience } from "../support/patience.ts";
import { givenADeletion } from "../support/retention.ts";

let server: ChildProcess | undefined;
let endpoint: string;
let client: S3Client;
let missing: string | undefined;

beforeAll(async () => {
  const environment = await installPython("s3.txt");
  sayMissing("S3", environment);
  ({ missing } = environment);
  if (environment.missing !== undefined) return;
  const port = await findFreePort();
  endpoint = `http://127.0.0.1:${port}`;
  const program = join(environment.folder, "bin/moto_server");
  server = spawn(program, ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  await vi.waitUntil(() => fetch(endpoint).catch(() => undefined), patience);
  // The chain of AWS finds them, as on an operator's machine.
  vi.stubEnv("AWS_ACCESS_KEY_ID", "waggle");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: "traces" }));
}, programTimeoutMs);
afterAll(() => {
  vi.unstubAllEnvs();
  client?.destroy();
  server?.kill();
});
skipTestsWhere(() => missing);

async function readBytes(key: string): Promise<Uint8Array> {
  const { Body: body } = await client.send(new GetObjectCommand({ Bucket: "traces", Key: key }));
  return (await body?.transformToByteArray()) ?? new Uint8Array();
}

async function read(key: string): Promise<string> {
  return Buffer.from(await readBytes(key)).toString();
}

const { signal } = new AbortController();

async function* pieces(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
}

test("a file is an object under the prefix, and replaces one of the same name", async () => {
  const files = createFileStore({ bucket: "traces", prefix: "old/waggle" }, endpoint);

  await files.put("p/r/000001.parquet", pieces("cut", " off"), signal);
  const text = ["whole ", "séance ", "x".repeat(3_000_000)];
  await files.put("p/r/000001.parquet", pieces(...text), signal);

  const stored = await read("old/waggle/p/r/000001.parquet");
  expect(stored.slice(0, 13)).toBe("whole séance ");
  expect(stored).toHaveLength(13 + 3_000_000);
});

test("a bucket that is absent, and bytes that fail, are errors", async () => {
  const absent = createFileStore({ bucket: "no-such-bucket", prefix: "" }, endpoint);
  const files = createFileStore({ bucket: "traces", prefix: "" }, endpoint);
  async function* failing() {
    yield Buffer.from("half");
    throw new Error("the stream broke");
  }

  await expect(absent.put("a.parquet", pieces("x"), signal)).rejects.toThrow(
    "bucket does not exist",
  );
  await expect(files.put("b.parquet", failing(), signal)).rejects.toThrow("the stream broke");
  await expect(read("b.parquet")).rejects.toThrow("key does not exist");
});

test("sessions are in the bucket before they are deleted, and stay without one", async () => {
  const own = await createTestDatabase();
  onTestFinished(() => own.drop());
  const absent = createFileStore({ bucket: "no-such-bucket", prefix: "" }, endpoint);
  const stays = await givenADeletion(own.database, { files: absent });
  const files = createFileStore({ bucket: "traces", prefix: "gone" }, endpoint);
  const goes = await givenADeletion(own.database, { files });

  await expect(stays.step()).rejects.toThrow("bucket does not exist");
  await goes.step();

  expect(await stays.ids()).toEqual(["a", "a1", "b", "b1"]);
  expect(await goes.ids()).toEqual([]);
  const page = { limit: 1, after: undefined };
  const [run] = await listRuns(own.database.sql(), goes.projectId, page);
  expect(run).toMatchObject({ sessions: 2, events: 4 });
  const bytes = await readBytes(`gone/${run?.files[0]}`);
  const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer });
  const ids = rows.map((row) => String(row["event_id"]));
  expect(ids.toSorted()).toEqual(["a", "a1", "b", "b1"]);
});

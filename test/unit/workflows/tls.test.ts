// How a Temporal is spoken to, by its configuration.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { readTls } from "../../../src/workflows/client.ts";

function read(environment: Readonly<Record<string, string>>) {
  const { temporal } = readConfig({}, { TEMPORAL_ADDRESS: "host:7233", ...environment });
  return readTls({ ...temporal, address: temporal.address ?? "" });
}

async function givenAFile(name: string, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-tls-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

describe("readTls", () => {
  test.each([
    { name: "is off by default", environment: {}, want: false },
    { name: "is on with an API key", environment: { TEMPORAL_API_KEY: "key" }, want: {} },
    { name: "is on when asked for", environment: { TEMPORAL_TLS: "true" }, want: {} },
    {
      name: "is off when asked for, with an API key too",
      environment: { TEMPORAL_API_KEY: "key", TEMPORAL_TLS: "off" },
      want: false,
    },
  ])("$name", async ({ environment, want }) => {
    expect(await read(environment)).toEqual(want);
  });

  test("reads the certificates that are named", async () => {
    const environment = {
      TEMPORAL_TLS_CLIENT_CERT_PATH: await givenAFile("client.pem", "a certificate"),
      TEMPORAL_TLS_CLIENT_KEY_PATH: await givenAFile("client.key", "a key"),
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: await givenAFile("ca.pem", "an authority"),
    };

    expect(await read(environment)).toEqual({
      serverRootCACertificate: Buffer.from("an authority"),
      clientCertPair: { crt: Buffer.from("a certificate"), key: Buffer.from("a key") },
    });
  });

  test("names the variable of a file that cannot be read or lacks its other half", async () => {
    const path = await givenAFile("client.pem", "a certificate");

    await expect(read({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: "/nowhere/ca.pem" })).rejects.toThrow(
      "TEMPORAL_TLS_SERVER_CA_CERT_PATH names /nowhere/ca.pem, which cannot be read (ENOENT)",
    );
    await expect(read({ TEMPORAL_TLS_CLIENT_CERT_PATH: path })).rejects.toThrow(
      "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH go together",
    );
  });
});

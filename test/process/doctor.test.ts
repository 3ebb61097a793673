// `waggle doctor` where its folder cannot be written: in the image, whose processes write nothing
// but /tmp, and beside an embedded Postgres, which needs it; where its disk is full, its Postgres
// does not start or its port is taken; and what it says of the servers of sign-in, mails and files.
// Source: docs/operations.md.

import { rename, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startMailReceiver } from "../support/alerts.ts";
import { createTestDatabase } from "../support/database.ts";
import { findFreePort } from "../support/free-port.ts";
import { patience } from "../support/patience.ts";
import {
  findPostmaster,
  findServicePid,
  givenADataFolder,
  givenAnEmptyDataFolder,
  run,
  startOnce,
} from "../support/process.ts";
import { clientId, clientSecret, startIdentityProvider } from "../support/identity-provider.ts";
import { startService } from "../support/service.ts";

/** A folder that not even root can make, since it lies in a file. */
async function givenAClosedFolder(): Promise<string> {
  const file = join(await givenAnEmptyDataFolder(), "file");
  await writeFile(file, "");
  return join(file, "data");
}

const ports = ["--port", "0", "--workflows", "off"];

test("doctor asks for no data folder where DATABASE_URL is set", { timeout: 300_000 }, async () => {
  const folder = await givenAClosedFolder();
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());

  const words = ["--data", folder, "--database-url", testDatabase.url, ...ports];
  const { code, output } = await run("doctor", ...words).ended();

  expect(output).toContain(`ok    data folder: ${folder} cannot be written; serve and worker`);
  expect(output).not.toContain("FAIL");
  expect(code).toBe(0);
});

test("doctor calls no secrets good that it cannot read", { timeout: 300_000 }, async () => {
  const folder = await givenAClosedFolder();
  const url = `postgres://ann@127.0.0.1:${await findFreePort()}/waggle`;

  const words = ["--data", folder, "--database-url", url, ...ports];
  const { code, output } = await run("doctor", ...words).ended();

  expect(output).toMatch(/^FAIL {2}database: not reachable/m);
  expect(output).toMatch(/^FAIL {2}stored secrets: not read: .*\n.*the database/m);
  expect(code).toBe(1);
});

test("doctor asks for one that can be written for Postgres", { timeout: 300_000 }, async () => {
  const folder = await givenAClosedFolder();

  const { code, output } = await run("doctor", "--data", folder, ...ports).ended();

  expect(output).toContain(`FAIL  data folder: ${folder} cannot be written\n`);
  expect(code).toBe(1);
});

test("doctor names a disk without room", { timeout: 300_000 }, async () => {
  // It holds no bytes; only root may write there.
  const words = ["--data", await givenAnEmptyDataFolder(), "--retention-export", "/proc", ...ports];

  const { output } = await run("doctor", ...words).ended();

  expect(output).toMatch(/^FAIL {2}files of retention: \/proc/m);
});

test("doctor names a Postgres that its service cannot start", { timeout: 300_000 }, async () => {
  const folder = await givenADataFolder();
  const service = await startOnce(folder);
  const pid = await findServicePid(folder);
  const [, port] = /ready on http:\/\/\S+:(\d+)/.exec(service.output()) ?? [];
  const postmaster = await findPostmaster(folder);
  await rename(join(folder, "postgres/global/pg_control"), join(folder, "pg_control"));
  process.kill(postmaster ?? 0, "SIGKILL");
  await vi.waitUntil(() => service.output().includes("Postgres did not start"), patience);

  const words = ["--data", folder, "--port", port ?? "", "--workflows", "off"];
  const { code, output } = await run("doctor", ...words).ended();

  const fault = `embedded Postgres, which does not run, while the service does (pid ${pid})`;
  const log = `its log says why: ${join(folder, "postgres.log")}`;
  expect(output).toContain(`FAIL  database: ${fault}\n      ${log}\n`);
  expect(output).toContain(`ok    port: 127.0.0.1:${port} is this service's (pid ${pid})`);
  expect(code).toBe(1);
});

test("doctor tells a server's port from one of another program", { timeout: 300_000 }, async () => {
  const own = await createTestDatabase();
  const service = await startService({}, { own });
  onTestFinished(() => service.stop());
  const other = createServer((_, response) => response.end("hello"));
  await new Promise<void>((settle) => other.listen(0, "127.0.0.1", settle));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  const folder = await givenAnEmptyDataFolder();
  const words = ["--data", folder, "--database-url", own.url, "--workflows", "off"];

  const inPod = await run("doctor", ...words, "--port", new URL(service.url).port).ended();
  const taken = await run("doctor", ...words, "--port", String(port)).ended();

  expect(inPod.output).toMatch(/^ok {4}port: .* is that of a running server$/m);
  expect(taken.output).toMatch(/^FAIL {2}port: .*EADDRINUSE/m);
});

test("doctor looks at the servers of sign-in and mails", { timeout: 300_000 }, async () => {
  const redirectUri = "https://waggle.example.org/auth/callback";
  const provider = await startIdentityProvider({ redirectUri, accounts: {} });
  onTestFinished(() => provider.stop());
  const mails = await startMailReceiver();
  onTestFinished(() => mails.stop());
  const away = `127.0.0.1:${await findFreePort()}`;
  const folder = await givenAClosedFolder();
  const signIn = ["--public-url", "https://waggle.example.org", "--oidc-client-id", clientId];
  const words = ["--data", folder, ...ports, ...signIn, "--oidc-client-secret", clientSecret];

  const there = ["--oidc-issuer", provider.issuer, "--smtp-url", mails.url];
  const good = await run("doctor", ...words, ...there).ended();
  const gone = ["--oidc-issuer", `http://${away}`, "--smtp-url", `smtp://ann:password@${away}`];
  const bad = await run("doctor", ...words, ...gone, "--retention-export", folder).ended();

  expect(good.output).toContain(`ok    identity provider: ${provider.issuer} answers\n`);
  expect(good.output).toContain(`ok    mail server: ${new URL(mails.url).host} takes mail\n`);
  expect(good.output).toContain("ok    files of retention: none\n");
  expect(bad.output).toMatch(/^FAIL {2}identity provider: .*\n.*WAGGLE_OIDC_ISSUER/m);
  expect(bad.output).toMatch(/^FAIL {2}mail server: .*ECONNREFUSED\n.*WAGGLE_SMTP_URL/m);
  expect(bad.output).toMatch(/^FAIL {2}files of retention: .*\n.*--retention-export/m);
  expect(bad.output).not.toContain("password@");
  expect(bad.code).toBe(1);
});

// The client of clients/typescript: built from the protos, installed, checked by the compiler, and
// run as its page shows and against a service that refuses.

import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import { startService } from "../support/service.ts";
import { nodeReport, projectFolder } from "./environment.ts";
import { noKey, tryKeys } from "./keys.ts";
import { mustRun, programTimeoutMs, runProgram } from "./program.ts";
import { checkPrinted, readmeCode } from "./readme.ts";
import { startStandIn } from "./repeating.ts";

let folder: string;

/** A program's folder, with the client and the packages that it needs in its node_modules. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waggle-client-"));
  for (const path of ["buf.yaml", "proto", "clients/typescript"]) {
    await cp(join(projectFolder, path), join(folder, path), { recursive: true });
  }
  const client = join(folder, "clients/typescript");
  const packages = join(projectFolder, "node_modules");
  await mkdir(join(folder, "node_modules"));
  await symlink(client, join(folder, "node_modules/waggle-client"));
  for (const name of ["@bufbuild", "@connectrpc", "@types", "undici-types"]) {
    await symlink(join(packages, name), join(folder, "node_modules", name));
  }
  await mustRun({
    command: "npm",
    words: ["run", "-s", "build"],
    cwd: client,
    env: { PATH: [join(packages, ".bin"), process.env["PATH"]].join(delimiter) },
  });
  await writeFile(join(folder, "package.json"), '{"type": "module"}');
  const page = await readmeCode("typescript", "ts");
  await writeFile(join(folder, "page.ts"), page);
  await writeFile(join(folder, "wrong.ts"), page.replace("sessionName:", "sessionNames:"));
}, programTimeoutMs);
afterAll(() => rm(folder, { recursive: true, force: true }));

test(
  "follows pages from the one that is asked for by number, and filters for null",
  async () => {
    const service = await startService();
    const words = [service.url, service.projectKey];
    const report = await nodeReport<Record<string, string[] | undefined>>(
      { folder },
      "waggle-pages.mjs",
      words,
    );
    await service.stop();

    expect(report["all"]).toHaveLength(4);
    expect(report["secondAndLater"]).toEqual(report["all"]?.slice(1));
    expect(report["withoutError"]).toEqual(report["all"]);
    expect(report["withError"]).toEqual([]);
  },
  programTimeoutMs,
);

test("takes any time-out, however long", { timeout: programTimeoutMs }, async () => {
  const service = await startService();
  const words = [service.url, service.projectKey];
  const report = await nodeReport<string[]>({ folder }, "waggle-timeouts.mjs", words);
  await service.stop();

  expect(report).toEqual(["ok", "ok", "ok", "ok"]);
});

test("reads the deepest event that can be stored", { timeout: programTimeoutMs }, async () => {
  const service = await startService();
  const words = [service.url, service.projectKey];
  const report = await nodeReport<Record<string, number>>({ folder }, "waggle-deep.mjs", words);
  await service.stop();

  expect(report).toEqual({ event: 128, page: 128, tree: 128 });
});

test("does what its page shows", { timeout: programTimeoutMs }, async () => {
  const service = await startService();
  const printed = await mustRun({
    command: process.execPath,
    words: [join(folder, "page.ts")],
    env: { WAGGLE_URL: service.url, WAGGLE_API_KEY: service.projectKey },
  });
  await service.stop();

  checkPrinted(printed);
});

test(
  "is typed: the compiler takes its page, and no wrong field",
  async () => {
    const { stdout } = await runProgram({
      command: process.execPath,
      words: [
        join(projectFolder, "node_modules/typescript/bin/tsc"),
        "--ignoreConfig",
        "--noEmit",
        "--strict",
        "--skipLibCheck",
        "--types",
        "node",
        "--module",
        "nodenext",
        "--target",
        "es2022",
        "page.ts",
        "wrong.ts",
      ],
      cwd: folder,
    });

    const faults = stdout.split("\n").filter((line) => /^\S/.test(line));
    expect(faults).toEqual([expect.stringMatching(/^wrong\.ts.*'sessionNames'/)]);
  },
  programTimeoutMs,
);

test(
  "sends again what may be repeated, and nothing else",
  async () => {
    const standIn = await startStandIn();
    const report = await nodeReport<Record<string, string>>(
      { folder },
      "waggle-outcomes.mjs",
      standIn.words,
    );
    await standIn.stop();

    standIn.check(report);
  },
  programTimeoutMs,
);

test(
  "removes white space around a key, and names what no header can carry",
  async () => {
    const { report, outcomes } = await tryKeys((words) =>
      nodeReport({ folder }, "waggle-keys.mjs", words),
    );

    expect(report).toEqual([...outcomes, noKey]);
  },
  programTimeoutMs,
);

test(
  "says which host gave no answer, and why, and tries again",
  async () => {
    const port = await findFreePort();
    const report = await nodeReport({ folder }, "waggle-unreached.mjs", [
      `http://localhost:${port}/hidden`,
    ]);

    const unreached = {
      code: "Unavailable",
      message: expect.stringMatching(
        new RegExp(
          `^\\[unavailable\\] no answer from localhost:${port}: ` +
            `connect ECONNREFUSED \\S+:${port}(, connect ECONNREFUSED \\S+:${port})?$`,
        ),
      ) as unknown,
      cause: "TypeError",
    };
    const broken = {
      code: "Unavailable",
      message: expect.stringMatching(
        /^\[unavailable\] no answer from 127\.0\.0\.1:\d+: other side closed$/,
      ) as unknown,
      cause: "TypeError",
    };
    expect(report).toEqual({
      read: { ...unreached, tries: 2 },
      write: { ...unreached, tries: 2 },
      // A stream is sent once.
      stream: { ...unreached, tries: 1 },
      twoAddresses: {
        ...unreached,
        message:
          `[unavailable] no answer from localhost:${port}: ` +
          "connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1",
        tries: 1,
      },
      browser: {
        ...unreached,
        message: `[unavailable] no answer from localhost:${port}: Failed to fetch`,
        tries: 1,
      },
      brokenRead: { ...broken, tries: 2 },
      brokenStream: { ...broken, tries: 1 },
      leave: expect.objectContaining({ code: "Canceled" }) as unknown,
      wrong: expect.objectContaining({ code: "Internal", tries: 0 }) as unknown,
    });
  },
  programTimeoutMs,
);

test("takes an address that has a host, and says what is wrong with another", async () => {
  const wanted = "url must be http:// or https://, a host, and perhaps a port and a path";
  const noAddress = (url: string) => `${wanted}, such as https://waggle.example.org, not '${url}'`;
  const expected = {
    "http://127.0.0.1:8080": "ok",
    "HTTPS://waggle.example.org/": "ok",
    "http://[::1]:8080": "ok",
    "https://example.org/waggle": "ok",
    "localhost:8080": noAddress("localhost:8080"),
    "waggle.example.org": noAddress("waggle.example.org"),
    "": noAddress(""),
    "grpc://localhost:8080": noAddress("grpc://localhost:8080"),
    "http://:8080": noAddress("http://:8080"),
    "http:///8080": noAddress("http:///8080"),
    "https://example.org?key=secret": noAddress("https://example.org?…"),
    "https://example.org?": noAddress("https://example.org?…"),
    "https://example.org/waggle#secret": noAddress("https://example.org/waggle#…"),
    "example.org?key=secret": noAddress("example.org?…"),
    "http://host:99999": noAddress("http://host:99999"),
    "https://me:secret@example.org": `${wanted}, without user name and password`,
  };

  const report = await nodeReport<readonly string[]>(
    { folder },
    "waggle-addresses.mjs",
    Object.keys(expected),
  );

  expect(report).toEqual(Object.values(expected));
});

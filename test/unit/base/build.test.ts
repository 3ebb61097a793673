// Builds of what a clone lacks: once, again where a source is newer, and failures that say why.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startBuild } from "../../../src/base/build.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "waggle-build-"));
  mkdirSync(join(folder, "sources"));
  write("sources/one.txt", "one");
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

/** Gives a file or folder of the sources a time before or after that of every build. */
function setTime(name: string, time: "old" | "new"): void {
  const seconds = Date.now() / 1000 + (time === "new" ? 3_600 : -3_600);
  utimesSync(join(folder, name), seconds, seconds);
}

/** Adds a line to the target at each build. */
const appending = 'appendFileSync(new URL("target", import.meta.url), "built\\n");';

/** Builds, and returns what all builds so far have written. */
async function build(code = appending): Promise<string> {
  write("build.mjs", `import { appendFileSync } from "node:fs";\n${code}\nprocess.exit();`);
  await startBuild({
    what: "the target",
    script: pathToFileURL(join(folder, "build.mjs")),
    target: join(folder, "target"),
    sources: [join(folder, "sources"), join(folder, "missing")],
  }).done;
  return readFileSync(join(folder, "target"), "utf8");
}

test("a target is built once", async () => {
  await build();

  expect(await build()).toBe("built\n");
});

test.each(["sources", "sources/one.txt"])("a newer %s builds it again", async (name) => {
  setTime("sources/one.txt", "old");
  setTime("sources", "old");
  const first = await build();
  setTime(name, "new");

  expect([first, await build()]).toEqual(["built\n", "built\nbuilt\n"]);
});

test("a failure says what could not be built, and why", async () => {
  const failing = build('throw new Error("the disk is full");');

  await expect(failing).rejects.toThrow(/the build of the target failed: .*the disk is full/s);
});

test("a build ends when it is stopped", async () => {
  write("build.mjs", "setInterval(() => undefined, 1_000);");
  const building = startBuild({
    what: "the target",
    script: pathToFileURL(join(folder, "build.mjs")),
    target: join(folder, "target"),
    sources: [join(folder, "sources")],
  });
  building.done.catch(() => undefined);

  await building.stop();

  expect(building.isStopped()).toBe(true);
  await expect(building.done).rejects.toThrow("failed");
});

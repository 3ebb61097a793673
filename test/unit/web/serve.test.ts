// The files of the web app, while another process puts a build of its own in their place.

import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Exchange } from "../../../src/transport/exchange.ts";
import { createWebApp } from "../../../src/web/serve.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "waggle-web-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function giveBuild(name: string): Promise<string> {
  const folder = join(root, name);
  await mkdir(join(folder, "assets"), { recursive: true });
  await writeFile(join(folder, "index.html"), "<!doctype html>");
  await writeFile(join(folder, "assets", `${name}.js`), "export {};");
  return folder;
}

test("a build that is absent while another replaces it is read when it is there", async () => {
  const build = await giveBuild("late");
  const folder = join(root, "dist");
  const errors: unknown[] = [];
  const app = createWebApp({
    logger: { info: () => undefined, error: (error: unknown) => errors.push(error) },
    signIn: "link",
    build: () => ({
      done: Promise.resolve(),
      isStopped: () => false,
      stop: () => Promise.resolve(),
    }),
    folder,
  });

  await setTimeout(50);
  await rename(build, folder);
  await app.ready;

  const request = { httpMethod: "GET", path: "/assets/late.js" };
  expect(app.route.matches(request as unknown as Exchange)).toBe(true);
  expect(errors).toEqual([]);
});

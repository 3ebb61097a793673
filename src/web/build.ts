// The built web app: where it is, and what it is made of.

import { join, resolve } from "node:path";
import { type Build, startBuild } from "../base/build.ts";

const root = resolve(import.meta.dirname, "../..");

/** Where the built app is. */
export const distFolder = join(root, "dist/web");

/** Everything that the built app is made of. */
const sources = ["src/web/app", "src/web/vite.config.ts", "docs", "gen", "package-lock.json"];

/** Builds the app if it is not built yet or is older than its sources. */
export function startWebBuild(): Build {
  return startBuild({
    what: "the web app",
    script: new URL("build-app.ts", import.meta.url),
    target: join(distFolder, "index.html"),
    sources: sources.map((path) => join(root, path)),
  });
}

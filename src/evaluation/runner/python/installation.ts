// Finds what the sandbox is made of: Deno and Pyodide as npm installed them, and our files that run
// in it. Called by snapshot.ts and process.ts. Source: docs/sandbox.md.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ServiceError } from "../../../base/errors.ts";

export type Installation = {
  /** Deno's binary. */
  readonly deno: string;
  /** The folder of Pyodide's files. */
  readonly pyodide: string;
  /** The folder of main.js and of the Python that calls evaluators. */
  readonly guest: string;
  /** The folder of the packages that evaluators may import, with their lock.json. */
  readonly packages: string;
};

/** Fails with SANDBOX_UNAVAILABLE where this machine cannot have a sandbox. */
export function findInstallation(): Installation {
  if (process.platform === "win32") {
    throw unavailable("Python evaluators run on Linux and macOS only: start a worker there");
  }
  const require = createRequire(import.meta.url);
  try {
    return {
      deno: findDeno(require),
      pyodide: dirname(require.resolve("pyodide/package.json")),
      guest: join(import.meta.dirname, "guest"),
      packages: join(import.meta.dirname, "packages"),
    };
  } catch (cause) {
    const platform = `${process.platform} ${process.arch}`;
    throw unavailable(
      `Python evaluators have no sandbox on this machine (${platform}): run npm ci without ` +
        "--omit=optional",
      cause,
    );
  }
}

// The package `deno` only copies the binary of the package for the platform, by an install script.
function findDeno(require: NodeJS.Require): string {
  const family = process.platform === "linux" ? "-glibc" : "";
  const name = `@deno/${process.platform}-${process.arch}${family}`;
  const ofDeno = createRequire(require.resolve("deno/package.json"));
  return join(dirname(ofDeno.resolve(`${name}/package.json`)), "deno");
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("SANDBOX_UNAVAILABLE", message, { cause });
}

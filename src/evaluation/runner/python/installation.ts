// Finds the parts of the sandbox: Deno and Pyodide as installed by npm, and our files that run in
// it. Source: docs/sandbox.md.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ServiceError } from "../../../base/errors.ts";

export type Installation = {
  /** Path of Deno's binary. */
  readonly deno: string;
  /** Folder of Pyodide's files. */
  readonly pyodide: string;
  /** Folder of main.js and of the Python code that calls evaluators. */
  readonly guest: string;
  /** Folder of the packages that evaluators may import, with their lock.json. */
  readonly packages: string;
};

/** Throws SANDBOX_UNAVAILABLE if this machine cannot run a sandbox. */
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

// The package `deno` only copies the binary from the platform's package, in an install script.
function findDeno(require: NodeJS.Require): string {
  const family = process.platform === "linux" ? "-glibc" : "";
  const name = `@deno/${process.platform}-${process.arch}${family}`;
  const ofDeno = createRequire(require.resolve("deno/package.json"));
  return join(dirname(ofDeno.resolve(`${name}/package.json`)), "deno");
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("SANDBOX_UNAVAILABLE", message, { cause });
}

// Every service of ours, read from the generated code, for callers that run no service.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { DescFile } from "@bufbuild/protobuf";
import { permissionsOf } from "./interceptors/authorize.ts";
import { signals } from "./otlp/signals.ts";

const folder = join(import.meta.dirname, "../../gen/waggle");

/** Returns the files of the contract that have services, by path. */
export async function readContract(): Promise<readonly DescFile[]> {
  const paths = (await readdir(folder, { recursive: true })).toSorted();
  const modules = paths
    .filter((path) => path.endsWith("_pb.js"))
    .map((path) => import(pathToFileURL(join(folder, path)).href) as Promise<object>);
  const values = (await Promise.all(modules)).flatMap((one) => Object.values(one) as unknown[]);
  return values.filter(isFile).filter(({ services }) => services.length > 0);
}

function isFile(value: unknown): value is DescFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

/** Returns the permissions that calls of the contract require, each once. */
export async function readRequiredPermissions(): Promise<readonly string[]> {
  const services = (await readContract()).flatMap((file) => file.services);
  const methods = services.flatMap((service) => service.methods);
  const exports = signals.map(({ method }) => method);
  return [...new Set([...methods, ...exports].flatMap(permissionsOf))];
}

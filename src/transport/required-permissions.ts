// Every permission that a call requires, from the contract, for a command that runs no service.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { DescService } from "@bufbuild/protobuf";
import { TraceService } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { permissionsOf } from "./interceptors/authorize.ts";

const contractFolder = join(import.meta.dirname, "../../gen/waggle");

/** Returns the permissions that calls of the contract require, each once. */
export async function readRequiredPermissions(): Promise<readonly string[]> {
  const files = await readdir(contractFolder, { recursive: true });
  const paths = files.filter((file) => file.endsWith("_pb.js"));
  const services = (await Promise.all(paths.map(readServices))).flat();
  const methods = [...services, TraceService].flatMap((service) => service.methods);
  return [...new Set(methods.flatMap(permissionsOf))];
}

/** Returns the services that a generated file exports. */
async function readServices(path: string): Promise<readonly DescService[]> {
  const url = pathToFileURL(join(contractFolder, path)).href;
  const module = (await import(url)) as Readonly<Record<string, { readonly kind?: unknown }>>;
  return Object.values(module).filter(isService);
}

function isService(value: { readonly kind?: unknown }): value is DescService {
  return value.kind === "service";
}

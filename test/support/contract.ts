// Every service of ours, read from the generated code, for tests about all rpcs. test/tidy.test.ts
// checks that no proto with a service is missing.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DescFile, DescMethod } from "@bufbuild/protobuf";

const generated = join(import.meta.dirname, "../../gen/waggle");

async function readFiles(): Promise<readonly DescFile[]> {
  const paths = readdirSync(generated, { recursive: true, encoding: "utf8" });
  const modules = paths
    .filter((path) => path.endsWith("_pb.js"))
    .toSorted()
    .map(async (path) => (await import(join(generated, path))) as Record<string, unknown>);
  return (await Promise.all(modules)).flatMap((one) => Object.values(one).filter(isFile));
}

function isFile(value: unknown): value is DescFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

export const protoFiles = (await readFiles()).filter(({ services }) => services.length > 0);

export const rpcs: readonly DescMethod[] = protoFiles
  .flatMap((file) => file.services)
  .flatMap((service) => service.methods);

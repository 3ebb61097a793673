// Every service of ours, for tests about all rpcs. test/tidy.test.ts checks that no proto with a
// service is missing.

import type { DescMethod } from "@bufbuild/protobuf";
import { readContract } from "../../src/transport/contract.ts";

export const protoFiles = await readContract();

export const rpcs: readonly DescMethod[] = protoFiles
  .flatMap((file) => file.services)
  .flatMap((service) => service.methods);

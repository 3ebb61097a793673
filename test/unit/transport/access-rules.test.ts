// Access rules: the class of body that each form of an rpc takes, and paths that exist.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { TracingService } from "../../../gen/waggle/compat/v0/tracing_pb.js";
import { EventService } from "../../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../../gen/waggle/v1/export_pb.js";
import { rest } from "../../../gen/waggle/v1/options_pb.js";
import { SessionService } from "../../../gen/waggle/v1/session_pb.js";
import { accessRuleOf, bodyClassAt } from "../../../src/transport/access-rules.ts";
import { bindingsOf } from "../../../src/transport/rest/http-rule.ts";

const methods: readonly DescMethod[] = [
  EventService,
  ExportService,
  SessionService,
  TracingService,
].flatMap((service) => service.methods);

describe("access rules", () => {
  // docs/decisions.md, 36.1.
  test("take 7 MiB for single records and 64 MB for batches and /v1 forms", () => {
    const bodies = methods.flatMap((method) =>
      bindingsOf(method)
        .filter(({ body }) => body !== undefined)
        .map(({ httpMethod, path }) => [`${httpMethod} ${path}`, bodyClassAt(method, path)]),
    );
    const records = bodies.filter(([, bodyClass]) => bodyClass === "record");
    const others = bodies.filter(([, bodyClass]) => bodyClass !== "record");

    expect(records.map(([route]) => route)).toEqual([
      "POST /events",
      "PUT /events",
      "POST /session/start",
      "PUT /session/{session_id}",
      "POST /events/model",
    ]);
    expect(new Set(others.map(([, bodyClass]) => bodyClass))).toEqual(new Set(["batch"]));
  });

  test.each(methods)("name no path that $name lacks", (method) => {
    const { batchPaths } = accessRuleOf(method);
    const { strictPaths, textTimePaths } = getOption(method, rest);
    const paths = bindingsOf(method).map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([...strictPaths, ...textTimePaths, ...batchPaths]),
    );
  });
});

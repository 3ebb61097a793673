// Lines of the log, with a header that must not be in it.

import { describe, expect, test } from "vitest";
import { createLoggerTo, type Logger } from "../../../src/base/logger.ts";

function linesOf(work: (logger: Logger) => void): readonly Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLoggerTo({ write: (line) => void lines.push(line) }, "info"));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("a line of the log", () => {
  test("has its fields as they are, and drops what is below the level", () => {
    const [line, ...more] = linesOf((logger) => {
      logger.info({ route: "/events", list: [1, { a: 2 }], none: null }, "request");
      logger.debug("nothing");
    });

    expect(line).toMatchObject({ route: "/events", list: [1, { a: 2 }], none: null });
    expect(line).toMatchObject({ level: 30, msg: "request" });
    expect(more).toEqual([]);
  });

  test.each([
    { name: "a field", fields: { authorization: "Bearer secret" } },
    { name: "in capitals", fields: { Authorization: "Bearer secret" } },
    { name: "of headers", fields: { a: 1, headers: { accept: "*", authorization: "secret" } } },
    { name: "of a request", fields: { request: { headers: { authorization: "secret" } } } },
    {
      name: "of an error",
      fields: { err: Object.assign(new Error("broken"), { headers: { authorization: "secret" } }) },
    },
  ])("hides a header with a credential: $name", ({ fields }) => {
    const [line] = linesOf((logger) => {
      logger.info(fields, "said");
    });

    expect(JSON.stringify(line)).toMatch(/"authorization":"\[redacted\]"/i);
    expect(JSON.stringify(line)).not.toContain("secret");
  });

  test("keeps the message and the stack of an error", () => {
    const error = Object.assign(new Error("broken"), { headers: { authorization: "secret" } });

    const [plain, hidden] = linesOf((logger) => {
      logger.error({ err: new Error("broken") }, "failed");
      logger.error({ err: error }, "failed");
    });

    const stack = expect.stringContaining("at ") as string;
    const want = { message: "broken", stack };
    expect(plain).toMatchObject({ err: want });
    expect(hidden).toMatchObject({ err: want });
  });

  test("keeps them where Temporal's SDK logs a failed activity or workflow", () => {
    const [line] = linesOf((logger) => {
      logger.warn({ error: new Error("broken") }, "Activity failed");
    });

    const stack = expect.stringContaining("at ") as string;
    expect(line).toMatchObject({ error: { message: "broken", stack } });
  });

  test("may hold an object that holds itself", () => {
    const fields: Record<string, unknown> = { a: 1 };
    fields["self"] = fields;

    const [line] = linesOf((logger) => {
      logger.info(fields, "said");
    });

    expect(line).toMatchObject({ a: 1, msg: "said" });
  });
});

// Trees of steps as LangChain handlers of older clients log them.
// Source: the published clients; docs/decisions.md, 44.6.

import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { TraceLogSchema } from "../../../gen/waggle/compat/v0/tracing_pb.js";
import { readLogs } from "../../../src/tracing/model-events/trace-log-input.ts";

const noFaults = new Map<number, string>();

function read(logs: readonly JsonObject[], faults: ReadonlyMap<number, string> = noFaults) {
  const reserved: number[] = [];
  const messages = logs.map((log) => fromJson(TraceLogSchema, log));
  const steps = readLogs(messages, faults, (children) => reserved.push(children));
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return { items: value, reserved };
  }
}

describe("readLogs", () => {
  test("makes an event of each step, parents first, below the step that has it", () => {
    const { items, reserved } = read([
      {
        event_id: "a",
        event_type: "chain",
        inputs: {},
        children: [
          { event_id: "b", event_type: "tool", inputs: {}, children: [{ event_id: "c" }] },
          { event_id: "d", parent_id: "elsewhere", error: null, children: null },
        ],
      },
      { event_id: "e" },
    ]);

    expect(items).toMatchObject([
      { index: 0, input: { event_id: "a", parent_id: undefined } },
      { index: 0, within: ".children[0]", input: { event_id: "b", parent_id: "a" } },
      { index: 0, within: ".children[0].children[0]", input: { event_id: "c", parent_id: "b" } },
      { index: 0, within: ".children[1]", input: { event_id: "d", parent_id: "elsewhere" } },
      { index: 1, input: { event_id: "e" } },
    ]);
    expect(reserved.reduce((sum, count) => sum + count)).toBe(3);
  });

  test("names a step without an id, so that those below it hang under it", () => {
    const [parent, child] = read([{ event_type: "chain", children: [{}] }]).items;

    const id = parent && "input" in parent ? parent.input.event_id : undefined;
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(child).toMatchObject({ input: { parent_id: id } });
  });

  test.each([
    { name: "microseconds", given: 1_760_000_000_000_500, want: 1_760_000_000_000.5 },
    { name: "milliseconds", given: 1_760_000_000_000.5, want: 1_760_000_000_000.5 },
  ])("takes times in $name", ({ given, want }) => {
    const times = { start_time: given, end_time: given };

    const { items } = read([{ ...times, children: [times] }]);

    const wanted = { input: { start_time: want, end_time: want } };
    expect(items).toMatchObject([wanted, wanted]);
  });

  test("says which step is wrong, and reads the others", () => {
    const below = [1, { event_name: 7 }, { start_time: "soon" }, { children: {} }, { error: "x" }];
    const children = [{ children: below }];

    const { items } = read([{}, { children }], new Map([[0, "inputs: must be an object"]]));

    const place = "logs[1].children[0].children";
    expect(items).toMatchObject([
      { index: 0, fault: "logs[0].inputs: must be an object" },
      { index: 1, input: {} },
      { index: 1, within: ".children[0]", input: {} },
      { fault: `${place}[0]: must be an object` },
      { fault: `${place}[1].event_name: has another type than that of an event` },
      { fault: `${place}[2].start_time: has another type than that of an event` },
      { fault: `${place}[3].children: must be an array` },
      { index: 1, within: ".children[0].children[4]", input: { error: "x" } },
    ]);
  });
});

// The recorder that masks: what it hands on to the recorder that stores.

import { expect, test, vi } from "vitest";
import { createUuid, type ProjectId } from "../../../src/base/ids.ts";
import { nameLengthMax } from "../../../src/base/limits.ts";
import type { EventWrite } from "../../../src/tracing/events/event.ts";
import type { Origin, Recorder, RecordOptions } from "../../../src/tracing/events/record.ts";
import { createMask } from "../../../src/tracing/masking/mask.ts";
import { createMaskedRecorder } from "../../../src/tracing/masking/masked-recorder.ts";
import { compileRules } from "../../../src/tracing/masking/rules.ts";

const projectId = createUuid() as ProjectId;

function givenARecorder(onMask: () => void = () => undefined) {
  const writes: EventWrite[] = [];
  const origins: (Origin | RecordOptions | undefined)[] = [];
  const one: Recorder["enrich"] = async (_, write, origin) => {
    writes.push(write);
    origins.push(origin);
  };
  const recorder: Recorder = {
    async record(_, given, options) {
      writes.push(...given);
      origins.push(options);
      return new Map();
    },
    enrich: one,
    update: async (...of) => one(...of).then(() => true),
    queueSize: () => ({ requests: 0, events: 0, bytes: 0 }),
    drain: async () => undefined,
  };
  const rules = compileRules([{ pattern: "a", replacement: "b".repeat(100) }]);
  const masked = createMaskedRecorder(recorder, async () => {
    onMask();
    return createMask(rules, "test");
  });
  return { masked, writes, origins };
}

const write: EventWrite = { event_id: "e", event_type: "tool", event_name: "a".repeat(200) };

test("a name that replacements make too long is cut", async () => {
  const { masked, writes, origins } = givenARecorder();
  const sessionNames = new Map([["s", "a".repeat(200)]]);

  await masked.record(projectId, [write], { sessionNames });

  expect(writes[0]?.event_name).toBe("b".repeat(nameLengthMax));
  expect(origins).toMatchObject([{ sessionNames: new Map([["s", "b".repeat(nameLengthMax)]]) }]);
});

test("the time of a call begins before its masking", async () => {
  const startedAtMs = Date.now();
  vi.useFakeTimers({ now: startedAtMs, toFake: ["Date"] });
  const { masked, origins } = givenARecorder(() => vi.setSystemTime(Date.now() + 5_000));
  try {
    await masked.record(projectId, [write]);
    await masked.enrich(projectId, write);
    await masked.update(projectId, write);
  } finally {
    vi.useRealTimers();
  }

  expect(origins).toMatchObject(
    [0, 5_000, 10_000].map((ms) => ({ receivedAtMs: startedAtMs + ms })),
  );
});

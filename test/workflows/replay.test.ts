// Workflows outlive a release: new code replays the saved histories to the same commands.

import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { beforeAll, describe, expect, test } from "vitest";
import { workflowTypes } from "../../src/outbox/entry.ts";
import { readBundle } from "../../src/workflows/bundle.ts";
import { isRecording, listHistories, type SavedHistory } from "./histories.ts";

const histories = isRecording ? [] : await listHistories();

let workflowBundle: { code: string };

beforeAll(async () => {
  const logger = new DefaultLogger("ERROR");
  Runtime.install({ logger, telemetryOptions: { logging: { forward: {} } } });
  workflowBundle = { code: await readBundle() };
});

function replay({ history, workflowId }: SavedHistory): Promise<void> {
  return Worker.runReplayHistory({ workflowBundle }, history, workflowId);
}

describe.skipIf(isRecording)("a saved history", () => {
  test("is there for each kind of workflow", () => {
    const types = new Set(histories.map(typeOf));

    expect(types).toEqual(new Set(workflowTypes));
  });

  test.each(histories)("replays: $name", async (saved) => {
    await expect(replay(saved)).resolves.toBeUndefined();
  });

  test("does not replay when the workflow does something else than then", async () => {
    const saved = histories.find(({ name }) => name === "revoke-key.json");
    if (!saved) throw new Error("there is none of revokeKey");
    for (const { activityTaskScheduledEventAttributes: scheduled } of saved.history.events) {
      if (scheduled?.activityType) scheduled.activityType.name = "somethingElse";
    }

    await expect(replay(saved)).rejects.toThrow(/[Nn]ondeterminism/);
  });
});

function typeOf({ history }: SavedHistory): string | null | undefined {
  return history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name;
}

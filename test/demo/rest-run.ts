// Logs the agent's notes over REST, as a program without OpenTelemetry would: session start, one
// batch, session update.

import { randomUUID } from "node:crypto";
import { callRest, type ReadAccess } from "../support/read-back.ts";
import { agentName, type Run, type Step } from "./agent.ts";
import type { Expected } from "./compare.ts";

const source = "demo";

/** Logs a run and returns its session and what must be there now. */
export async function logRun(
  access: ReadAccess,
  run: Run,
): Promise<{ sessionId: string; expected: readonly Expected[] }> {
  const { session_id: sessionId } = await callRest<{ session_id: string }>(
    access,
    "POST",
    "/session/start",
    {
      session: {
        session_name: `${agentName} by REST`,
        source,
        start_time: run.startMs,
        inputs: { question: run.question },
      },
    },
  );

  const agentId = randomUUID();
  const agent = {
    event_id: agentId,
    event_name: agentName,
    event_type: "chain",
    source,
    session_id: sessionId,
    inputs: { question: run.question },
    outputs: { answer: run.answer },
    start_time: run.startMs,
    end_time: run.endMs,
  };
  const steps = run.steps.map((step) => toEvent(step, sessionId, agentId));
  const { success, errors } = await callRest<{ success: boolean; errors?: string[] }>(
    access,
    "POST",
    "/events/batch",
    { events: [agent, ...steps] },
  );
  if (!success) throw new Error(`the batch was refused: ${errors?.join("; ") ?? ""}`);

  await callRest(access, "PUT", `/session/${sessionId}`, {
    error: "",
    output: { answer: run.answer },
    duration: run.endMs - run.startMs,
    metadata: { demo: true },
  });
  const expected = [
    { id: agentId, name: agentName, parentId: sessionId, startMs: run.startMs, isFailed: false },
    ...steps.map((step) => ({
      id: step.event_id,
      name: step.event_name,
      parentId: agentId,
      startMs: step.start_time,
      isFailed: step.error !== null,
    })),
  ];
  return { sessionId, expected };
}

function toEvent(step: Step, sessionId: string, parentId: string) {
  return {
    event_id: randomUUID(),
    event_name: step.name,
    event_type: step.type,
    source,
    session_id: sessionId,
    parent_id: parentId,
    inputs: step.inputs,
    outputs: step.outputs,
    error: step.error ?? null,
    start_time: step.startMs,
    end_time: step.endMs,
    ...(step.usage && {
      metadata: {
        prompt_tokens: step.usage.prompt_tokens,
        completion_tokens: step.usage.completion_tokens,
        total_tokens: step.usage.total_tokens,
      },
    }),
  };
}

// The session of a run in the list of traces: its name, the question and the answer.

import type { JsonObject } from "@bufbuild/protobuf";
import { SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import { callRpc } from "../../api/transport.ts";
import { toChatMessage } from "../../design/chat-message.ts";
import { fillVariables } from "../prompts/prompt-content.ts";
import { type Draft, toApiMessage } from "./draft.ts";
import { isRecorded, type Run } from "./run.ts";

export type SessionOfRun = {
  readonly projectId: string;
  readonly draft: Draft;
  readonly run: Run;
};

/**
 * Completes the session that the service made for a run, after its end, so that no answer waits for
 * it. Never fails: the trace is whole without a name.
 */
export async function recordSession(one: SessionOfRun): Promise<void> {
  const { projectId, draft, run } = one;
  if (!isRecorded(run)) return;
  const question = questionOf(draft);
  const answer = answerOf(run);
  const session = {
    sessionId: run.sessionId,
    sessionName: "playground",
    ...(question !== undefined && { inputs: { question } }),
    ...(answer && { outputs: answer }),
  };
  try {
    await callRpc(SessionService.method.startSession, { session }, { projectId });
  } catch {
    // A person may be permitted to run models and not to write sessions.
  }
}

/** Returns the text of the last message of a person, with its variables filled in. */
function questionOf({ messages, variables }: Draft): string | undefined {
  const asked = messages.findLast(({ role }) => role === "user");
  if (!asked) return undefined;
  const { parts } = toChatMessage(toApiMessage(asked));
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return fillVariables(texts.join("\n"), variables);
}

function answerOf({ generation, text }: Run): JsonObject | undefined {
  const message = generation?.choices[0]?.["message"];
  if (typeof message === "object" && message !== null && !Array.isArray(message)) return message;
  return text === "" ? undefined : { role: "assistant", content: text };
}

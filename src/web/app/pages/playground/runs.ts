// Runs of the playground: one streamed call for each column, and the list of those of this visit.

import { useCallback, useEffect, useRef, useState } from "react";
import { EventService } from "../../../../../gen/waggle/v1/event_pb.js";
import { GenerationService } from "../../../../../gen/waggle/v1/generation_pb.js";
import { serviceNow } from "../../api/clock.ts";
import { ApiError, isCancelled, toApiError } from "../../api/errors.ts";
import { callRpc, streamRpc } from "../../api/transport.ts";
import { isFields } from "../../design/chat-message.ts";
import {
  type Column,
  type Draft,
  draftFault,
  toApiMessage,
  toFunctions,
  toHyperparameters,
} from "./draft.ts";
import { valueOf, variablesOf } from "../prompts/prompt-content.ts";
import { recordSession } from "./record-session.ts";
import type { Run } from "./run.ts";

export type PastRun = { readonly run: Run; readonly draft: Draft };

const pastMax = 100;
/** By project: leaving the page and coming back is one visit. */
const pastRuns = new Map<string, readonly PastRun[]>();

export type Runs = {
  readonly byColumn: Readonly<Record<string, Run | undefined>>;
  readonly past: readonly PastRun[];
  readonly isRunning: boolean;
  readonly start: (draft: Draft, columns: readonly Column[]) => void;
  readonly stop: (columnId?: string) => void;
};

/** Holds the runs of the columns; leaving the page stops them. */
export function useRuns(projectId: string): Runs {
  const [byColumn, setByColumn] = useState<Runs["byColumn"]>({});
  const [past, setPast] = useState(() => pastRuns.get(projectId) ?? []);
  const controllers = useRef(new Map<string, AbortController>());
  const stop = useCallback((columnId?: string) => {
    const all = [...controllers.current];
    for (const [id, controller] of all)
      if (columnId === undefined || id === columnId) controller.abort();
  }, []);
  useEffect(() => () => stop(), [stop]);
  const startOne = async (draft: Draft, column: Column): Promise<void> => {
    stop(column.id);
    const controller = new AbortController();
    controllers.current.set(column.id, controller);
    const isCurrent = () => controllers.current.get(column.id) === controller;
    const show = (run: Run): void => {
      if (isCurrent()) setByColumn((before) => ({ ...before, [column.id]: run }));
    };
    const sessionId = crypto.randomUUID();
    const { signal } = controller;
    const run = await perform({ projectId, sessionId, draft, column, signal, show });
    void recordSession({ projectId, draft, run });
    show(run);
    const list = [{ run, draft }, ...(pastRuns.get(projectId) ?? [])];
    pastRuns.set(projectId, list.slice(0, pastMax));
    setPast(list.slice(0, pastMax));
    if (isCurrent()) controllers.current.delete(column.id);
  };
  return {
    byColumn,
    past,
    isRunning: Object.values(byColumn).some((run) => run?.state === "running"),
    start: (draft, columns) => {
      for (const column of columns) void startOne(draft, column);
    },
    stop,
  };
}

type Performance = {
  readonly projectId: string;
  /** Session that the call makes. */
  readonly sessionId: string;
  readonly draft: Draft;
  readonly column: Column;
  readonly signal: AbortSignal;
  readonly show: (run: Run) => void;
};

/** Makes the call; resolves to the run at its end, however it ended. */
async function perform(asked: Performance): Promise<Run> {
  const { projectId, sessionId, draft, column, signal, show } = asked;
  const startedAtMs = serviceNow();
  let run: Run = {
    id: crypto.randomUUID(),
    sessionId,
    state: "running",
    startedAtMs,
    model: column.model,
    text: "",
  };
  const change = (next: Partial<Run>): Run => {
    run = { ...run, ...next };
    show(run);
    return run;
  };
  change({});
  // The clock of the day may be set back meanwhile.
  const began = performance.now();
  const since = () => Math.round(performance.now() - began);
  try {
    const fault = draftFault(draft);
    if (fault !== undefined) throw invalid(fault);
    const input = toRequest(asked);
    const stream = streamRpc(GenerationService.method.streamChat, input, { projectId, signal });
    for await (const { part } of stream) {
      if (part.case === "delta" && part.value.index === 0) {
        change({
          text: run.text + part.value.content,
          ...(run.firstWordMs === undefined && { firstWordMs: since() }),
        });
      } else if (part.case === "generation") {
        change({ generation: part.value, totalMs: since() });
      }
    }
    if (signal.aborted) return { ...run, state: "stopped", totalMs: since() };
    const tokens = await readTokens(projectId, run.generation?.generationId);
    return { ...run, state: "done", ...(tokens && { tokens }) };
  } catch (thrown) {
    if (signal.aborted || isCancelled(thrown)) {
      return { ...run, state: "stopped", totalMs: since() };
    }
    return { ...run, state: "failed", totalMs: since(), error: toApiError(thrown) };
  }
}

function invalid(fault: string): ApiError {
  return new ApiError(fault, { errorCode: "INVALID_ARGUMENT", isTransient: false });
}

function toRequest({ projectId, sessionId, draft, column }: Performance) {
  const names = variablesOf(draft.messages);
  const functions = toFunctions(draft.tools);
  return {
    project: projectId,
    sessionId,
    messages: draft.messages.map(toApiMessage),
    model: column.model,
    hyperparameters: toHyperparameters(column),
    eventName: "playground",
    ...(functions.length > 0 && { functions: [...functions] }),
    ...(names.length > 0 && {
      inputs: Object.fromEntries(names.map((name) => [name, valueOf(draft.variables, name)])),
    }),
  };
}

/** The stream tells no tokens; the recorded event does. */
async function readTokens(projectId: string, eventId: string | undefined) {
  if (eventId === undefined) return undefined;
  try {
    const { event } = await callRpc(EventService.method.getEvent, { eventId }, { projectId });
    const { metadata } = (event ?? {}) as { metadata?: unknown };
    if (!isFields(metadata)) return undefined;
    const read = (name: string) => {
      const value = metadata[name];
      return typeof value === "number" ? value : undefined;
    };
    return {
      total: read("total_tokens"),
      prompt: read("prompt_tokens"),
      completion: read("completion_tokens"),
    };
  } catch {
    // The answer counts; its tokens are read in the trace then.
    return undefined;
  }
}

// What the address opens in the playground: a recorded model event or a saved prompt, as a draft.
// Both leave the address once they were read: a reload keeps the draft as it was changed since.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import {
  type Configuration,
  ConfigurationService,
} from "../../../../../gen/waggle/v1/configuration_pb.js";
import { type Event, EventService } from "../../../../../gen/waggle/v1/event_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpc } from "../../api/query.ts";
import { type Draft, emptyDraft, isFields, newColumn } from "./draft.ts";
import { toDraftMessages, toParameters } from "./draft.ts";
import type { PlaygroundSearch } from "./route.tsx";

export type Opened = {
  readonly error: ApiError | null;
  readonly isPending: boolean;
};

/** Reads what the address names and hands it on once, as a draft. */
export function useOpened(
  { event: eventId, prompt: promptId }: PlaygroundSearch,
  onDraft: (draft: Draft) => void,
): Opened {
  const event = useRpc(
    EventService.method.getEvent,
    { eventId: eventId ?? "" },
    { isEnabled: eventId !== undefined },
  );
  const prompt = useRpc(
    ConfigurationService.method.getConfiguration,
    { id: promptId ?? "" },
    { isEnabled: promptId !== undefined },
  );
  const opened = useRef<string>(undefined);
  const navigate = useNavigate();
  useEffect(() => {
    const open = (key: string, draft: Draft) => {
      if (opened.current === key) return;
      opened.current = key;
      onDraft(draft);
      void navigate({ to: ".", search: {}, replace: true });
    };
    if (eventId === undefined && promptId === undefined) {
      opened.current = undefined;
    } else if (eventId !== undefined && event.data?.event) {
      open(`event ${eventId}`, eventToDraft(event.data.event));
    } else if (promptId !== undefined && prompt.data) {
      open(`prompt ${promptId}`, promptToDraft(prompt.data));
    }
  }, [eventId, promptId, event.data, prompt.data, onDraft, navigate]);
  return {
    error: event.error ?? prompt.error,
    isPending:
      (eventId !== undefined && event.isPending) || (promptId !== undefined && prompt.isPending),
  };
}

function eventToDraft({ config = {}, inputs = {} }: Event): Draft {
  const { chat_history: history, messages, input, prompt, ...others } = inputs;
  const found = toDraftMessages(history ?? messages ?? input ?? prompt);
  const template = toDraftMessages(config["template"]);
  const values = Object.entries(others).map(([name, value]) => [name, textOf(value)] as const);
  return {
    ...emptyDraft(),
    ...(found.length > 0 ? { messages: found } : template.length > 0 && { messages: template }),
    variables: Object.fromEntries(values),
    tools: toolsText(config["tools"] ?? config["functions"]),
    columns: [{ ...newColumn(modelOf(config)), parameters: toParameters(parametersOf(config)) }],
  };
}

/** Other clients record the parameters beside the model. */
function parametersOf(config: Readonly<Record<string, unknown>>): unknown {
  return isFields(config["hyperparameters"]) ? config["hyperparameters"] : config;
}

function modelOf({ model, provider }: Readonly<Record<string, unknown>>): string {
  if (typeof model !== "string") return "";
  const isWhole = typeof provider !== "string" || model.startsWith(`${provider}/`);
  return isWhole ? model : `${provider}/${model}`;
}

function promptToDraft({ name, parameters = {}, provider }: Configuration): Draft {
  const { model, hyperparameters, template, selectedFunctions } = parameters;
  const messages = toDraftMessages(template);
  return {
    ...emptyDraft(),
    promptName: name,
    ...(messages.length > 0 && { messages }),
    tools: toolsText(selectedFunctions),
    columns: [
      {
        ...newColumn(modelOf({ model, provider })),
        parameters: toParameters(hyperparameters),
      },
    ],
  };
}

function toolsText(tools: unknown): string {
  return Array.isArray(tools) && tools.length > 0 ? JSON.stringify(tools, null, 2) : "";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

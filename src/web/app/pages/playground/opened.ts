// Reads the address of the playground: a recorded model event or a saved prompt, as a draft.
// Both leave the address once they are read, so that a reload keeps later changes of the draft.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { ConfigurationService } from "../../../../../gen/waggle/v1/configuration_pb.js";
import { EventService } from "../../../../../gen/waggle/v1/event_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpc } from "../../api/query.ts";
import type { Draft } from "./draft.ts";
import { eventToDraft, promptToDraft } from "./event-draft.ts";
import type { PlaygroundSearch } from "./route.tsx";

/** Reads what the address names and hands it on once, as a draft; returns why it cannot be read. */
export function useOpened(
  { event: eventId, prompt: promptId }: PlaygroundSearch,
  onDraft: (draft: Draft) => void,
): ApiError | null {
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
  return event.error ?? prompt.error;
}

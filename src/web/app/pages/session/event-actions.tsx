// Actions on an event: copy it in the form that is needed, open it in the playground, add it to a
// dataset.

import { useNavigate } from "@tanstack/react-router";
import { Braces, Database, Ellipsis, Filter, Link as LinkIcon, Play, Terminal } from "lucide-react";
import { useState } from "react";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { GenerationService } from "../../../../../gen/waggle/v1/generation_pb.js";
import { pageAddress, useCurrentProjectId } from "../../api/project.ts";
import { IconButton } from "../../design/button.tsx";
import { Menu } from "../../design/menu.tsx";
import { showToast } from "../../design/toast.tsx";
import { copyText } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { AddDialog, mayAddTo } from "../traces/add-dialog.tsx";
import { rawJson } from "./event-content.tsx";
import type { SessionEvent } from "./session-event.ts";

export type EventActionsProps = {
  readonly event: SessionEvent;
  readonly payload: Event | undefined;
};

export function EventActions({ event, payload }: EventActionsProps) {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const [isAdding, setAdding] = useState(false);
  const may = useMay();
  const copy = (text: string, what: string): void => {
    void copyText(text, what).then((isDone) => {
      if (isDone) showToast({ text: `Copied the ${what}.` });
    });
  };
  const openPlayground = (): void =>
    void navigate({
      to: pageAddress(projectId, "playground"),
      // The playground reads it; its own route types it.
      search: { event: event.id } as never,
    });
  const acts = [
    {
      id: "link",
      label: "Copy as link",
      icon: <LinkIcon />,
      keys: "c",
      run: () => copy(linkOf(event.id), "link"),
    },
    {
      id: "curl",
      label: "Copy as curl",
      icon: <Terminal />,
      run: () => copy(curlOf(event.id), "curl command"),
    },
    {
      id: "filter",
      label: "Copy as filter",
      icon: <Filter />,
      run: () => copy(filterOf(event), "filter"),
    },
    {
      id: "json",
      label: "Copy as JSON",
      icon: <Braces />,
      isDisabled: !payload,
      run: () => {
        if (payload) copy(rawJson(payload), "JSON");
      },
    },
    event.type === "model" &&
      may(GenerationService.method.streamChat) && {
        id: "playground",
        label: "Open in the playground",
        icon: <Play />,
        keys: "p",
        run: openPlayground,
      },
    mayAddTo(may, "dataset") && {
      id: "dataset",
      label: "Add to a dataset",
      icon: <Database />,
      keys: "d",
      run: () => setAdding(true),
    },
  ].filter((act) => act !== false);
  useCommands(
    acts.map(({ id, label, keys, run }) => ({
      id: `event.${id}`,
      title: label,
      group: "Event",
      run,
      ...(keys !== undefined && { keys }),
    })),
  );
  return (
    <>
      <Menu
        align="end"
        trigger={<IconButton label="More for this event" icon={<Ellipsis />} size="small" />}
        items={acts.map(({ id, run, ...item }) => ({ ...item, key: id, onSelect: run }))}
      />
      {isAdding ? (
        <AddDialog
          target="dataset"
          eventIds={[event.id]}
          things="1 event"
          onClose={() => setAdding(false)}
        />
      ) : null}
    </>
  );
}

function linkOf(eventId: string): string {
  const url = new URL(globalThis.location.href);
  url.searchParams.set("event", eventId);
  return url.href;
}

function curlOf(eventId: string): string {
  const url = `${globalThis.location.origin}/v1/events/${encodeURIComponent(eventId)}`;
  return `curl -s '${url.replaceAll("'", "%27")}' -H "authorization: Bearer $WAGGLE_API_KEY"`;
}

/** Returns the condition that finds the events of this step, as the API takes it. */
function filterOf({ name }: SessionEvent): string {
  return JSON.stringify({ field: "event_name", operator: "is", value: name, type: "string" });
}

// The first visit of an empty project: programs that send a first trace, with the real address and
// a key. The page waits for the trace and turns to it the moment it arrives.

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { LlmProxyService } from "../../../../../../gen/waggle/v1/llm_proxy_pb.js";
import type { Session } from "../../../../../../gen/waggle/v1/session_pb.js";
import { pageAddress, useCurrentProjectId } from "../../../api/project.ts";
import { useRpc } from "../../../api/query.ts";
import { Tabs } from "../../../design/tabs.tsx";
import { KeyStep } from "./key-step.tsx";
import { LastRefusal } from "./last-refusal.tsx";
import { SnippetView } from "../../../design/snippet-view.tsx";
import { createSnippets, keyPlaceholder, type Snippet } from "./snippets.ts";
import "./first-visit.css";

export type FirstVisitProps = {
  /** The first session, once it is there. */
  readonly arrived: Session | null | undefined;
  /** Why the page cannot see now whether it is there. */
  readonly fault: string | undefined;
};

export function FirstVisit({ arrived, fault }: FirstVisitProps) {
  const projectId = useCurrentProjectId();
  const [tab, setTab] = useState<string>("curl");
  const [keys, setKeys] = useState<Partial<Record<Snippet["key"], string>>>({});
  const navigate = useNavigate();
  const client = useQueryClient();
  useEffect(() => {
    if (!arrived) return;
    // The lists and charts that were read of the empty project would stand there for a while.
    client.removeQueries({ type: "inactive" });
    const page = `traces/${encodeURIComponent(arrived.sessionId)}`;
    void navigate({ to: pageAddress(projectId, page) });
  }, [arrived, client, navigate, projectId]);
  const { origin } = globalThis.location;
  // Each program with the key of its own kind.
  const { data: models } = useRpc(LlmProxyService.method.listModels, {}, { staleMs: 60_000 });
  const providers = models && {
    models: models.data.map(({ id }) => id),
    hasNone: models.data.length + models.unavailableProviders.length === 0,
  };
  const snippets = createSnippets({ origin, keys, providers });
  const chosen = snippets.find(({ id }) => id === tab);
  const isComplete = chosen !== undefined && keys[chosen.key] !== undefined;
  return (
    <div className="first-visit">
      <div className="first-visit-scroll">
        <div className="first-visit-body">
          <h2>Send your first trace</h2>
          <p>
            This project has no traces yet.{" "}
            {isComplete
              ? "The program below is complete as it stands: run it."
              : `Choose a program, put a key in place of ${keyPlaceholder}, and run it.`}{" "}
            This page turns to the trace when it arrives.
          </p>
          <Tabs
            label="Ways to send a trace"
            value={tab}
            onChange={setTab}
            tabs={snippets.map((snippet) => ({
              value: snippet.id,
              label: snippet.label,
              content: (
                <div className="first-visit-steps">
                  <KeyStep
                    kind={snippet.key}
                    value={keys[snippet.key]}
                    onCreated={(value) => setKeys({ ...keys, [snippet.key]: value })}
                  />
                  {snippet.note === undefined ? null : <p>{snippet.note}</p>}
                  {snippet.install === undefined ? null : (
                    <SnippetView title="Install" code={snippet.install} what="command" />
                  )}
                  <SnippetView
                    title={snippet.file === "terminal" ? "Run" : snippet.file}
                    code={snippet.code}
                    what={snippet.file === "terminal" ? "command" : "program"}
                  />
                </div>
              ),
            }))}
          />
        </div>
      </div>
      <div className="first-visit-state">
        <p className="first-visit-wait" role="status">
          <span className="first-visit-pulse" aria-hidden />
          {arrived
            ? "It is here."
            : fault
              ? `${fault} Trying again…`
              : "Waiting for the first trace…"}
        </p>
        <LastRefusal projectId={projectId} />
      </div>
    </div>
  );
}

// Tells whether a project has any trace: asks once, and each second while there is none.

import { useState } from "react";
import { type Session, SessionService } from "../../../../../../gen/waggle/v1/session_pb.js";
import { useCurrentProjectId } from "../../../api/project.ts";
import { useRpc } from "../../../api/query.ts";

const pollMs = 1_000;

export type FirstSession = {
  /** Any session of the project; null if there is none, undefined while that is not known. */
  readonly session: Session | null | undefined;
  /** Whether the project had none when the page was opened. */
  readonly isFirstVisit: boolean;
  /** Why the last look failed, until one succeeds. */
  readonly fault: string | undefined;
};

export function useFirstSession(): FirstSession {
  const projectId = useCurrentProjectId();
  const [emptyProject, setEmptyProject] = useState<string>();
  const isFirstVisit = emptyProject === projectId;
  const { data, error } = useRpc(
    SessionService.method.listSessions,
    { limit: 1 },
    { refreshMs: isFirstVisit && pollMs, staleMs: isFirstVisit ? 0 : Number.POSITIVE_INFINITY },
  );
  const session = data && (data.sessions[0] ?? null);
  if (session === null && !isFirstVisit) setEmptyProject(projectId);
  return { session, isFirstVisit, fault: error?.message };
}

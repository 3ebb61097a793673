// SessionService: a message in, a message out, no decisions.

import type { ServiceImpl } from "@connectrpc/connect";
import type { SessionService } from "../../../gen/waggle/v1/session_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { principalOf } from "../../transport/context.ts";
import { fromEvent, fromSessionStart } from "../events/event-input.ts";
import type { Events } from "../events/events.ts";
import { toBatchItems } from "../events/handlers.ts";
import { toFilterInput } from "../export/handlers.ts";
import { toSessionMessage, toSkeletonMessage, toTreeMessage } from "./session-message.ts";
import type { Sessions } from "./sessions.ts";

export function sessionHandlers(
  sessions: Sessions,
  events: Events,
): ServiceImpl<typeof SessionService> {
  return {
    async startSession({ session }, context) {
      const principal = principalOf(context);
      const started = await sessions.start(principal.projectId, fromSessionStart(session ?? {}));
      return toSessionMessage(started, principal);
    },
    async updateSession({ sessionId, output, ...rest }, context) {
      const update = fromEvent({ ...rest, ...(output && { outputs: output }) });
      await sessions.update(principalOf(context).projectId, sessionId, update);
      return { id: sessionId, success: true };
    },
    async getSession({ sessionId }, context) {
      const principal = principalOf(context);
      return toSessionMessage(await sessions.get(principal.projectId, sessionId), principal);
    },
    async getSessionTree({ sessionId, view = "full" }, context) {
      const principal = principalOf(context);
      const { projectId } = principal;
      switch (view) {
        case "full":
          return toTreeMessage(await sessions.tree(projectId, sessionId), principal);
        case "skeleton":
          return toSkeletonMessage(await sessions.skeleton(projectId, sessionId), principal);
        default:
          throw new ServiceError("INVALID_ARGUMENT", "view: must be `full` or `skeleton`");
      }
    },
    async listSessions(request, context) {
      const principal = principalOf(context);
      const page = await sessions.list(principal.projectId, {
        filters: request.filters.map(toFilterInput),
        fromMs: [request.dateRange?.gte, request.dateRange?.startTime],
        toMs: [request.dateRange?.lte, request.dateRange?.endTime],
        limit: request.limit,
        cursor: request.cursor,
      });
      return {
        sessions: page.sessions.map((session) => toSessionMessage(session, principal)),
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      };
    },
    async deleteSession({ sessionId }, context) {
      await sessions.delete(principalOf(context).projectId, sessionId);
      return { success: true, deleted: sessionId };
    },
    async addSessionEvents({ sessionId, events: list }, context) {
      const { projectId } = principalOf(context);
      const items = toBatchItems(context, "events", list.map(fromEvent));
      const { eventIds, errors } = await events.createBatch(projectId, items, { sessionId });
      return { success: errors.length === 0, eventIds, errors };
    },
  };
}

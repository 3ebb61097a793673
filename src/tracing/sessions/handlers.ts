// SessionService: a message in, a message out, no decisions.

import type { ServiceImpl } from "@connectrpc/connect";
import type { SessionService } from "../../../gen/waggle/v1/session_pb.js";
import { refuse } from "../../base/errors.ts";
import { type Demand, isAllowed } from "../../access/authorize.ts";
import { principalOf } from "../../access/call.ts";
import { fromEvent, fromSessionStart } from "../events/event-input.ts";
import { originOf, toBatchAnswer, toBatchItems } from "../events/handlers.ts";
import { toBounds } from "../export/date-range.ts";
import { readingOf, tracingOfCall } from "../export/handlers.ts";
import { toFilterInput } from "../export/filter-message.ts";
import type { TracingOf } from "../tracing.ts";
import { toSessionMessage, toSkeletonMessage, toTreeMessage } from "./session-message.ts";
import { toSkeletonPageMessage } from "./skeleton-message.ts";

/** What a caller needs for an answer with a session that was there before. */
const reads: Demand = { permission: "project.session.get", keyKinds: new Set(["project"]) };

export function sessionHandlers(tracingOf: TracingOf): ServiceImpl<typeof SessionService> {
  return {
    async startSession({ session }, context) {
      const { sessions, project, projectId } = tracingOfCall(tracingOf, context);
      const started = await sessions.start(projectId, fromSessionStart(session ?? {}), {
        origin: originOf(context),
        isReader: isAllowed(principalOf(context), reads, project),
        ...readingOf(context),
      });
      return toSessionMessage(started, project);
    },
    async updateSession({ sessionId, output, ...rest }, context) {
      const update = fromEvent({ ...rest, ...(output && { outputs: output }) });
      const { sessions, projectId } = tracingOfCall(tracingOf, context);
      await sessions.update(projectId, sessionId, update, originOf(context));
      return { id: sessionId, success: true };
    },
    async getSession({ sessionId }, context) {
      const { sessions, project, projectId } = tracingOfCall(tracingOf, context);
      const session = await sessions.get(projectId, sessionId, readingOf(context));
      return toSessionMessage(session, project);
    },
    async getSessionTree({ sessionId, view = "full" }, context) {
      const { sessions, project, projectId } = tracingOfCall(tracingOf, context);
      const reading = readingOf(context);
      switch (view) {
        case "full":
          return toTreeMessage(await sessions.tree(projectId, sessionId, reading), project);
        case "skeleton":
          return toSkeletonMessage(await sessions.skeleton(projectId, sessionId, reading), project);
        default:
          return refuse("view", "must be `full` or `skeleton`");
      }
    },
    async listSessionSkeleton({ sessionId, limit, cursor }, context) {
      const { skeletons, projectId } = tracingOfCall(tracingOf, context);
      const options = { limit, cursor };
      const page = await skeletons.list(projectId, sessionId, options, readingOf(context));
      return toSkeletonPageMessage(page);
    },
    async listSessions(request, context) {
      const { sessions, project, projectId } = tracingOfCall(tracingOf, context);
      const query = {
        filters: request.filters.map(toFilterInput),
        ...toBounds(request.dateRange),
        limit: request.limit,
        cursor: request.cursor,
      };
      const page = await sessions.list(projectId, query, readingOf(context));
      return {
        sessions: page.sessions.map((session) => toSessionMessage(session, project)),
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      };
    },
    async deleteSession({ sessionId }, context) {
      const { sessions, projectId } = tracingOfCall(tracingOf, context);
      await sessions.delete(projectId, sessionId);
      return { success: true, deleted: sessionId };
    },
    async addSessionEvents({ sessionId, events: list }, context) {
      const { events, projectId } = tracingOfCall(tracingOf, context);
      const items = toBatchItems(context, "events", list.map(fromEvent));
      const options = { ...originOf(context), sessionId };
      const result = await events.createBatch(projectId, items, options);
      const { success, eventIds, errors } = toBatchAnswer(context, result);
      return { success, eventIds, errors };
    },
  };
}

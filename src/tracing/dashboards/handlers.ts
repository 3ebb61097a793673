// DashboardService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  DashboardFields as FieldsMessage,
  DashboardSchema,
  DashboardService,
} from "../../../gen/waggle/v1/dashboard_pb.js";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import type { Dashboard, DashboardFields, Dashboards } from "./dashboards.ts";

export function dashboardHandlers(dashboards: Dashboards): ServiceImpl<typeof DashboardService> {
  return {
    async createDashboard({ dashboard }, context) {
      const project = projectOf(context);
      return toResponse(await dashboards.create(project, toFields(dashboard), actorOf(context)));
    },

    async listDashboards(_request, context) {
      const listed = await dashboards.list(projectOf(context));
      return { success: true, data: listed.map(toMessage) };
    },

    async getDashboard({ dashboardId }, context) {
      return toResponse(await dashboards.get(whoseOf(dashboardId, context)));
    },

    async updateDashboard({ dashboardId, dashboard }, context) {
      const whose = whoseOf(dashboardId, context);
      return toResponse(await dashboards.update(whose, toFields(dashboard)));
    },

    async deleteDashboard({ dashboardId }, context) {
      await dashboards.delete(whoseOf(dashboardId, context));
      return { success: true, message: "The dashboard is deleted." };
    },
  };
}

function toFields(message: FieldsMessage | undefined): DashboardFields {
  if (!message) return {};
  const { name, description, layout } = message;
  return { name, description, tiles: layout?.tiles };
}

function toResponse(dashboard: Dashboard) {
  return { success: true, data: toMessage(dashboard) };
}

function toMessage(dashboard: Dashboard): MessageInitShape<typeof DashboardSchema> {
  const { id, name, description, tiles, createdBy, createdAt, updatedAt } = dashboard;
  return {
    id,
    name,
    createdBy,
    layout: { tiles: [...tiles] },
    ...(description !== null && { description }),
    createdAt: timestampFromDate(createdAt),
    ...(updatedAt && { updatedAt: timestampFromDate(updatedAt) }),
  };
}

// OldConfigurationService: a message in, a message out, no decisions.

import type { ServiceImpl } from "@connectrpc/connect";
import type { OldConfigurationService } from "../../../gen/waggle/compat/v0/configuration_pb.js";
import { ServiceError } from "../../base/errors.ts";
import { projectOf } from "../../access/call.ts";
import { toOldConfigurationMessage } from "./configuration-message.ts";
import type { Configurations } from "./configurations.ts";

export function oldConfigurationHandlers(
  configurations: Configurations,
): ServiceImpl<typeof OldConfigurationService> {
  return {
    async listOldConfigurations({ name, env }, context) {
      const project = projectOf(context);
      const { items, nextCursor } = await configurations.list(project.projectId, { name, env });
      if (nextCursor !== undefined) {
        // The older form has no pages.
        const way = "list them by GET /v1/configurations";
        const message = `the configurations are too long for one answer; ${way}`;
        throw new ServiceError("ANSWER_TOO_LARGE", message);
      }
      return { configurations: items.map((item) => toOldConfigurationMessage(item, project.name)) };
    },
  };
}

// Tools of a project: functions that models may call, as older clients keep them.
// Source: docs/decisions.md, 34.2, 44.4; docs/prompts.md.

import { assertName } from "../../base/assert-text.ts";
import { describeActor } from "../../base/actor.ts";
import type { ChangeParts, Whose } from "../../access/change.ts";
import {
  createProjectResource,
  type ProjectResource,
  type Put,
} from "../../access/project-resource.ts";
import { parseChoice } from "../../base/choices.ts";
import { toolDescriptionLengthMax, toolNameLengthMax } from "../../base/field-limits.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { isUuid, type ProjectId } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { toolsBytesMax, toolsOfProjectMax } from "../../base/tenant-limits.ts";
import { hashContent } from "../../base/versions.ts";
import type { Sql } from "../../postgres/database.ts";
import { checkSound, checkText } from "../configurations/fields.ts";
import * as store from "./store.ts";
import type { ToolRow, ToolType } from "./store.ts";

export type Tool = ToolRow;

/** Fields of a request; undefined means omitted. */
export type ToolFields = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly type?: string | undefined;
  readonly parameters?: JsonObject | undefined;
};

/** Changes also throw NAME_TAKEN. */
export type Tools = ProjectResource<Tool, ToolFields> & {
  /** Returns all tools of a project, by name. */
  list(projectId: ProjectId): Promise<readonly Tool[]>;
};

export function createTools(parts: ChangeParts): Tools {
  const resource = createProjectResource<Tool, Tool, ToolFields>(parts, {
    type: "tool",
    rows: store.toolRows,
    find: async (sql, { project, id }) =>
      isUuid(id) ? store.findTool(sql, project.projectId, id) : undefined,
    toRow: (fields, { id }, before) => toTool(fields, before ?? { id }),
    put,
    stateOf,
  });
  return {
    ...resource,
    list: (projectId) =>
      parts.database.readInTurn(projectId, (sql) => store.listTools(sql, projectId)),
  };
}

/** Stores a tool within the limits of its project. */
async function put(
  sql: Sql,
  { project: { projectId }, actor }: Whose,
  { row: tool }: Put<Tool>,
): Promise<void> {
  const others = await store.measureOthers(sql, projectId, tool);
  if (others.isNameTaken) {
    throw new ServiceError("NAME_TAKEN", "name: another tool of the project has it");
  }
  if (others.count >= toolsOfProjectMax) {
    refuse("name", `a project has at most ${toolsOfProjectMax} tools; delete one first`);
  }
  if (others.bytes + Buffer.byteLength(JSON.stringify(tool)) > toolsBytesMax) {
    refuse("parameters", `the tools of a project have at most ${toolsBytesMax} bytes together`);
  }
  await store.putTool(sql, { ...tool, projectId, createdBy: describeActor(actor) });
}

/** Returns the tool that a request asks for, on top of the tool before. */
function toTool(fields: ToolFields, before: Pick<Tool, "id"> & Partial<Tool>): Tool {
  const { name = before.name ?? "", description = before.description ?? "", type } = fields;
  const { parameters = before.parameters } = fields;
  if (name !== before.name) assertName("name", name, toolNameLengthMax);
  return {
    id: before.id,
    name,
    description:
      description === ""
        ? description
        : checkText("description", description, toolDescriptionLengthMax),
    type: type === undefined || type === "" ? (before.type ?? "function") : parseType(type),
    parameters: checkSound("parameters", parameters ?? refuse("parameters", "must be given")),
  };
}

function parseType(text: string): ToolType {
  return parseChoice("type", ["function", "tool"], text);
}

/** Returns a tool's state for the audit log; the schema, which may be long, is a hash. */
function stateOf({ name, description, type, parameters }: Tool): JsonObject {
  return { name, description, type, parameters_sha: hashContent(parameters) };
}

// Tools of a project: functions that models may call, as older clients keep them.
// Source: docs/decisions.md, 34.2, 44.4; docs/prompts.md.

import { assertName } from "../../base/assert-text.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { changeInside, type ChangeParts, isChange, type Whose } from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { parseChoice } from "../../base/choices.ts";
import { toolDescriptionLengthMax, toolNameLengthMax } from "../../base/field-limits.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid, type ProjectId } from "../../base/ids.ts";
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

/** Each change is audited. */
export type Tools = {
  /** Throws INVALID_ARGUMENT naming the field, and NAME_TAKEN. */
  create(project: ProjectScope, fields: ToolFields, actor: Actor): Promise<Tool>;
  /** Returns all tools of a project, by name. */
  list(projectId: ProjectId): Promise<readonly Tool[]>;
  /** Changes the given fields. Throws like `create`, and NOT_FOUND. */
  update(whose: Whose, fields: ToolFields): Promise<void>;
  /** Throws NOT_FOUND. */
  delete(whose: Whose): Promise<void>;
};

export function createTools(options: ChangeParts): Tools {
  const { database } = options;
  return {
    create: (project, fields, actor) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        await store.lockTools(sql, project.projectId);
        const result = toTool(fields, { id: createUuid() });
        await put(sql, { project, id: result.id, actor }, result);
        const audit = { action: "tool.create", targetId: result.id, after: stateOf(result) };
        return { result, audit };
      }),

    // Uses the connections for reads: a long list would delay key checks.
    list: (projectId) =>
      database.on("reads").inTurn((sql) => store.listTools(sql, projectId), { owner: projectId }),

    update: (whose, fields) =>
      changeInside(options, { scope: whose.project, actor: whose.actor }, async (sql) => {
        const before = await lockTool(sql, whose);
        const after = toTool(fields, before);
        const states = { before: stateOf(before), after: stateOf(after) };
        const audit = { action: "tool.update", targetId: whose.id, ...states };
        if (isChange(audit)) await put(sql, whose, after);
        return { result: undefined, audit };
      }),

    delete: (whose) =>
      changeInside(options, { scope: whose.project, actor: whose.actor }, async (sql) => {
        const before = await lockTool(sql, whose);
        await store.deleteTool(sql, whose.project.projectId, whose.id);
        const audit = { action: "tool.delete", targetId: whose.id, before: stateOf(before) };
        return { result: undefined, audit };
      }),
  };
}

async function lockTool(sql: Sql, { project: { projectId }, id }: Whose): Promise<Tool> {
  await store.lockTools(sql, projectId);
  const tool = isUuid(id) && (await store.findTool(sql, projectId, id));
  if (!tool) throw new ServiceError("NOT_FOUND", "no such tool");
  return tool;
}

/** Stores a tool within the limits of its project. */
async function put(sql: Sql, { project, actor }: Whose, tool: Tool): Promise<void> {
  const { projectId } = project;
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

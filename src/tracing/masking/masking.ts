// Masking of a project: its rules, their changes, and the mask of its writes.
// Source: docs/masking.md; docs/decisions.md, 51.1.

import { isDeepStrictEqual } from "node:util";
import { type ChangeParts, changeInside } from "../../access/change.ts";
import type { AccessChanges } from "../../access/changes/changes.ts";
import { createEnabledMemory, subjectOf } from "../../access/enabled-memory.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { refuse } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import type { MaskOf } from "./masked-recorder.ts";
import { createMask } from "./mask.ts";
import { compileRules, type MaskingRule, parseRules, type RuleInput } from "./rules.ts";
import * as store from "./store.ts";
import type { MaskingRow } from "./store.ts";

export type { MaskingRow };

export type MaskedSample = { readonly sample: JsonValue; readonly replaced: number };

export type Masking = {
  /** Returns the rules of a project; undefined if it has none. */
  get(project: ProjectScope): Promise<MaskingRow | undefined>;
  /** Sets all rules. Audited. Throws INVALID_ARGUMENT naming the field. */
  put(project: ProjectScope, rules: readonly RuleInput[], actor: Actor): Promise<MaskingRow>;
  /** Ends the masking. Audited. */
  delete(project: ProjectScope, actor: Actor): Promise<void>;
  /**
   * Masks a sample by rules; default: the rules of the project. Throws INVALID_ARGUMENT naming the
   * field.
   */
  preview(
    project: ProjectScope,
    rules: readonly RuleInput[],
    sample: JsonValue | undefined,
  ): Promise<MaskedSample>;
  /** Returns the mask of the writes of a project. */
  readonly maskOf: MaskOf;
};

export type MaskingOptions = Omit<ChangeParts, "changes"> & {
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
};

export function createMasking(options: MaskingOptions): Masking {
  const { database, changes } = options;
  const memory = createEnabledMemory<MaskingRule>({
    kind: "masking",
    async list(projectId) {
      const row = await store.findMasking(database.sql(), projectId);
      // Rules are small, so the memory may take each project for an owner of its own.
      return { orgId: projectId, enabled: row?.rules ?? [] };
    },
  });
  changes.onForget((subject) => memory.forget(subject));
  return {
    get: ({ projectId }) => store.findMasking(database.sql(), projectId),

    put: (project, inputs, actor) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        if (inputs.length === 0) refuse("rules", "is empty; DELETE ends the masking");
        const rules = parseRules(inputs);
        const { projectId } = project;
        const before = await store.findMasking(sql, projectId);
        if (before && isDeepStrictEqual(before.rules, rules)) return { result: before };
        const result = await store.putMasking(sql, projectId, {
          rules,
          updatedBy: describeActor(actor),
        });
        const audit = {
          action: "masking.put",
          targetId: projectId,
          after: { rules },
          ...(before && { before: { rules: before.rules } }),
        };
        return { result, audit, forget: subjectOf("masking", projectId) };
      }),

    delete: (project, actor) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        const { projectId } = project;
        const before = await store.findMasking(sql, projectId);
        if (!before) return { result: undefined };
        await store.deleteMasking(sql, projectId);
        const state = { rules: before.rules };
        const audit = { action: "masking.delete", targetId: projectId, before: state };
        return { result: undefined, audit, forget: subjectOf("masking", projectId) };
      }),

    async preview({ projectId }, inputs, sample) {
      if (sample === undefined) refuse("sample", "is required");
      const stored = inputs.length === 0 ? await memory.get(projectId) : parseRules(inputs);
      const mask = createMask(compileRules(stored), `project ${projectId}`);
      return { sample: await mask.value(sample), replaced: mask.replaced() };
    },

    async maskOf(projectId) {
      const rules = await memory.get(projectId);
      return rules.length === 0
        ? undefined
        : createMask(compileRules(rules), `project ${projectId}`);
    },
  };
}

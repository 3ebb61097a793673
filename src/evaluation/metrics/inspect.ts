// Parses the code or prompt of an evaluator when it is saved: finds faults, and whether it reads
// ground truth. Source: docs/decisions.md, 22.3 and 23.

import { refuse } from "../../base/errors.ts";
import type { Owner } from "../../base/fair-places.ts";
import type { PythonSandbox } from "../runner/python/sandbox.ts";
import { parseTemplate, readsGroundTruth } from "../runner/judge/template.ts";
import type { GivenDefinition } from "./to-definition.ts";

export type Inspector = Pick<PythonSandbox, "inspect">;

/**
 * Returns whether a definition reads ground truth. Throws INVALID_ARGUMENT naming the field, line
 * and column of a syntax error, and errors of the sandbox.
 */
export async function inspectCriteria(
  sandbox: Inspector,
  owner: Owner,
  { definition: { type, criteria }, criteriaField }: GivenDefinition,
): Promise<boolean> {
  switch (type) {
    case "HUMAN":
      return false;
    case "LLM": {
      const parsed = parseTemplate(criteria);
      if ("fault" in parsed) refuseAt(criteriaField, parsed.fault);
      return readsGroundTruth(parsed.template);
    }
    case "PYTHON": {
      const inspection = await sandbox.inspect(criteria, { owner });
      if ("fault" in inspection) refuseAt(criteriaField, inspection.fault);
      return inspection.readsGroundTruth;
    }
  }
}

type Fault = { readonly message: string; readonly line: number; readonly column: number };

function refuseAt(field: string, { message, line, column }: Fault): never {
  return refuse(field, `line ${line}, column ${column}: ${message}`);
}

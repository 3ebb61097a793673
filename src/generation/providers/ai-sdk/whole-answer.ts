// Wraps JSON as the answer of an upstream call. Source: docs/decisions.md, 21.

import type { JsonObject } from "../../../base/json.ts";
import type { Usage } from "../../usage.ts";
import type { WholeAnswer } from "../../calls/model-call.ts";

export function toWholeAnswer(json: JsonObject, usage: Usage | undefined): WholeAnswer {
  const bytes = Buffer.from(JSON.stringify(json));
  return { kind: "whole", bytes, json, contentType: "application/json", usage };
}

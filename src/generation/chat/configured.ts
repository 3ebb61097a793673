// A chat that names a configuration: what the request does not say itself comes from there.
// Source: docs/decisions.md, 44.5; docs/prompts.md.

import type { UsedConfiguration } from "../configurations/used.ts";
import type { ChatRequest } from "./request.ts";

export function withConfiguration(request: ChatRequest, used: UsedConfiguration): ChatRequest {
  const hasFunctions = request.functions.length > 0;
  const { functionCall = hasFunctions ? undefined : used.functionCall } = request;
  return {
    ...request,
    model: request.model || (request.provider ? used.plainModel : used.model),
    hyperparameters: { ...used.hyperparameters, ...request.hyperparameters },
    functions: hasFunctions ? request.functions : used.functions,
    functionCall,
    used,
  };
}

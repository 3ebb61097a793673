// Checks again, beside the handler, what the gate checked on the headers: no call reaches a service
// whose caller's key kind does not hold its permission, whichever protocol brought it here.
// Source: docs/decisions.md, 35.

import type { Interceptor } from "@connectrpc/connect";
import { accessRuleOf, assertAllowed } from "../access-rules.ts";
import { principalKey } from "../context.ts";

export const authorizeInterceptor: Interceptor = (next) => (request) => {
  assertAllowed(accessRuleOf(request.method), request.contextValues.get(principalKey));
  return next(request);
};

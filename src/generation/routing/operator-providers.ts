// The deployment's own providers and aliases, which every project may use. Made at start from the
// configuration; given to routing. Source: docs/decisions.md, 21.

import type { OperatorProvider } from "../../provider-settings.ts";
import type { Alias, Providers } from "./resolve.ts";

/** Returns the operator's settings as routing reads them. */
export function toOperatorProviders(
  providers: readonly OperatorProvider[],
  aliases: readonly Alias[],
): Providers {
  const connections = providers.map((provider) => ({
    ...provider,
    id: `operator:${provider.name}`,
    isOperators: true,
  }));
  return { connections, aliases };
}

// Providers and aliases from the configuration, which every project may use.
// Source: docs/decisions.md, 21.

import type { OperatorProvider } from "../../../provider-settings.ts";
import type { Alias, Providers } from "./resolve.ts";

/** Converts the operator's settings for routing. */
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

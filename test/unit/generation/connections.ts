// Connections to providers for tests of what calls them.

import type { Connection, Route, Target } from "../../../src/generation/provider.ts";

/**
 * Returns a connection of the operator to an OpenAI-compatible server, but for what `over` says.
 */
export function connectionOf(over: Partial<Connection> = {}): Connection {
  return {
    id: over.name ?? "local",
    name: "local",
    type: "openai_compatible",
    baseUrl: "http://127.0.0.1:1/v1",
    resourceName: null,
    apiVersion: null,
    region: null,
    secrets: {},
    isOperators: true,
    ...over,
  };
}

/** Returns a route of the models of connections, `name/model` each. */
export function routeOf(first: string, ...rest: readonly string[]): Route {
  const toTarget = (text: string): Target => {
    const [name = "", model = ""] = text.split("/");
    return { connection: connectionOf({ name }), model };
  };
  return { asked: "asked", targets: [toTarget(first), ...rest.map(toTarget)] };
}

// Names of permissions, from the `x-permission` of each operation in `/openapi.json`. Pure
// functions.

const levels = ["org", "dataplane", "workspace", "project"];

/** Returns every permission that some call requires, sorted. */
export function permissionsOf(openApi: unknown): readonly string[] {
  const { paths = {} } = openApi as { readonly paths?: Readonly<Record<string, object>> };
  const operations = Object.values(paths).flatMap((path) => Object.values(path) as unknown[]);
  const found = operations.flatMap((operation) => {
    if (typeof operation !== "object" || operation === null) return [];
    const permission = (operation as Record<string, unknown>)["x-permission"];
    if (typeof permission !== "string") return [];
    // One call serves several levels.
    if (!permission.includes("{scope}")) return [permission];
    return levels.map((level) => permission.replace("{scope}", level));
  });
  return [...new Set(found)].toSorted();
}

/** Returns the patterns over the permissions: `project.event.*` of `project.event.get`. */
export function permissionGroups(names: readonly string[]): readonly string[] {
  const patterns = names.flatMap((name) => {
    const parts = name.split(".");
    return [
      `${parts[0] ?? ""}.*`,
      ...(parts.length > 2 ? [`${parts.slice(0, 2).join(".")}.*`] : []),
    ];
  });
  return [...new Set(patterns)].toSorted();
}

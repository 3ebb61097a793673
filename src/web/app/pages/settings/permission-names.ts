// Names of permissions, from the `x-permission` of each operation in `/openapi.json`. Pure
// functions.

/** Levels by the path that names their scopes. */
const levels: readonly (readonly [path: string, level: string])[] = [
  ["/v1/orgs/", "org"],
  ["/v1/virtual_dataplanes/", "dataplane"],
  ["/v1/workspaces/", "workspace"],
  ["/v1/projects/", "project"],
];

/** Returns every permission that some call requires, sorted. */
export function permissionsOf(openApi: unknown): readonly string[] {
  const { paths = {} } = openApi as { readonly paths?: Readonly<Record<string, object>> };
  const found = Object.entries(paths).flatMap(([path, operations]) => {
    const level = levels.find(([prefix]) => path.startsWith(prefix))?.[1];
    return (Object.values(operations) as unknown[]).flatMap((operation) => {
      if (typeof operation !== "object" || operation === null) return [];
      const permission = (operation as Record<string, unknown>)["x-permission"];
      if (typeof permission !== "string") return [];
      // The path of a call that serves several levels says which.
      return level === undefined ? [permission] : [permission.replace("{scope}", level)];
    });
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

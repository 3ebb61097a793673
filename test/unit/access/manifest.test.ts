// The roles manifest: the built-in one, and what each fault of another says, with its line.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TraceService } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import {
  findUnusedPatterns,
  loadManifest,
  parseManifest,
} from "../../../src/access/roles/manifest.ts";
import type { Manifest } from "../../../src/access/roles/manifest.ts";
import { grantsOf } from "../../../src/access/roles/grants.ts";
import { anyCovers } from "../../../src/access/permissions.ts";
import { permissionsOf } from "../../../src/transport/interceptors/authorize.ts";
import { systemScopeId } from "../../../src/access/scope.ts";
import { rpcs } from "../../support/contract.ts";

const scopeId = "0190c2a4-5c1e-7cc1-8d3a-0f2b6a9c1d10";

/** The roles that must exist, in lines 1 to 21. */
const roles = `roles:
  system_admin:
    title: System Admin
    levels: [system]
    permissions: ["*"]
  org_admin:
    title: Org Admin
    levels: [org]
    permissions: [org.*]
  dataplane_admin:
    title: Data Plane Admin
    levels: [dataplane]
    permissions: [dataplane.*]
  workspace_admin:
    title: Workspace Admin
    levels: [workspace]
    permissions: [workspace.*]
  project_admin:
    title: Project Admin
    levels: [project]
    permissions: [project.*]
`;

function faultsOf(text: string): readonly string[] {
  try {
    parseManifest(text, "roles.yaml");
    return [];
  } catch (error) {
    return (error as Error).message.split("\n");
  }
}

/** Another role at line 22. */
function withRole(lines: string): string {
  return `${roles}${lines}\n`;
}

/** Groups from line 22 on. */
function withGroups(lines: string): string {
  return `${roles}groups:\n${lines}\n`;
}

describe("the built-in manifest", () => {
  test("has the documented roles, each for one level", async () => {
    const { roles } = await loadManifest(undefined);

    expect([...roles.values()].map(({ name, levels }) => [name, ...levels])).toEqual([
      ["system_admin", "system"],
      ["org_admin", "org"],
      ["org_member", "org"],
      ["dataplane_admin", "dataplane"],
      ["dataplane_member", "dataplane"],
      ["workspace_admin", "workspace"],
      ["workspace_member", "workspace"],
      ["project_admin", "project"],
      ["project_member", "project"],
      ["project_viewer", "project"],
    ]);
  });

  test.each([
    { role: "org_admin", may: "org.member.put", mayNot: "system.org.create" },
    { role: "org_admin", may: "project.event.create", mayNot: "system.org.create" },
    { role: "org_member", may: "workspace.scope.get", mayNot: "project.event.list" },
    { role: "dataplane_admin", may: "dataplane.workspace.create", mayNot: "org.scope.put" },
    { role: "dataplane_member", may: "dataplane.scope.get", mayNot: "dataplane.scope.put" },
    { role: "workspace_admin", may: "workspace.fine_grained_api_key_cp.post", mayNot: "org.x.y" },
    { role: "workspace_member", may: "project.event.create", mayNot: "workspace.member.create" },
    { role: "project_admin", may: "project.ro_project_api_key.post", mayNot: "workspace.x.y" },
    { role: "project_member", may: "project.session.create", mayNot: "project.member.create" },
    { role: "project_viewer", may: "project.session.get", mayNot: "project.event.create" },
    { role: "project_viewer", may: "project.feedback.list", mayNot: "project.feedback.create" },
    { role: "project_member", may: "project.generation.create", mayNot: "project.member.create" },
    { role: "workspace_member", may: "project.feedback.create", mayNot: "workspace.scope.put" },
  ])("$role may $may and not $mayNot", async ({ role, may, mayNot }) => {
    const { roles } = await loadManifest(undefined);
    const permissions = roles.get(role)?.permissions ?? [];

    expect(anyCovers(permissions, may)).toBe(true);
    expect(anyCovers(permissions, mayNot)).toBe(false);
  });
});

describe("the built-in manifest's permissions", () => {
  const methods = [...rpcs, TraceService.method.export];
  const asked = methods.flatMap((method) => permissionsOf(method));

  test("are all asked for by some call", async () => {
    expect(findUnusedPatterns(await loadManifest(undefined), asked)).toEqual([]);
  });

  test("hold every permission of an organization at its administrator", async () => {
    const { roles } = await loadManifest(undefined);
    const permissions = roles.get("org_admin")?.permissions ?? [];
    const missing = asked.filter((permission) => !anyCovers(permissions, permission));

    expect(new Set(missing)).toEqual(
      new Set(["system.org.create", "system.role.list", "system.me.get"]),
    );
  });
});

describe("parseManifest", () => {
  test("reads roles and groups", () => {
    const manifest = parseManifest(
      withGroups(
        "  - {group: staff, role: system_admin, level: system}\n" +
          `  - {group: acme, role: org_admin, level: org, scope_id: ${scopeId.toUpperCase()}}`,
      ),
      "roles.yaml",
    );

    expect(manifest.roles.get("org_admin")).toEqual({
      name: "org_admin",
      title: "Org Admin",
      levels: ["org"],
      permissions: ["org.*"],
    });
    expect(manifest.groups).toEqual([
      { group: "staff", role: "system_admin", level: "system", scopeId: systemScopeId },
      { group: "acme", role: "org_admin", level: "org", scopeId },
    ]);
    expect(manifest.patterns[1]).toEqual({ pattern: "org.*", line: 9 });
  });

  test.each([
    { name: "an empty file", text: "", want: "1: the manifest must be a map with roles" },
    { name: "a list", text: "- a", want: "1: the manifest must be a map, at most 10000 long" },
    {
      name: "no YAML",
      text: `${roles}groups: [`,
      want: "22: Flow sequence in block collection must be sufficiently indented and end with a ]",
    },
    {
      name: "an unknown key at the top",
      text: withRole("teams: []"),
      want: '22: the manifest has the unknown key "teams"',
    },
    {
      name: "a key twice",
      text: `${roles}groups: []\ngroups: []`,
      want: "23: groups stands a second time in the manifest",
    },
    {
      name: "an unknown key of a role",
      text: withRole(
        "  a:\n    title: A\n    levels: [org]\n    permissions: [org.*]\n    color: red",
      ),
      want: '26: role "a" has the unknown key "color"',
    },
    {
      name: "a role without levels",
      text: withRole("  a:\n    title: A\n    permissions: [org.*]"),
      want: '23: role "a" has no levels',
    },
    {
      name: "an empty role",
      text: withRole("  a:"),
      want: '22: role "a" must be a map, at most 10000 long',
    },
    {
      name: "a title that is no text",
      text: withRole("  a:\n    title: 3\n    levels: [org]\n    permissions: [org.*]"),
      want: "23: title must be text of 1 to 256 printable characters",
    },
    {
      name: "levels that are no list",
      text: withRole("  a:\n    title: A\n    levels: org\n    permissions: [org.*]"),
      want: "24: levels must be a list, at most 10000 long",
    },
    {
      name: "an unknown level",
      text: withRole("  a:\n    title: A\n    levels: [org, team]\n    permissions: [org.*]"),
      want: '24: level "team" must be one of system, org, dataplane, workspace, project',
    },
    {
      name: "no permissions",
      text: withRole("  a:\n    title: A\n    levels: [org]\n    permissions: []"),
      want: "25: permissions must not be empty",
    },
    {
      name: "a wildcard inside a permission",
      text: withRole(
        "  a:\n    title: A\n    levels: [org]\n    permissions:\n      - org.*\n      - org.*.get",
      ),
      want:
        '27: permission "org.*.get" must be lower-case parts joined by dots, ' +
        "with * only as the last part",
    },
    {
      name: "a permission of no level",
      text: withRole("  a:\n    title: A\n    levels: [org]\n    permissions: [team.x.get]"),
      want:
        '25: permission "team.x.get" must begin with one of ' +
        "system, org, dataplane, workspace, project",
    },
    {
      name: "a role's name in capitals",
      text: withRole("  A:\n    title: A\n    levels: [org]\n    permissions: [org.*]"),
      want: '22: role "A" must be 1 to 64 of a-z, 0-9 and _, a letter first',
    },
    {
      name: "a role twice",
      text: withRole("  org_admin:\n    title: A\n    levels: [org]\n    permissions: [org.*]"),
      want: "22: role org_admin stands here a second time",
    },
    {
      name: "an administrator that is missing",
      text: roles.replace("org_admin", "org_boss"),
      want: "2: role org_admin must exist: it is given to makers of scopes",
    },
    {
      name: "an administrator of another level",
      text: roles.replace("levels: [org]", "levels: [project]"),
      want: "2: role org_admin must have the level org",
    },
    {
      name: "a group of an unknown role",
      text: withGroups(`  - group: g\n    role: boss\n    level: org\n    scope_id: ${scopeId}`),
      want: '24: role "boss" is not in roles',
    },
    {
      name: "a group of a role that is not for the level",
      text: withGroups(
        `  - group: g\n    role: org_admin\n    level: project\n    scope_id: ${scopeId}`,
      ),
      want: "25: role org_admin has the levels org, not project",
    },
    {
      name: "a group at an unknown level",
      text: withGroups(
        `  - group: g\n    role: org_admin\n    level: team\n    scope_id: ${scopeId}`,
      ),
      want: '25: level "team" must be one of system, org, dataplane, workspace, project',
    },
    {
      name: "a group without a scope",
      text: withGroups("  - group: g\n    role: org_admin\n    level: org"),
      want: "23: scope_id is missing: the id of the org",
    },
    {
      name: "a group whose scope is no id",
      text: withGroups("  - group: g\n    role: org_admin\n    level: org\n    scope_id: acme"),
      want: '26: scope_id "acme" must be the id of the org, a UUID',
    },
    {
      name: "a group with a scope above all",
      text: withGroups(
        `  - group: g\n    role: system_admin\n    level: system\n    scope_id: ${scopeId}`,
      ),
      want: "26: scope_id must be absent at level system",
    },
    {
      name: "a group without a name",
      text: withGroups(`  - role: org_admin\n    level: org\n    scope_id: ${scopeId}`),
      want: "23: a group has no group",
    },
  ])("refuses $name by its line", ({ text, want }) => {
    expect(faultsOf(text)).toEqual([`roles.yaml:${want}`]);
  });

  test("names all faults at once, in order, and counts those beyond the twentieth", () => {
    const bad = Array.from({ length: 23 }, (_, index) => `      - x${index}.y.z`).join("\n");
    const text = withRole(`  a:\n    title: A\n    levels: [org]\n    permissions:\n${bad}`);
    const got = faultsOf(text);

    expect(got).toHaveLength(21);
    expect(got[0]).toMatch(/^roles\.yaml:26: permission "x0\.y\.z"/);
    expect(got[20]).toBe("and 3 more");
  });
});

describe("loadManifest", () => {
  test("reads the file that it is given, and names it in faults", async () => {
    const folder = await mkdtemp(join(tmpdir(), "waggle-manifest-"));
    try {
      const path = join(folder, "own.yaml");
      await writeFile(path, roles);
      expect((await loadManifest(path)).roles.size).toBe(5);
      await writeFile(path, withRole("teams: []"));
      await expect(loadManifest(path)).rejects.toThrow(`${path}:22: `);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("says when the file is absent or is no manifest's size", async () => {
    const folder = await mkdtemp(join(tmpdir(), "waggle-manifest-"));
    try {
      const path = join(folder, "own.yaml");
      await expect(loadManifest(path)).rejects.toThrow(/own\.yaml: .*ENOENT/);
      await writeFile(path, "#".repeat(1_000_001));
      await expect(loadManifest(path)).rejects.toThrow("is larger than 1000000 bytes");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("findUnusedPatterns", () => {
  test("returns patterns that hold no permission of the release, with their lines", () => {
    const manifest = parseManifest(roles, "roles.yaml");
    const got = findUnusedPatterns(manifest, ["org.scope.get", "project.event.get"]);

    expect(got).toEqual([
      { pattern: "dataplane.*", line: 13 },
      { pattern: "workspace.*", line: 17 },
    ]);
  });
});

describe("grantsOf", () => {
  const manifest: Manifest = parseManifest(
    withGroups(`  - {group: acme, role: org_admin, level: org, scope_id: ${scopeId}}`),
    "roles.yaml",
  );
  const orgGrant = { level: "org", scopeId, permissions: ["org.*"] };

  test("gives what memberships and groups permit", () => {
    const membership = { level: "project", scopeId: "p", role: "project_admin" } as const;

    expect(grantsOf(manifest, [membership], ["acme", "others"])).toEqual([
      { level: "project", scopeId: "p", permissions: ["project.*"] },
      orgGrant,
    ]);
  });

  test("gives nothing for a role that is gone, or is no longer for the level", () => {
    const memberships = [
      { level: "org", scopeId, role: "org_boss" },
      { level: "workspace", scopeId, role: "org_admin" },
    ] as const;

    expect(grantsOf(manifest, memberships, [])).toEqual([]);
  });
});

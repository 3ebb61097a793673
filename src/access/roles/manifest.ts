// The roles manifest: permissions of each role, and roles of the identity provider's groups. Read
// once at start, from the built-in roles.yaml or the operator's file. Source: docs/spec.md,
// Authentication, 6; docs/decisions.md, 33.

import { groupLengthMax } from "../../base/field-limits.ts";
import { readFile, stat } from "node:fs/promises";
import { LineCounter, parseDocument } from "yaml";
import { isUuid } from "../../base/ids.ts";
import { OperatorError } from "../../base/operator-error.ts";
import { findPatternFault, overlaps } from "../permissions.ts";
import { type ScopeLevel, scopeLevels, systemScopeId } from "../scope.ts";
import { createManifestReader } from "./manifest-reader.ts";
import type { Entries, Item, ManifestReader } from "./manifest-reader.ts";

export type Role = {
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  /** Levels of the scopes in which the role may be given. */
  readonly levels: readonly ScopeLevel[];
  /** Dotted names, with `*` allowed as the last part; see permissions.ts. */
  readonly permissions: readonly string[];
};

/** Gives all members of the identity provider's group the role in the scope. */
export type GroupRole = {
  readonly group: string;
  readonly role: string;
  readonly level: ScopeLevel;
  /** The nil UUID for level system. */
  readonly scopeId: string;
};

export type Manifest = {
  /** Path of the file, or `roles.yaml` for the built-in one. */
  readonly source: string;
  readonly roles: ReadonlyMap<string, Role>;
  readonly groups: readonly GroupRole[];
  /** Every permission pattern with its line, counted from 1. */
  readonly patterns: readonly { readonly pattern: string; readonly line: number }[];
};

const builtIn = { path: new URL("./roles.yaml", import.meta.url), source: "roles.yaml" };

/** Maximum bytes: people write a manifest by hand, and a larger file is not a manifest. */
const bytesMax = 1_000_000;
const titleLengthMax = 256;
const rolePattern = /^[a-z][a-z0-9_]{0,63}$/;

const adminRoles: Readonly<Record<ScopeLevel, string>> = {
  system: "system_admin",
  org: "org_admin",
  dataplane: "dataplane_admin",
  workspace: "workspace_admin",
  project: "project_admin",
};

/** Returns the role for a scope's first administrator; every manifest has it. */
export function adminRoleOf(level: ScopeLevel): string {
  return adminRoles[level];
}

/**
 * Reads the manifest at `path`, or the built-in one.
 *
 * Fails with OperatorError, with a line for each fault that names the file and the line.
 */
export async function loadManifest(path: string | undefined): Promise<Manifest> {
  const source = path ?? builtIn.source;
  return parseManifest(await readText(path ?? builtIn.path, source), source);
}

async function readText(path: string | URL, source: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > bytesMax) throw new OperatorError(`${source}: is larger than ${bytesMax} bytes`);
    return await readFile(path, "utf8");
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    const { code = "it cannot be read" } = cause as NodeJS.ErrnoException;
    throw new OperatorError(`${source}: the roles manifest cannot be read: ${code}`, { cause });
  }
}

/** Parses the text of a manifest; fails like `loadManifest`. */
export function parseManifest(text: string, source: string): Manifest {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
  });
  const reader = createManifestReader({ document, lines, source });
  reader.assertSyntax();
  const top = reader.readEntries(reader.root, "the manifest", ["roles", "groups"], ["roles"]);
  const patterns: Manifest["patterns"][number][] = [];
  const roles = readRoles(reader, top, patterns);
  checkAdminRoles(reader, top, roles);
  const groups = readGroups(reader, top, roles);
  reader.assertFaultless();
  return { source, roles, groups, patterns };
}

/** Returns the patterns that include none of the permissions, each with its line. */
export function findUnusedPatterns(
  manifest: Manifest,
  permissions: Iterable<string>,
): Manifest["patterns"] {
  const known = [...permissions];
  return manifest.patterns.filter(
    ({ pattern }) => !known.some((permission) => overlaps(pattern, permission)),
  );
}

function readRoles(
  reader: ManifestReader,
  top: Entries,
  patterns: Manifest["patterns"][number][],
): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>();
  for (const { key, value, at } of reader.listEntries(top.get("roles"), "roles")) {
    if (!rolePattern.test(key)) {
      reader.fault(at, `role ${show(key)} must be 1 to 64 of a-z, 0-9 and _, a letter first`);
    } else if (roles.has(key)) {
      reader.fault(at, `role ${key} stands here a second time`);
    }
    roles.set(key, readRole(reader, { key, value, at }, patterns));
  }
  return roles;
}

function readRole(
  reader: ManifestReader,
  { key: name, value }: { readonly key: string; readonly value: Item; readonly at: Item },
  patterns: Manifest["patterns"][number][],
): Role {
  const fields = ["title", "levels", "permissions"];
  const entries = reader.readEntries(value, `role ${show(name)}`, fields, fields);
  const levels = reader.listTexts(entries.get("levels"), "levels").flatMap(({ text, at }) => {
    const level = scopeLevels.find((candidate) => candidate === text);
    if (!level) reader.fault(at, `level ${show(text)} must be one of ${scopeLevels.join(", ")}`);
    return level ? [level] : [];
  });
  const permissions = reader.listTexts(entries.get("permissions"), "permissions");
  for (const { text, at } of permissions) {
    const fault = findPatternFault(text);
    if (fault !== undefined) reader.fault(at, `permission ${show(text)} ${fault}`);
    patterns.push({ pattern: text, line: reader.lineOf(at) });
  }
  return {
    name,
    title: reader.readText(entries.get("title"), "title", titleLengthMax),
    levels: [...new Set(levels)],
    permissions: [...new Set(permissions.map(({ text }) => text))],
  };
}

/**
 * Checks that these roles exist: creators of scopes appoint people to them, and so is the first
 * administrator.
 */
function checkAdminRoles(
  reader: ManifestReader,
  top: Entries,
  roles: ReadonlyMap<string, Role>,
): void {
  const at = top.get("roles");
  // A manifest without roles already has its fault.
  if (!at) return;
  for (const level of scopeLevels) {
    const name = adminRoleOf(level);
    const role = roles.get(name);
    if (!role) reader.fault(at, `role ${name} must exist: it is given to makers of scopes`);
    else if (role.levels.length > 0 && !role.levels.includes(level)) {
      reader.fault(at, `role ${name} must have the level ${level}`);
    }
  }
}

function readGroups(
  reader: ManifestReader,
  top: Entries,
  roles: ReadonlyMap<string, Role>,
): readonly GroupRole[] {
  return reader.listItems(top.get("groups"), "groups").map((item) => {
    const fields = ["group", "role", "level", "scope_id"];
    const entries = reader.readEntries(item, "a group", fields, ["group", "role", "level"]);
    const group = reader.readText(entries.get("group"), "group", groupLengthMax);
    const role = reader.readText(entries.get("role"), "role", groupLengthMax);
    const level = readGroupLevel(reader, entries, roles, role);
    const scopeId = readScopeId(reader, entries, item, level);
    // An invalid level is a fault, and the reading fails.
    return { group, role, level: level ?? "system", scopeId };
  });
}

function readGroupLevel(
  reader: ManifestReader,
  entries: Entries,
  roles: ReadonlyMap<string, Role>,
  role: string,
): ScopeLevel | undefined {
  const [roleAt, levelAt] = [entries.get("role"), entries.get("level")];
  const text = reader.readText(levelAt, "level", groupLengthMax);
  const level = scopeLevels.find((candidate) => candidate === text);
  const known = roles.get(role);
  if (roleAt && role !== "" && !known) reader.fault(roleAt, `role ${show(role)} is not in roles`);
  if (levelAt && text !== "" && !level) {
    reader.fault(levelAt, `level ${show(text)} must be one of ${scopeLevels.join(", ")}`);
  } else if (levelAt && level && known && !known.levels.includes(level)) {
    reader.fault(levelAt, `role ${role} has the levels ${known.levels.join(", ")}, not ${level}`);
  }
  return level;
}

function readScopeId(
  reader: ManifestReader,
  entries: Entries,
  item: Item,
  level: ScopeLevel | undefined,
): string {
  const at = entries.get("scope_id");
  if (level === "system") {
    if (at) reader.fault(at, "scope_id must be absent at level system");
    return systemScopeId;
  }
  if (!level) return "";
  if (!at) {
    reader.fault(item, `scope_id is missing: the id of the ${level}`);
    return "";
  }
  const scopeId = reader.readText(at, "scope_id", groupLengthMax).toLowerCase();
  if (scopeId !== "" && !isUuid(scopeId)) {
    reader.fault(at, `scope_id ${show(scopeId)} must be the id of the ${level}, a UUID`);
  }
  return scopeId;
}

const shownLengthMax = 80;

function show(text: string): string {
  return JSON.stringify(text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text);
}

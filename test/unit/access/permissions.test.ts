// Wildcards of permissions against a reference that lists what each pattern holds.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiKeyService } from "../../../gen/waggle/v1/api_key_pb.js";
import {
  anyCovers,
  covers,
  findKeyCreation,
  findPatternFault,
  intersect,
  listPowers,
  overlaps,
} from "../../../src/access/permissions.ts";
import { accessRuleOf } from "../../../src/transport/access-rules.ts";
import { permissionsOf } from "../../../src/transport/interceptors/authorize.ts";
import { rpcs } from "../../support/contract.ts";

/** A small world in which every permission can be written down. */
const words = ["a", "b"];
const pairs = words.flatMap((first) => words.map((second) => `${first}.${second}`));
const triples = pairs.flatMap((pair) => words.map((third) => `${pair}.${third}`));
const world = ["org", "project"].flatMap((level) =>
  [...words, ...pairs, ...triples].map((rest) => `${level}.${rest}`),
);

/** Returns the permissions that a pattern covers, by comparing part by part with each of them. */
function held(pattern: string): readonly string[] {
  const wanted = pattern.split(".");
  const isOpen = wanted.at(-1) === "*";
  const fixed = isOpen ? wanted.slice(0, -1) : wanted;
  return world.filter((permission) => {
    const parts = permission.split(".");
    const begins = fixed.every((part, index) => parts[index] === part);
    return begins && (isOpen ? parts.length > fixed.length : parts.length === fixed.length);
  });
}

/** Patterns in the shape of the world, no longer than it is deep. */
const pattern = fc.oneof(
  fc.constant("*"),
  fc.constantFrom(...world),
  fc.constantFrom("org.*", "project.*"),
  fc
    .constantFrom(...world.filter((permission) => permission.split(".").length < 4))
    .map((permission) => `${permission}.*`),
);
const permission = fc.constantFrom(...world);

/** Returns the pattern that is one step wider: its last name becomes `*`. */
function widen(one: string): string {
  const parts = one.split(".");
  const names = parts.at(-1) === "*" ? parts.slice(0, -1) : parts;
  return names.length <= 1 ? "*" : `${names.slice(0, -1).join(".")}.*`;
}

describe("covers", () => {
  test("agrees with the reference on permissions", () => {
    fc.assert(
      fc.property(pattern, permission, (one, name) => {
        expect(covers(one, name)).toBe(held(one).includes(name));
      }),
    );
  });

  test("of two patterns means that all the one holds, the other holds", () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const isReallyCovered = held(other).every((name) => held(one).includes(name));
        if (covers(one, other)) expect(isReallyCovered).toBe(true);
      }),
    );
  });

  test("never loses a permission when a pattern is widened", () => {
    fc.assert(
      fc.property(pattern, permission, (one, name) => {
        expect(covers(widen(one), one)).toBe(true);
        if (covers(one, name)) expect(covers(widen(one), name)).toBe(true);
      }),
    );
  });

  test("is transitive", () => {
    fc.assert(
      fc.property(pattern, pattern, pattern, (one, two, three) => {
        if (covers(one, two) && covers(two, three)) expect(covers(one, three)).toBe(true);
      }),
    );
  });

  test.each([
    { pattern: "project.*", permission: "project", want: false },
    { pattern: "project.*", permission: "projects.event.get", want: false },
    { pattern: "project.event", permission: "project.event.get", want: false },
    { pattern: "project.event.get", permission: "project.event.*", want: false },
    { pattern: "project.*", permission: "*", want: false },
    { pattern: "project.*", permission: "project.*", want: true },
  ])("$pattern holds $permission: $want", ({ pattern: one, permission: name, want }) => {
    expect(covers(one, name)).toBe(want);
  });
});

describe("overlaps", () => {
  test("agrees with the reference", () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const isShared = held(one).some((name) => held(other).includes(name));
        expect(overlaps(one, other)).toBe(isShared);
      }),
    );
  });
});

describe("anyCovers", () => {
  test("never loses a permission when a pattern is added", () => {
    fc.assert(
      fc.property(fc.array(pattern), pattern, permission, (patterns, added, name) => {
        if (anyCovers(patterns, name)) expect(anyCovers([...patterns, added], name)).toBe(true);
      }),
    );
  });
});

describe("intersect", () => {
  test("holds exactly what both lists hold", () => {
    const patterns = fc.array(pattern, { maxLength: 4 });
    fc.assert(
      fc.property(patterns, patterns, permission, (ones, others, name) => {
        const got = anyCovers(intersect(ones, others), name);
        expect(got).toBe(anyCovers(ones, name) && anyCovers(others, name));
      }),
    );
  });
});

describe("findPatternFault", () => {
  test.each([
    { pattern: "*", want: undefined },
    { pattern: "org.*", want: undefined },
    { pattern: "project.ingestion_api_key.*", want: undefined },
    { pattern: "workspace.fine_grained_api_key_cp.post", want: undefined },
    { pattern: "", want: "must begin with" },
    { pattern: "org", want: "must have parts" },
    { pattern: "org.a.b.c.d.e.f", want: "must have parts" },
    { pattern: "team.member.get", want: "must begin with" },
    { pattern: "org.*.get", want: "* only as the last part" },
    { pattern: "org.Member.get", want: "must be lower-case" },
    { pattern: "org..get", want: "must be lower-case" },
    { pattern: "org.mem*", want: "must be lower-case" },
    { pattern: `org.${"a".repeat(128)}`, want: "is longer than 128" },
  ])("of $pattern says: $want", ({ pattern: text, want }) => {
    const got = findPatternFault(text);

    if (want === undefined) expect(got).toBeUndefined();
    else expect(got).toContain(want);
  });
});

describe("findKeyCreation", () => {
  test("knows the permission of every call that makes a key", () => {
    const making = ApiKeyService.methods.filter((method) => accessRuleOf(method).isSecretAnswer);
    const permissions = making.flatMap((method) => permissionsOf(method));

    expect(permissions.length).toBeGreaterThanOrEqual(8);
    for (const permission of permissions) expect(findKeyCreation(permission)).toBe(permission);
  });

  test.each([
    { pattern: "*", want: true },
    { pattern: "workspace.*", want: true },
    { pattern: "org.fine_grained_api_key_cp.*", want: true },
    { pattern: "org.fine_grained_api_key_cp.get", want: false },
    { pattern: "project.event.*", want: false },
  ])("of $pattern is $want", ({ pattern, want }) => {
    expect(findKeyCreation(pattern) !== undefined).toBe(want);
  });
});

describe("listPowers", () => {
  const changesOfMembers = (level: string) =>
    ["create", "put", "delete"].map((verb) => `${level}.member.${verb}`);
  const keysOfProject = [
    "project.ingestion_api_key.post",
    "project.project_api_key.post",
    "project.ro_project_api_key.post",
    "project.fine_grained_api_key_dp.post",
  ];

  test.each([
    { pattern: "*", want: ["*"] },
    { pattern: "org.*", want: ["org.*"] },
    { pattern: "org.member.*", want: ["org.member.*"] },
    { pattern: "org.scope.get", want: ["org.scope.get"] },
    { pattern: "system.org.create", want: ["system.org.create"] },
    { pattern: "dataplane.*", want: changesOfMembers("dataplane") },
    { pattern: "workspace.member.*", want: changesOfMembers("workspace") },
    { pattern: "workspace.member.put", want: ["workspace.member.put"] },
    { pattern: "project.*", want: [...changesOfMembers("project"), ...keysOfProject] },
    { pattern: "project.project_api_key.*", want: ["project.project_api_key.post"] },
    { pattern: "project.member.list", want: [] },
    { pattern: "project.event.*", want: [] },
    { pattern: "workspace.scope.put", want: [] },
    { pattern: "dataplane.scope.archive", want: [] },
  ])("of $pattern are $want", ({ pattern: one, want }) => {
    expect(listPowers(one)).toEqual(want);
  });

  test("are all that a wildcard holds of what the calls of the contract ask for", () => {
    const asked = rpcs.flatMap((method) => permissionsOf(method));
    const powers = asked.filter((name) => listPowers(name).length > 0);

    expect(powers.length).toBeGreaterThan(20);
    fc.assert(
      fc.property(fc.constantFrom(...powers), fc.nat(3), (power, steps) => {
        const wildcard = Array.from({ length: steps }).reduce<string>(widen, power);
        expect(anyCovers(listPowers(wildcard), power)).toBe(true);
      }),
    );
  });

  test("are none that a classic or ingestion key may use, whose maker holds none either", () => {
    const classic = ["project", "project_read_only", "ingestion"] as const;
    const ofClassicKeys = rpcs
      .filter((method) => classic.some((kind) => accessRuleOf(method).keyKinds?.has(kind)))
      .filter((method) => accessRuleOf(method).scope !== "any")
      .flatMap((method) => permissionsOf(method))
      // The scope of these callers is their project, also where the call is about another scope.
      .filter((name) => name.startsWith("project."));

    expect(ofClassicKeys.length).toBeGreaterThan(20);
    expect(ofClassicKeys.flatMap(listPowers)).toEqual([]);
  });
});

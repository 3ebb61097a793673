// What the web app shows to a person against what the service decides.

import { describe, expect, test } from "vitest";
import { MemberService } from "../../../gen/waggle/v1/member_pb.js";
import { isAllowed } from "../../../src/access/authorize.ts";
import type { UserPrincipal } from "../../../src/access/principal.ts";
import { loadManifest } from "../../../src/access/roles/manifest.ts";
import { type Scope, scopeInside, scopeLevels, systemScope } from "../../../src/access/scope.ts";
import { accessRuleOf } from "../../../src/transport/access-rules.ts";
import { mayCall } from "../../../src/web/app/session/may.ts";
import { rpcs } from "../../support/contract.ts";

const { roles } = await loadManifest(undefined);

/** Returns a scope of each level, each inside the one before. */
function scopesNamed(name: string): readonly Scope[] {
  const scopes: Scope[] = [systemScope];
  for (const level of ["org", "dataplane", "workspace", "project"] as const) {
    scopes.push(scopeInside(scopes.at(-1) ?? systemScope, { level, id: `${name} ${level}`, name }));
  }
  return scopes;
}

const own = scopesNamed("own");
const places = [...own, ...scopesNamed("other").slice(1)];

const idsOf = ({ orgId, dataplaneId, workspaceId, projectId }: Scope) => ({
  org: orgId,
  dataplane: dataplaneId,
  workspace: workspaceId,
  project: projectId,
});

const cases = [...roles.values()].flatMap(({ name, levels, permissions }) =>
  levels.map((level) => ({ name, level, permissions })),
);

describe("mayCall", () => {
  test.each(cases)("agrees with the service for $name of $level", ({ level, permissions }) => {
    const scopeId = own[scopeLevels.indexOf(level)]?.id ?? "";
    const principal: UserPrincipal = {
      kind: "user",
      email: "ana@example.org",
      expiresAtMs: 0,
      actor: { type: "user", id: "ana", name: "ana" },
      grants: [{ level, scopeId, permissions }],
    };
    const grants = [{ scopeType: level, scopeId, permissions: [...permissions] }];
    const asked = rpcs.filter((method) => accessRuleOf(method).permission.includes("."));
    expect(asked.length).toBeGreaterThan(150);

    for (const method of asked) {
      for (const place of places) {
        const permission = accessRuleOf(method).permission.replace("{scope}", place.level);
        const want = isAllowed(principal, { permission, keyKinds: new Set() }, place);
        const got = mayCall(grants, method, { level: place.level, ids: idsOf(place) });
        expect(got, `${permission} in ${place.name} ${place.level}`).toBe(want);
      }
    }
  });

  test("leaves open what depends on a scope above that is not known", () => {
    const grants = [{ scopeType: "workspace", scopeId: "own", permissions: ["project.*"] }];
    const { addMember } = MemberService.method;

    const answer = mayCall(grants, addMember, { level: "project", ids: { project: "one" } });

    expect(answer).toBe(undefined);
  });
});

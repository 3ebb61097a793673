// Which tenant a call counts for.

import { describe, expect, test } from "vitest";
import { systemScope, type Scope } from "../../../src/access/scope.ts";
import { tenantOf } from "../../../src/transport/interceptors/tenant.ts";
import { aKeyPrincipal, aUserPrincipal } from "../../support/controlplane.ts";

const org = (id: string): Scope => ({ level: "org", id, name: id, orgId: id });
const person = aUserPrincipal([]);

describe("tenantOf", () => {
  test.each([
    {
      name: "a key counts for its own organization, in one that it made too",
      principal: aKeyPrincipal(org("own")),
      scope: org("made"),
      want: { owner: "own", organization: "own" },
    },
    {
      name: "a person counts for the organization that the call is about",
      principal: person,
      scope: org("acme"),
      want: { owner: person.actor.id, organization: "acme" },
    },
    {
      name: "a person above all organizations counts alone",
      principal: person,
      scope: systemScope,
      want: { owner: person.actor.id, organization: undefined },
    },
    {
      name: "a person's call without a scope counts for the person alone",
      principal: person,
      scope: undefined,
      want: { owner: person.actor.id, organization: undefined },
    },
  ])("$name", ({ principal, scope, want }) => {
    expect(tenantOf(principal, scope)).toEqual(want);
  });
});

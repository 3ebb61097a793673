// Which organization and project gets a place while more want one than there are.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createFairPlaces,
  type FairPlacesOptions,
  type Leave,
  type Owner,
} from "../../../src/base/fair-places.ts";

const plenty: FairPlacesOptions = {
  max: 4,
  orgMax: 3,
  projectMax: 2,
  waitMs: 60_000,
  waitersMax: 100,
  refusal: "too many",
};

/** `a1` is project 1 of organization a. */
function ownerOf(name: string): Owner {
  return { orgId: name.charAt(0), projectId: name };
}

/** Has owners ask, and notes in which order they are admitted and refused. */
function givenPlaces(options: Partial<FairPlacesOptions> = {}) {
  const places = createFairPlaces({ ...plenty, ...options });
  const admitted: string[] = [];
  const refused: string[] = [];
  const leaves: Leave[] = [];
  async function enter(name: string): Promise<void> {
    try {
      leaves.push(await places.enter(ownerOf(name)));
      admitted.push(name);
    } catch {
      refused.push(name);
    }
  }
  async function enterAll(...names: readonly string[]): Promise<void> {
    for (const name of names) void enter(name);
    await settle();
  }
  async function leave(at: number): Promise<void> {
    leaves[at]?.();
    await settle();
  }
  return { places, admitted, refused, enterAll, leave };
}

/** Lets what was admitted go on. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("createFairPlaces", () => {
  test("leaves a place to other organizations, however many projects one has", async () => {
    const { admitted, enterAll } = givenPlaces();

    await enterAll("a1", "a2", "a3", "a4", "a5", "b1");

    expect(admitted).toEqual(["a1", "a2", "a3", "b1"]);
  });

  test("leaves a place to other projects of an organization", async () => {
    const { admitted, enterAll } = givenPlaces();

    await enterAll("a1", "a1", "a1", "a1", "a2");

    expect(admitted).toEqual(["a1", "a1", "a2"]);
  });

  test("gives one place to one after another where there is but one", async () => {
    const { admitted, enterAll, leave } = givenPlaces({ max: 1, orgMax: 1, projectMax: 1 });

    await enterAll("a1", "a1", "a2", "a1", "b1", "c1");
    for (let at = 0; at < 6; at += 1) await leave(at);

    expect(admitted).toEqual(["a1", "a1", "b1", "c1", "a2", "a1"]);
  });

  test("goes to the organization with the fewest places, whichever came first", async () => {
    const { admitted, enterAll, leave } = givenPlaces();

    await enterAll("a1", "a2", "a3", "b1", "a4", "c1");
    await leave(0);
    await leave(0);

    expect(admitted).toEqual(["a1", "a2", "a3", "b1", "c1"]);
  });

  test("refuses the newest of the organization that has the most waiting", async () => {
    const { admitted, refused, enterAll } = givenPlaces({ waitersMax: 4 });
    await enterAll("a1", "a1", "a2", "b1");

    await enterAll("a1", "a2", "a3", "a4", "a5", "c1", "d1", "e1", "f1");

    expect(admitted).toEqual(["a1", "a1", "a2", "b1"]);
    expect(refused.toSorted()).toEqual(["a2", "a3", "a4", "a5", "f1"]);
  });

  test("refuses the newest of the project with the most waiting in its organization", async () => {
    const { refused, enterAll } = givenPlaces({ waitersMax: 4 });
    await enterAll("a1", "a1", "a2", "b1");

    await enterAll("a1", "a1", "a1", "a1", "a2", "a1");

    expect(refused).toEqual(["a1", "a1"]);
  });

  test("ends a wait that takes too long, with a time to try again", async () => {
    const { places, enterAll } = givenPlaces({ max: 1, waitMs: 5 });
    await enterAll("a1");

    await expect(places.enter(ownerOf("b1"))).rejects.toMatchObject({
      reason: "OVERLOADED",
      retryAfterSeconds: 1,
    });
    expect(places.isCrowded()).toBe(false);
  });

  test("ends a wait with the reason of its signal", async () => {
    const { places, enterAll } = givenPlaces({ max: 1 });
    await enterAll("a1");
    const caller = new AbortController();

    const waiting = places.enter(ownerOf("b1"), caller.signal);
    caller.abort(new Error("the caller left"));

    await expect(waiting).rejects.toThrow("the caller left");
    expect(places.isCrowded()).toBe(false);
  });
});

/** A tenant that comes, or a work that ends: the one at this position of those that run. */
type Step = { readonly come: string } | { readonly end: number };

const names = ["a1", "a2", "a3", "b1", "b2", "c1"];
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(fc.record({ come: fc.constantFrom(...names) }), fc.record({ end: fc.nat({ max: 10 }) })),
  { minLength: 20, maxLength: 60 },
);

type Work = Owner & { readonly leave: Leave };
/** A work that waits, with the tenants that got a place meanwhile while its own had none. */
type Waiting = Owner & { byOrgs: readonly string[]; byProjects: readonly string[] };

describe("any tenants that come and go", () => {
  test("get no more places than they may, and are overtaken once by each other one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), steps, async (max, taken) => {
        const orgMax = Math.max(1, max - 1);
        const projectMax = Math.max(1, max - 2);
        const places = createFairPlaces({ ...plenty, max, orgMax, projectMax });
        const running: Work[] = [];
        let waiting: Waiting[] = [];

        async function come(owner: Owner): Promise<void> {
          const own: Waiting = { ...owner, byOrgs: [], byProjects: [] };
          waiting.push(own);
          const leave = await places.enter(owner);
          waiting = waiting.filter((one) => one !== own);
          noteOvertaken(waiting, running, owner);
          running.push({ ...owner, leave });
        }

        for (const step of taken) {
          if ("come" in step) void come(ownerOf(step.come));
          else {
            const [ended] = running.splice(step.end % Math.max(1, running.length), 1);
            ended?.leave();
          }
          await settle();
          expect(running.length).toBeLessThanOrEqual(max);
          expect(mostOf(running, "orgId")).toBeLessThanOrEqual(orgMax);
          expect(mostOf(running, "projectId")).toBeLessThanOrEqual(projectMax);
          for (const { byOrgs, byProjects } of waiting) {
            expect(byOrgs).toEqual([...new Set(byOrgs)]);
            expect(byProjects).toEqual([...new Set(byProjects)]);
          }
        }

        // All get a place in the end.
        while (running.length > 0) {
          running.shift()?.leave();
          await settle();
        }
        expect(waiting).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});

function noteOvertaken(
  waiting: readonly Waiting[],
  running: readonly Work[],
  { orgId, projectId }: Owner,
): void {
  const hasPlace = (key: keyof Owner, id: string) => running.some((work) => work[key] === id);
  for (const one of waiting) {
    if (one.orgId !== orgId) {
      if (!hasPlace("orgId", one.orgId)) one.byOrgs = [...one.byOrgs, orgId];
      continue;
    }
    one.byOrgs = [];
    if (one.projectId === projectId) one.byProjects = [];
    else if (!hasPlace("projectId", one.projectId)) one.byProjects = [...one.byProjects, projectId];
  }
}

function mostOf(works: readonly Work[], key: keyof Owner): number {
  const counts = [...Map.groupBy(works, (work) => work[key]).values()].map(({ length }) => length);
  return Math.max(0, ...counts);
}

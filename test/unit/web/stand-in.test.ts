// The node that stands for a session which was made for events that named none.

import { expect, test } from "vitest";
import type { SessionEvent } from "../../../src/web/app/pages/session/session-event.ts";
import { buildTree } from "../../../src/web/app/pages/session/session-tree.ts";
import { anEvent, aSession } from "./session-events.ts";

const unnamed = { ...aSession(), name: "unknown" };

function standInIdOf(session: SessionEvent, ...events: readonly SessionEvent[]) {
  const tree = buildTree(session, events);
  return tree.nodes[tree.standIn]?.event.id;
}

test("is the session itself if it has a name, or nothing else", () => {
  expect(standInIdOf(aSession(), anEvent({ id: "call", type: "model" }))).toBe("session");
  expect(standInIdOf(unnamed)).toBe("session");
});

test("is the newest call of a model, else the first event", () => {
  const tool = anEvent({ id: "tool", startMs: 1 });
  const first = anEvent({ id: "first", type: "model", startMs: 2 });
  const newest = anEvent({ id: "newest", type: "model", startMs: 5 });

  expect(standInIdOf(unnamed, tool, newest, first)).toBe("newest");
  expect(standInIdOf(unnamed, tool)).toBe("tool");
});

test("gives the session its name", () => {
  const call = anEvent({ id: "call", type: "model" });
  const named = { ...call, name: "reply" };

  const nameOf = (session: SessionEvent) => buildTree(session, [named]).nodes[0]?.event.name;

  expect(nameOf(unnamed)).toBe("reply");
  expect(nameOf(aSession())).toBe(aSession().name);
});

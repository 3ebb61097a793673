// The memory of callers, with a database that answers when the test says.

import { describe, expect, test } from "vitest";
import { createCallerMemory } from "../../../src/access/caller-memory.ts";
import type { UserPrincipal } from "../../../src/access/principal.ts";

const caller: UserPrincipal = {
  kind: "user",
  actor: { type: "user", id: "u1", name: "ada@example.org" },
  email: "ada@example.org",
  grants: [],
  expiresAtMs: Number.POSITIVE_INFINITY,
};
const hash = Buffer.from("aa", "hex");

function given(entriesMax = 10) {
  let nowMs = 0;
  const asked: PromiseWithResolvers<UserPrincipal | undefined>[] = [];
  const memory = createCallerMemory<UserPrincipal>({
    entriesMax,
    ageMsMax: 1_000,
    now: () => nowMs,
    find() {
      const answer = Promise.withResolvers<UserPrincipal | undefined>();
      asked.push(answer);
      return answer.promise;
    },
  });
  return { memory, asked, setNow: (ms: number) => (nowMs = ms) };
}

describe("createCallerMemory", () => {
  test("counts age from the question, not from an answer that comes late", async () => {
    const { memory, asked, setNow } = given();
    const first = memory.get(hash);
    setNow(900);
    asked[0]?.resolve(caller);
    await first;

    setNow(999);
    await memory.get(hash);
    setNow(1_000);
    const again = memory.get(hash);
    asked[1]?.resolve(undefined);

    await expect(again).rejects.toMatchObject({ reason: "NOT_FOUND" });
    expect(asked.length).toBe(2);
  });

  test("asks each time when it may hold nothing", async () => {
    const { memory, asked } = given(0);

    for (const index of [0, 1]) {
      const caught = memory.get(hash);
      asked[index]?.resolve(caller);
      expect(await caught).toBe(caller);
    }

    expect(asked.length).toBe(2);
  });

  test("forgets the least recently used caller when it is full", async () => {
    const { memory, asked } = given(2);
    const get = async (id: string) => {
      const caught = memory.get(Buffer.from(id, "hex"));
      asked.at(-1)?.resolve(caller);
      await caught;
    };
    for (const id of ["aa", "bb", "aa", "cc"]) await get(id);

    await get("aa");
    expect(asked.length).toBe(3);
    await get("bb");

    expect(asked.length).toBe(4);
  });

  test("asks once for many requests at a time", async () => {
    const { memory, asked } = given();
    const many = Promise.all([memory.get(hash), memory.get(hash), memory.get(hash)]);
    asked[0]?.resolve(caller);

    expect(await many).toEqual([caller, caller, caller]);
    expect(asked.length).toBe(1);
  });

  test("does not remember an answer to a question from before it was told to forget", async () => {
    const { memory, asked } = given();
    const before = memory.get(hash);
    memory.forget(hash.toString("hex"));
    asked[0]?.resolve(caller);
    await before;

    const after = memory.get(hash);
    asked[1]?.resolve(undefined);

    await expect(after).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });

  test("asks about no more callers than so many while none is answered", async () => {
    const { memory, asked } = given();
    const hashes = Array.from({ length: 2_001 }, (_, index) => Buffer.from(`caller ${index}`));
    const answers = hashes.map((one) => memory.get(one));

    await expect(answers.at(-1)).rejects.toMatchObject({ reason: "KEY_UNVERIFIABLE" });
    expect(asked.length).toBe(2_000);

    for (const one of asked) one.resolve(caller);
    await Promise.all(answers.slice(0, -1));
    const again = memory.get(hash);
    asked[2_000]?.resolve(caller);
    expect(await again).toEqual(caller);
  });
});

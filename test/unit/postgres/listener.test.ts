// The connection for notifications: it listens again after each cut, until Postgres agrees.

import { expect, test } from "vitest";
import {
  createListener,
  type Hooks,
  type ListenConnection,
} from "../../../src/postgres/listener.ts";
import { patience } from "../../support/patience.ts";

type Fake = ListenConnection & { readonly hooks: () => Hooks; readonly tries: string[] };

/** A connection whose n-th LISTEN fails where `isRefused` says so. */
function aConnection(isRefused: (attempt: number) => boolean): [Fake, (hooks: Hooks) => Fake] {
  let kept: Hooks | undefined;
  const fake: Fake = {
    tries: [],
    hooks() {
      if (!kept) throw new Error("not opened");
      return kept;
    },
    async listenTo(channel) {
      fake.tries.push(channel);
      if (isRefused(fake.tries.length)) throw new Error("cannot execute LISTEN during recovery");
    },
    end: () => Promise.resolve(),
  };
  return [
    fake,
    (hooks) => {
      kept = hooks;
      return fake;
    },
  ];
}

test("listens again where a standby refused it after a cut", async () => {
  const [fake, open] = aConnection((attempt) => attempt > 1 && attempt < 4);
  const listener = createListener(open);
  const heard: string[] = [];
  let listening = 0;
  listener.listen(
    "changes",
    (payload) => heard.push(payload),
    () => (listening += 1),
  );
  await expect.poll(() => listening, patience).toBe(1);

  fake.hooks().onclose();

  await expect.poll(() => listening, patience).toBe(2);
  expect(fake.tries).toHaveLength(4);
  fake.hooks().onnotify("changes", "a");
  fake.hooks().onnotify("others", "b");
  expect(heard).toEqual(["a"]);
  await listener.close();
});

test("listens again where the connection closed during a LISTEN", async () => {
  const [fake, open] = aConnection((attempt) => {
    if (attempt === 1) fake.hooks().onclose();
    return false;
  });
  const listener = createListener(open);
  let listening = 0;
  listener.listen(
    "changes",
    () => undefined,
    () => (listening += 1),
  );

  await expect.poll(() => listening, patience).toBe(1);
  expect(fake.tries).toHaveLength(2);
  await listener.close();
});

test("tries no more once it is closed", async () => {
  const [fake, open] = aConnection(() => true);
  const listener = createListener(open);
  listener.listen(
    "changes",
    () => undefined,
    () => undefined,
  );
  await expect.poll(() => fake.tries.length, patience).toBeGreaterThan(0);

  await listener.close();

  const { length } = fake.tries;
  fake.hooks().onclose();
  await new Promise((settle) => setImmediate(settle));
  expect(fake.tries).toHaveLength(length);
});

// The service and the browser of a test file: started before its tests, stopped after them.

import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { sayMissing } from "../../clients/environment.ts";
import { startApp, type TestApp } from "./app.ts";

export type GivenAppOptions = {
  /** Returns command-line flags of the service; called when it starts. */
  readonly flags?: () => Readonly<Record<string, string>>;
  /** Sends what the tests of the file look at. */
  readonly prepare?: (app: TestApp) => Promise<void>;
};

export type GivenApp = Omit<TestApp, "closePages" | "stop">;

export const looks = [
  { theme: "light", size: "wide" },
  { theme: "dark", size: "narrow" },
] as const;

export const allLooks = [
  ...looks,
  { theme: "dark", size: "wide" },
  { theme: "light", size: "narrow" },
] as const;

const missing = "there is no browser on this machine";

/**
 * Registers the hooks of a test file that start and stop the app, and close its pages after each
 * test, which fails if anything went wrong in them. The tests are skipped on a machine without a
 * browser.
 */
export function givenApp({ flags, prepare }: GivenAppOptions = {}): GivenApp {
  let started: TestApp | undefined;
  const app = (): TestApp => {
    if (!started) throw new Error("the app is used before it has started");
    return started;
  };
  beforeAll(async () => {
    started = await startApp(flags?.());
    sayMissing("the web app", started ? {} : { missing });
    if (started) await prepare?.(started);
  });
  afterEach(async () => {
    expect((await started?.closePages()) ?? []).toEqual([]);
  });
  afterAll(() => started?.stop());
  beforeEach(({ skip }) => {
    if (!started) skip(missing);
  });
  return {
    get service() {
      return app().service;
    },
    get projectUrl() {
      return app().projectUrl;
    },
    open: (path, look) => app().open(path, look),
    createLink: () => app().createLink(),
    addMember: (role, level) => app().addMember(role, level),
    call: (method, path, body) => app().call(method, path, body),
  };
}

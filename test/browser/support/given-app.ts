// The service and the browser of a test file: started before its tests, stopped after them.

import { afterAll, beforeAll, beforeEach } from "vitest";
import { startApp, type TestApp } from "./app.ts";

export type GivenAppOptions = {
  /** Returns command-line flags of the service; called when it starts. */
  readonly flags?: () => Readonly<Record<string, string>>;
  /** Sends what the tests of the file look at. */
  readonly prepare?: (app: TestApp) => Promise<void>;
};

/**
 * Registers the hooks of a test file that start and stop the app. The tests are skipped on a
 * machine without a browser.
 */
export function givenApp({ flags, prepare }: GivenAppOptions = {}): Omit<TestApp, "stop"> {
  let started: TestApp | undefined;
  const app = (): TestApp => {
    if (!started) throw new Error("the app is used before it has started");
    return started;
  };
  beforeAll(async () => {
    started = await startApp(flags?.());
    if (started) await prepare?.(started);
  });
  afterAll(() => started?.stop());
  beforeEach(({ skip }) => {
    if (!started) skip("there is no browser on this machine");
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
    call: (method, path, body) => app().call(method, path, body),
  };
}

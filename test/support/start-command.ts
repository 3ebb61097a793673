// How `npm start` runs Node, for tests and benches that start a service themselves.

import { readFileSync } from "node:fs";

export type StartCommand = {
  /** Flags of Node. */
  readonly flags: readonly string[];
  /** Settings of glibc's malloc. */
  readonly environment: Readonly<Record<string, string>>;
};

/** Reads the start command from the scripts of package.json. */
export function readStartCommand(): StartCommand {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { scripts } = JSON.parse(text) as { scripts: { start: string } };
  const settings = scripts.start.matchAll(/\b(MALLOC_\w+)=(\d+)/g);
  return {
    flags: scripts.start.match(/--\S+(?= .*src\/main)/g) ?? [],
    environment: Object.fromEntries(
      Array.from(settings, ([, name = "", value = ""]) => [name, value]),
    ),
  };
}

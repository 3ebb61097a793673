// Which files an unprivileged account can get at, judged by modes alone.

import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isReachable } from "../../../src/base/account.ts";

/** An account that owns no file of this test. */
const stranger = { uid: 4_000_000, gid: 4_000_000 };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "waggle-account-"));
  await mkdir(join(folder, "inner"));
});

afterEach(() => rm(folder, { recursive: true }));

describe("isReachable", () => {
  test.each([
    { name: "open folders", outer: 0o755, inner: 0o755, want: true },
    { name: "a folder above that only lets pass", outer: 0o711, inner: 0o755, want: true },
    { name: "a closed folder above", outer: 0o700, inner: 0o755, want: false },
    { name: "a closed folder", outer: 0o755, inner: 0o700, want: false },
    { name: "a folder open to its group only", outer: 0o755, inner: 0o750, want: false },
  ])("judges $name for a stranger", async ({ outer, inner, want }) => {
    await chmod(join(folder, "inner"), inner);
    await chmod(folder, outer);

    expect(await isReachable(join(folder, "inner"), stranger)).toBe(want);
  });
});

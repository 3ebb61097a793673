// `waggle members` beside a running service, and a start with a faulty roles manifest.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  givenADataFolder,
  givenAnEmptyDataFolder,
  readCredentials,
  run,
  start,
} from "../support/process.ts";

const timeoutMs = 300_000;

describe("waggle members", { timeout: timeoutMs }, () => {
  test("gives, shows and takes roles, in a scope and above all", async () => {
    const folder = await givenADataFolder();
    await start(folder, "--workflows", "off");
    const { org_id: orgId } = await readCredentials(folder);
    const members = async (...words: readonly string[]) =>
      run("members", ...words, "--data", folder).ended();
    const inOrg = ["--org", orgId];

    const added = await members(
      "add",
      "--email",
      "Ada@Example.org",
      "--role",
      "org_admin",
      ...inOrg,
    );
    const again = await members(
      "add",
      "--email",
      "ada@example.org",
      "--role",
      "org_admin",
      ...inOrg,
    );
    const last = await members("remove", "--email", "ada@example.org", ...inOrg);
    const wrong = await members("add", "--email", "bob@example.org", "--role", "org_admin");
    const system = await members("add", "--email", "bob@example.org", "--role", "system_admin");
    const listed = await members("list", ...inOrg);
    const released = await members("release", "--email", "ada@example.org");
    const unknown = await members("release", "--email", "nobody@example.org");
    const removed = await members("remove", "--email", "bob@example.org");
    const gone = await members("remove", "--email", "bob@example.org");

    expect(added).toMatchObject({ code: 0 });
    expect(added.output).toMatch(/^ada@example\.org is org_admin of org .* \(.{36}\)\n$/);
    expect(again).toMatchObject({ code: 1 });
    expect(again.output).toContain("has a role here");
    expect(last.output).toContain("no member who manages its members");
    expect(wrong.output).toContain("must be a role of level system: system_admin");
    expect(system.output).toBe("bob@example.org is system_admin of all organizations\n");
    expect(listed.output).toMatch(/ada@example\.org +org_admin +- +20.*command line/);
    expect(listed.output).not.toContain("bob@example.org");
    expect(released).toMatchObject({ code: 0 });
    expect(released.output).toContain("the next to sign in with ada@example.org is its owner");
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.output).toContain("nobody has this e-mail");
    expect(removed.output).toBe("bob@example.org is no longer system_admin of all organizations\n");
    expect(gone).toMatchObject({ code: 1 });
    expect(gone.output).toContain("there is no such member of all organizations");
  });

  test("without words, or with half of them, says how to use it", async () => {
    const folder = await givenAnEmptyDataFolder();
    const { code, output } = await run("members", "give", "--data", folder).ended();

    expect(code).toBe(1);
    expect(output).toContain("waggle members add --email E-MAIL --role ROLE [SCOPE]");
  });
});

describe("a faulty roles manifest", { timeout: timeoutMs }, () => {
  test("ends the start with its file and line", async () => {
    const folder = await givenAnEmptyDataFolder();
    const path = join(folder, "own-roles.yaml");
    await writeFile(path, "roles:\n  system_admin:\n    title: S\n    levels: [team]\n");
    const flags = ["--data", folder, "--port", "0", "--workflows", "off"];
    const started = run("start", ...flags, "--operator-port", "0", "--roles-manifest", path);
    const { code, output } = await started.ended();

    expect(code).toBe(1);
    expect(output).toContain(`${path}:3: role "system_admin" has no permissions`);
    expect(output).toContain(`${path}:4: level "team" must be one of system, org, `);
  });
});

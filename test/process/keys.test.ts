// `waggle keys` and the other short commands, beside a running service and without one.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { patience } from "../support/patience.ts";
import {
  findPostmaster,
  givenADataFolder,
  processesOf,
  readCredentials,
  run,
  start,
} from "../support/process.ts";

const timeoutMs = 300_000;

async function statusWith(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/session/start`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ session: { project: "demo", session_name: "s", source: "test" } }),
  });
  await response.arrayBuffer();
  return response.status;
}

function lastLine(output: string): string {
  return output.trimEnd().split("\n").at(-1) ?? "";
}

describe("waggle keys", { timeout: timeoutMs }, () => {
  test("makes a key that works at once and stops working when it is revoked", async () => {
    const folder = await givenADataFolder();
    await start(folder);
    const { url } = await readCredentials(folder);
    const flags = ["--data", folder];

    const made = await run(
      "keys",
      "create",
      "--kind",
      "ingestion",
      "--name",
      "ci",
      ...flags,
    ).ended();
    const secret = /^hh_ingst_\S+$/m.exec(made.output)?.[0] ?? "";
    const before = await statusWith(url, secret);
    const keyId = /key (\S+) of project demo/.exec(made.output)?.[1] ?? "";
    const revoked = await run("keys", "revoke", keyId, ...flags).ended();
    const listed = await run("keys", "list", ...flags).ended();

    expect([made.code, revoked.code, listed.code]).toEqual([0, 0, 0]);
    expect(before).toBe(200);
    await expect.poll(() => statusWith(url, secret), patience).toBe(404);
    expect(listed.output).toMatch(
      /ingestion +project demo +ci +hh_ingst_.{4}….*revoked by command/,
    );
    expect(listed.output).not.toContain(secret);
  });

  test("makes a key of an organization that makes keys, which no call may", async () => {
    const folder = await givenADataFolder();
    await start(folder);
    const { url, org_id: orgId, project_id: projectId } = await readCredentials(folder);
    const flags = ["--kind", "data_plane", "--name", "ci", "--data", folder];
    const permissions = "project.ingestion_api_key.*, project.event.get";

    const made = await run(
      "keys",
      "create",
      ...flags,
      "--org",
      orgId,
      "--permissions",
      permissions,
      "--expires-in-days",
      "30",
    ).ended();
    const secret = lastLine(made.output);
    const response = await fetch(`${url}/v1/projects/${projectId}/ingestion_api_keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "made by the key" }),
    });

    expect(made.code).toBe(0);
    expect(secret).toMatch(/^hh_fgdp_[A-Za-z0-9]{24}_[A-Za-z0-9_-]{64}$/);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });

  test("refuses a permission that no call requires, as the API does", async () => {
    const folder = await givenADataFolder();
    const flags = "--kind data_plane --name ci --expires-in-days 30".split(" ");
    const permissions = "project.trace.export,project.evnet.get";

    const words = [...flags, "--permissions", permissions, "--data", folder];
    const { code, output } = await run("keys", "create", ...words).ended();

    expect(code).toBe(1);
    expect(output).toBe(
      'waggle: permissions[1]: "project.evnet.get" is a permission that no call requires\n',
    );
  });

  test("revokes a key with those that it created, and says how many", async () => {
    const folder = await givenADataFolder();
    await start(folder);
    const { url, project_id: projectId, data_plane_api_key: key } = await readCredentials(folder);
    const response = await fetch(`${url}/v1/projects/${projectId}/ingestion_api_keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "made by the key" }),
    });
    const { data } = (await response.json()) as { data: { key_value: string } };
    const before = await statusWith(url, data.key_value);
    const listed = await run("keys", "list", "--data", folder).ended();
    const keyId = /^(\S+) +data_plane /m.exec(listed.output)?.[1] ?? "";

    const words = ["keys", "revoke", keyId, "--with-created", "--data", folder];
    const revoked = await run(...words).ended();

    expect(before).toBe(200);
    expect(revoked).toMatchObject({ code: 0 });
    expect(revoked.output).toMatch(/^keys that it created .*: 1$/m);
    await expect.poll(() => statusWith(url, data.key_value), patience).toBe(404);
  });

  test("works while the service is not running, and leaves nothing running", async () => {
    const folder = await givenADataFolder();

    const made = await run(
      "keys",
      "create",
      "--kind",
      "project",
      "--name",
      "x",
      "--data",
      folder,
    ).ended();

    expect(lastLine(made.output)).toMatch(/^hh_[A-Za-z0-9]{40}$/);
    expect(await processesOf(folder)).toEqual([]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "stops the Postgres it started at %s",
    async (signal) => {
      const folder = await givenADataFolder();
      const listing = run("keys", "list", "--data", folder);
      await vi.waitUntil(async () => (await findPostmaster(folder)) !== undefined, {
        ...patience,
        interval: 5,
      });

      listing.kill(signal);

      const { code, output } = await listing.ended();
      expect(code).toBe(1);
      expect(output).toContain(`stopped by ${signal}`);
      expect(await processesOf(folder)).toEqual([]);
    },
  );

  test("stops the Postgres it started when nobody reads what it prints", async () => {
    const folder = await givenADataFolder();

    const command = `"$0" "$1" keys list --data "$2" | true`;
    const main = new URL("../../src/main.ts", import.meta.url).pathname;
    const words = ["-c", command, process.execPath, main, folder];
    const { stderr } = await promisify(execFile)("sh", words);

    expect(stderr).toBe("");
    expect(await processesOf(folder)).toEqual([]);
  });

  test.each([
    { name: "no action", words: ["keys"], want: "waggle keys create --kind" },
    {
      name: "no kind",
      words: ["keys", "create", "--name", "x"],
      want: "--kind must be one of",
    },
    { name: "no name", words: ["keys", "create", "--kind", "project"], want: "--name is missing" },
    {
      name: "a fine-grained key without permissions",
      words: ["keys", "create", "--kind", "data_plane", "--name", "x"],
      want: "needs --permissions",
    },
    {
      name: "a fine-grained key without an end",
      words: ["keys", "create", "--kind", "data_plane", "--name", "x", "--permissions", "*"],
      want: "needs --expires-in-days",
    },
    {
      name: "a fine-grained key that ends after no time",
      words: "keys create --kind=data_plane --name=x --permissions=* --expires-in-days=0".split(
        " ",
      ),
      want: "--expires-in-days must be a whole number",
    },
    {
      name: "a key of the control plane of no scope",
      words: ["keys", "create", "--kind", "control_plane", "--name", "x"],
      want: "a key of kind control_plane needs --workspace or --org",
    },
    {
      name: "a key of the control plane of a project",
      words: "keys create --kind=control_plane --name=x --permissions=* --project=demo".split(" "),
      want: "a key of kind control_plane needs --workspace or --org",
    },
    {
      name: "a classic key with permissions",
      words: ["keys", "create", "--kind", "project", "--name", "x", "--permissions", "*"],
      want: "has neither permissions nor an end",
    },
    {
      name: "an ingestion key of an organization",
      words: ["keys", "create", "--kind", "ingestion", "--name", "x", "--org", "o"],
      want: "is of a project: give --project in place of --org",
    },
    { name: "an unknown flag", words: ["start", "--nope"], want: "--nope" },
    { name: "a bad port", words: ["start", "--port", "x"], want: "WAGGLE_PORT (--port)" },
    { name: "serve without a database", words: ["serve"], want: "serve needs DATABASE_URL" },
    {
      name: "a folder without data",
      words: ["keys", "list", "--data", "/none"],
      want: "holds no waggle data",
    },
  ])("says what to do about $name", async ({ words, want }) => {
    const { code, output } = await run(...words).ended();

    expect(code).not.toBe(0);
    expect(output).toContain(want);
    expect(output).not.toMatch(/^ +at /m);
  });
});

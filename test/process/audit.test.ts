// `waggle audit verify`, and how other commands show clusters, on a running service.

import { describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { findRunningPostgres } from "../../src/embedded/postgres.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { givenADataFolder, readCredentials, run, start } from "../support/process.ts";

const timeoutMs = 300_000;
const password = "s3cret-of-the-cluster";
// Nothing listens on this port, which is for throwing things away.
const clusters = JSON.stringify({ eu: `postgres://u:${password}@127.0.0.1:9/db` });

describe("waggle audit verify", { timeout: timeoutMs }, () => {
  test("finds the first start's log intact, and names a row that was changed", async () => {
    const folder = await givenADataFolder();
    await start(folder, "--workflows", "off");
    const { org_id: orgId } = await readCredentials(folder);

    const intact = await run("audit", "verify", "--data", folder).ended();
    const database = openDatabase({
      url: (await findRunningPostgres(folder)) ?? "",
      connectionsMax: 1,
    });
    await database.sql()`
      update audit_log set actor_name = 'somebody else' where org_id = ${orgId} and sequence = 2`;
    const [org] = await database.sql()<{ name: string }[]>`
      select name from organizations where org_id = ${orgId}`;
    await database.close();
    const broken = await run("audit", "verify", "--data", folder).ended();
    const named = await run("audit", "verify", "--data", folder, "--org", org?.name ?? "").ended();
    const other = await run("audit", "verify", "--data", folder, "--org", "system").ended();
    const none = await run("audit", "verify", "--data", folder, "--org", "nobody").ended();
    const id = createUuid();
    const unknown = await run("audit", "verify", "--data", folder, "--org", id).ended();

    expect(intact.output).toMatch(new RegExp(`^ok {4}${orgId} .*: \\d+ rows, intact`, "m"));
    expect(intact.code).toBe(0);
    expect(broken.output).toMatch(new RegExp(`^FAIL {2}${orgId} .*: row 2 was changed`, "m"));
    expect(broken.code).toBe(1);
    expect(named.output).toMatch(/^FAIL .*row 2 was changed.*\n$/);
    expect(other.code).toBe(0);
    expect(none).toEqual({ code: 1, output: "waggle: there is no organization nobody\n" });
    expect(unknown).toEqual({ code: 1, output: `waggle: there is no organization ${id}\n` });
  });
});

describe("a cluster that is away", { timeout: timeoutMs }, () => {
  test("holds up no start, is named by doctor, and its password is never shown", async () => {
    const folder = await givenADataFolder();
    const service = await start(folder, "--workflows", "off", "--clusters", clusters);
    const { url } = await readCredentials(folder);

    const ready = await fetch(`${url}/readyz`);
    const doctor = await run("doctor", "--data", folder, "--clusters", clusters).ended();
    service.kill("SIGTERM");
    const { code, output } = await service.ended();

    expect(await ready.json()).toEqual({ status: "ok", degraded: ["cluster eu"] });
    expect(doctor.output).toContain("FAIL  clusters: eu not reachable");
    expect(code).toBe(0);
    expect(output).toContain('"cluster":"eu"');
    expect(output + doctor.output).not.toContain(password);
  });
});

// Encryption keys on one machine: the one that a first start makes, and moving to another with
// `waggle provider-credentials rotate`.

import { readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { encryptionKeyPath } from "../../src/commands/encryption-keys.ts";
import type { Credentials } from "../../src/commands/credentials.ts";
import { anEncryptionKey } from "../support/credentials.ts";
import { givenADataFolder, type Process, readCredentials, run, start } from "../support/process.ts";

const timeoutMs = 300_000;
const apiKey = "sk-that-nobody-may-see";

async function end(service: Process): Promise<string> {
  service.kill("SIGTERM");
  return (await service.ended()).output;
}

async function call(
  { url, project_id: projectId, project_api_key: key }: Credentials,
  method: "POST" | "GET",
  body?: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${url}/v1/projects/${projectId}/provider_credentials`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const modeBits = 0o777;

describe("waggle provider-credentials", { timeout: timeoutMs }, () => {
  test("rotate moves what a start's own key sealed to the configured one", async () => {
    const folder = await givenADataFolder();
    const first = await start(folder);
    const path = encryptionKeyPath(folder);
    const own = await readFile(path, "utf8");
    const ownId = /local-[0-9a-f]{8}/.exec(own)?.[0] ?? "";
    const made = await call(await readCredentials(folder), "POST", {
      provider: "openai",
      api_key: apiKey,
    });
    const output = [await end(first)];

    const key = anEncryptionKey("ours");
    const flags = ["--data", folder, "--encryption-keys", key.text];
    const second = await start(folder, "--encryption-keys", key.text);
    const rotated = await run("provider-credentials", "rotate", ...flags).ended();
    const again = await run("provider-credentials", "rotate", ...flags).ended();
    const listed = await call(await readCredentials(folder), "GET");
    output.push(await end(second), rotated.output, again.output);

    expect(made).toMatchObject({ status: 200 });
    expect(made.text).toContain(`"encryption_key_id":"${ownId}"`);
    expect(((await stat(path)).mode & modeBits).toString(8)).toBe("600");
    expect(await readFile(path, "utf8")).toBe(own);
    expect(rotated).toEqual({
      code: 0,
      output: "sealed 1 again under ours; 0 could not be opened\nnow under ours: 1\n",
    });
    expect(again.output).toContain("sealed 0 again under ours");
    expect(listed.text).toContain('"encryption_key_id":"ours"');
    const secrets = [apiKey, key.text.slice("ours:".length), own.slice(-48, -4)];
    expect(secrets.filter((secret) => (output.join("") + made.text).includes(secret))).toEqual([]);
  });

  test("rotate names the keys that are missing, and a damaged file is said to be", async () => {
    const folder = await givenADataFolder();
    const service = await start(folder);
    const path = encryptionKeyPath(folder);
    const body = { provider: "openai", api_key: apiKey };
    await call(await readCredentials(folder), "POST", body);
    await end(service);
    const ownId = /local-[0-9a-f]{8}/.exec(await readFile(path, "utf8"))?.[0] ?? "";

    const { text } = anEncryptionKey("other");
    await writeFile(path, JSON.stringify({ encryption_keys: text }));
    const missing = await run("provider-credentials", "rotate", "--data", folder).ended();
    await writeFile(path, `{ "encryption_keys": "${text.slice(0, -2)}" }`);
    const damaged = await run("start", "--data", folder, "--port", "0").ended();

    expect(missing.code).toBe(1);
    expect(missing.output).toBe(
      `waggle: secrets are sealed under keys that WAGGLE_ENCRYPTION_KEYS does not name: ` +
        `${ownId} (1)\n`,
    );
    expect(damaged.code).toBe(1);
    expect(damaged.output).toContain(`waggle: ${path} is damaged: put it back from a backup`);
    expect(damaged.output).not.toContain(text.slice(0, 20));
  });

  test("without a word, or another than rotate, says how it is used", async () => {
    for (const words of [[], ["list"], ["rotate", "all"]]) {
      const got = await run("provider-credentials", ...words).ended();

      const usage = "usage:\n  waggle provider-credentials rotate\n";
      expect(got).toEqual({ code: 1, output: `waggle: ${usage}` });
    }
  });
});

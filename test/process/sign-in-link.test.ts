// The one-time sign-in link as a person meets it: at the first start, and by `waggle sign-in-link`.

import { describe, expect, test, vi } from "vitest";
import { openBrowser } from "../support/browser.ts";
import {
  findServicePid,
  givenADataFolder,
  readCredentials,
  run,
  skipWithoutTerminals,
  start,
  startOnATerminal,
} from "../support/process.ts";
import { patience } from "../support/patience.ts";

const timeoutMs = 300_000;
const linkPattern = /http:\/\/\S+\/auth\/link\?token=[\w-]{43}/;

/** Presses the button of a link's page and returns who is signed in then. */
async function follow(link: string): Promise<unknown> {
  const { origin, searchParams } = new URL(link);
  const browser = openBrowser();
  await browser.visit(`${origin}/auth/link`, {
    method: "POST",
    headers: { origin },
    body: searchParams.toString(),
  });
  return JSON.parse((await browser.visit(`${origin}/v1/me`)).text);
}

describe("waggle start", { timeout: timeoutMs }, () => {
  test("prints a link that works on a terminal, and none elsewhere", async (context) => {
    await skipWithoutTerminals(context);
    const folder = await givenADataFolder();
    const first = await startOnATerminal(folder);
    await vi.waitUntil(() => linkPattern.test(first.output()), patience);

    const me = await follow(linkPattern.exec(first.output())?.[0] ?? "");

    expect(me).toMatchObject({ data: { email: "admin@localhost" } });
    process.kill((await findServicePid(folder)) ?? 0, "SIGTERM");
    await first.ended();
    const second = await start(folder, "--workflows", "off");
    second.kill("SIGTERM");
    const { output } = await second.ended();
    expect(output).not.toMatch(linkPattern);
  });
});

describe("waggle sign-in-link", { timeout: timeoutMs }, () => {
  test("prints a link to the running service, for the administrator that is set", async () => {
    const folder = await givenADataFolder();
    await start(folder, "--workflows", "off");
    const { url } = await readCredentials(folder);

    const command = run("sign-in-link", "--data", folder, "--admin-email", "Eve@Example.org");
    const { code, output } = await command.ended();

    const link = linkPattern.exec(output)?.[0] ?? "";
    expect(code).toBe(0);
    expect(link.startsWith(`${url}/`)).toBe(true);
    expect(await follow(link)).toMatchObject({
      data: { email: "eve@example.org", grants: [{ scope_type: "system" }] },
    });
  });

  test("refuses where an identity provider is configured", async () => {
    const { code, output } = await run(
      "sign-in-link",
      "--oidc-issuer",
      "https://id.example.org",
      "--public-url",
      "https://waggle.example.org",
      "--oidc-client-id",
      "waggle",
      "--oidc-client-secret",
      "secret of the test",
    ).ended();

    expect(code).toBe(1);
    expect(output).toContain("sign in through the identity provider");
    expect(output).not.toContain("secret of the test");
  });
});

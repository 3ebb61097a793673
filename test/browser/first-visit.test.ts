// The first visit of an empty project: its programs run as they stand, and the page turns to the
// trace.

import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { installPython, pythonOf, sayMissing } from "../clients/environment.ts";
import { programTimeoutMs, runProgram } from "../clients/program.ts";
import { givenStarted } from "../support/given.ts";
import { providersOf } from "../support/chats.ts";
import { callRoute } from "../support/call-route.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { givenAProject } from "../support/project.ts";
import { addKey, type Tenant } from "../support/tenants.ts";
import { givenApp, looks } from "./support/given-app.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");

const standIn = givenStarted(startOpenAiStandIn);

const app = givenApp({ flags: () => ({ providers: providersOf(standIn) }) });

describe("the first visit", () => {
  test.each(looks)("shows programs of four kinds, $theme and $size", async (look) => {
    const path = `/app/p/${app.service.projectId}/traces`;
    const { page, inspect } = await app.open(path, look);
    await page.getByRole("heading", { name: "Send your first trace" }).waitFor();

    for (const name of ["Python", "TypeScript", "OpenAI client", "curl"]) {
      await page.getByRole("tab", { name }).click();
      const program = page.getByRole("tabpanel").locator("pre").last();
      expect(await program.textContent()).toContain(app.service.url);
    }

    await inspect("first-visit");
  });

  test("turns to the trace that its curl command sends, with a key made there", async () => {
    const { projectId } = app.service.otherProject;
    const { page, findings } = await app.open(`/app/p/${projectId}/traces`);
    await page.getByRole("button", { name: "Create ingestion key" }).click();
    await page.getByText("it is not shown again").waitFor();
    expect(await findings()).toEqual([]);
    const command = await page.getByRole("tabpanel").locator("pre").last().textContent();

    const { stdout } = await run("sh", ["-c", command ?? ""]);

    const { session_id: sessionId } = JSON.parse(stdout) as { session_id: string };
    await page.waitForURL(`**/traces/${sessionId}`);
    await page.getByRole("treeitem").first().waitFor();

    await page.goBack();

    const sessions = page.getByRole("grid", { name: "Sessions" });
    await sessions.getByRole("row").filter({ hasText: "first-trace" }).waitFor();
  });

  test("says why the last call was refused, and leads to all that was", async () => {
    const { projectId } = await givenAProject(app.service.database);
    const { page, inspect } = await app.open(`/app/p/${projectId}/traces`);
    await page.getByText("Waiting for the first trace…").waitFor();
    const key = await addKey(app.service.database, { projectId } as Tenant, {
      kind: "ingestion",
      root: "project",
    });
    const headers = { authorization: `Bearer ${key.secret}` };
    const event = { event_type: "step", source: "test", inputs: {} };
    const caller = { url: app.service.url, headers };
    expect((await callRoute(caller, "POST /events", { event })).status).toBe(400);

    const refusal = page.getByRole("status").filter({ hasText: /Refused.*event_type/ });
    await refusal.waitFor();
    // Without scrolling: the program above may be longer than the window.
    const box = await refusal.boundingBox();
    expect(box && box.y + box.height).toBeLessThanOrEqual(800);
    await inspect("first-visit-refusal");
    await page.getByRole("link", { name: "All that was refused" }).click();

    const refused = page.getByRole("table", { name: "Refused" });
    await refused
      .getByRole("row")
      .filter({ hasText: /INVALID_ARGUMENT.*event_type/ })
      .waitFor();
  });

  test("says that it cannot look for the trace, until it can", async () => {
    const { projectId } = await givenAProject(app.service.database);
    const { page } = await app.open(`/app/p/${projectId}/traces`, { mayFail: true });
    const waiting = page.getByText("Waiting for the first trace…");
    await waiting.waitFor();

    await page.route("**/ListSessions**", (route) => route.abort());
    await page.getByText("The service does not answer. Trying again…").waitFor();
    await page.unroute("**/ListSessions**");

    await waiting.waitFor();
  });

  test("says what a program lacks, and offers another key after the page was left", async () => {
    const { projectId } = await givenAProject(app.service.database);
    const { page } = await app.open(`/app/p/${projectId}/traces`);
    await page.getByText("put a key in place of YOUR_WAGGLE_KEY").waitFor();
    await page.getByRole("button", { name: "Create ingestion key" }).click();
    await page.getByText("complete as it stands").waitFor();
    await page.getByRole("tab", { name: "OpenAI client" }).click();
    await page.getByText("put a key in place of YOUR_WAGGLE_KEY").waitFor();
    await page.getByText("which is set up under Settings").waitFor();
    expect(await page.getByText("Set up a provider first").count()).toBe(0);

    await page.reload();

    await page.getByText("was made on an earlier visit").waitFor();
    await page.getByRole("button", { name: "Create another ingestion key" }).click();
    await page.getByText("complete as it stands").waitFor();
  });

  test("turns to the trace that its TypeScript program sends", async () => {
    const path = `/app/p/${app.service.projectId}/traces`;
    const { page } = await app.open(path);
    await page.getByRole("tab", { name: "TypeScript" }).click();
    await page.getByRole("button", { name: "Create ingestion key" }).click();
    await page.getByText("it is not shown again").waitFor();
    const program = await page.getByRole("tabpanel").locator("pre").last().textContent();

    const flags = ["--input-type=module-typescript", "--no-warnings", "--eval", program ?? ""];
    await run(execPath, flags, { cwd: root });

    await page.waitForURL(/\/traces\/[^/]+$/);
    const headers = { authorization: `Bearer ${app.service.projectKey}` };
    const response = await fetch(`${app.service.url}/v1/events/search`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({
        filters: [{ field: "event_type", operator: "is", value: "model", type: "string" }],
      }),
    });
    expect(await response.json()).toMatchObject({
      events: [
        {
          inputs: { chat_history: [{ role: "user" }] },
          outputs: { role: "assistant", content: "They dance, so that the others find them too." },
        },
      ],
    });
  });

  test.for([
    { tab: "Python", requirements: "first_trace.txt", button: "Create ingestion key" },
    { tab: "OpenAI client", requirements: "openai.txt", button: "Create project key" },
  ])(
    "turns to the trace that its program for $tab sends",
    { timeout: programTimeoutMs },
    async ({ tab, requirements, button }, { skip }) => {
      const environment = await installPython(requirements);
      sayMissing(`the first visit's program for ${tab}`, environment);
      if (environment.missing !== undefined) return skip(environment.missing);
      const { service } = app;
      const { projectId } = await givenAProject(service.database);
      const { page } = await app.open(`/app/p/${projectId}/traces`);
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("button", { name: button }).click();
      await page.getByText("it is not shown again").waitFor();
      const program = await page.getByRole("tabpanel").locator("pre").last().textContent();

      const { code, stderr } = await runProgram({
        command: pythonOf(environment.folder),
        words: ["-c", program ?? ""],
      });

      expect(code, stderr).toBe(0);
      await page.waitForURL(/\/traces\/[^/]+$/);
      // The programs on the page before contain the question too.
      await page.getByRole("treeitem").filter({ hasText: "answer" }).last().click();
      const details = page.getByRole("region", { name: "Chosen event" });
      await details.getByText("What do bees do").first().waitFor();
    },
  );
});

// Scopes as an administrator makes, renames and archives them in a real browser, from an
// organization down to a project; each test has scopes of its own.

import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { readConfig } from "../../src/config.ts";
import { patience } from "../support/patience.ts";
import { givenADataplane } from "../support/workflows.ts";
import { givenApp, looks } from "./support/given-app.ts";

const app = givenApp({
  flags: () => ({ "dataplane-assignment": "manual" }),
  // The administrator has roles below the organizations too, two of them in one another.
  async prepare({ service: { url, controlPlaneKey, project } }) {
    const { adminEmail: email } = readConfig({}, {});
    for (const [path, role] of [
      [`workspaces/${project.workspaceId}`, "workspace_member"],
      [`projects/${project.projectId}`, "project_viewer"],
    ]) {
      const answer = await fetch(`${url}/v1/${path}/members`, {
        method: "POST",
        headers: { authorization: `Bearer ${controlPlaneKey}` },
        body: JSON.stringify({ email, role }),
      });
      expect(answer.status).toBe(200);
    }
  },
});

const scopes = (page: Page) => page.getByRole("navigation", { name: "Scopes", exact: true });

const choose = (page: Page, name: string) =>
  scopes(page).getByRole("button", { name, exact: true }).click();

/** Returns what the page says beside a field that is wrong. */
async function faultOf(page: Page, label: string): Promise<string> {
  const field = page.getByRole("textbox", { name: label, exact: true }).last();
  await expect.poll(() => field.getAttribute("aria-invalid"), patience).toBe("true");
  const ids = (await field.getAttribute("aria-describedby")) ?? "";
  const texts = ids.split(" ").map((id) => page.locator(`[id="${id}"]`).innerText());
  return (await Promise.all(texts)).join(" ");
}

async function create(page: Page, what: string, name: string): Promise<void> {
  await page.getByRole("button", { name: `New ${what}`, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `New ${what}`, exact: true });
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await dialog.getByRole("button", { name: `Create ${what}`, exact: true }).click();
}

describe("an administrator", () => {
  test("makes an organization down to a project, and faults stand beside fields", async () => {
    const { page, inspect } = await app.open("/app/settings");
    const dialog = page.getByRole("dialog");
    const cancel = dialog.getByRole("button", { name: "Cancel", exact: true });

    await create(page, "organization", "Acme");
    await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
    await page.waitForURL("**/app/settings?level=org&id=**");
    await create(page, "organization", "Acme");
    expect(await faultOf(page, "Name")).toContain("another active organization has it");
    await inspect("scope-name-taken");
    await cancel.click();

    await create(page, "data plane", "first");
    expect(await faultOf(page, "Cluster")).toContain("has no data plane yet");
    await inspect("scope-first-dataplane");
    await dialog.getByRole("textbox", { name: "Cluster", exact: true }).fill("default");
    await dialog.getByRole("button", { name: "Create data plane", exact: true }).click();
    await choose(page, "first");
    await create(page, "workspace", "research");
    await choose(page, "research");
    await create(page, "project", "drones");
    await scopes(page).getByRole("button", { name: "drones", exact: true }).waitFor();
    await create(page, "project", "robots");
    await choose(page, "robots");

    const name = page.getByRole("textbox", { name: "Name", exact: true });
    await expect.poll(() => name.inputValue(), patience).toBe("robots");
    await name.fill("drones");
    await page.getByRole("button", { name: "Save changes", exact: true }).click();
    expect(await faultOf(page, "Name")).toContain("another active project");
    await name.fill("robots 2");
    await page.getByRole("button", { name: "Save changes", exact: true }).click();
    await scopes(page).getByRole("button", { name: "robots 2", exact: true }).waitFor();
    await page.getByRole("button", { name: "Archive project", exact: true }).click();
    await dialog.getByRole("textbox", { name: "Type “robots 2” to confirm" }).fill("robots 2");
    await dialog.getByRole("button", { name: "Archive project", exact: true }).click();
    await page.getByRole("heading", { name: "This project is archived", exact: true }).waitFor();
  });
});

describe("what a scope shows once it is archived", () => {
  test("is not shown for the scope that is chosen next", async () => {
    const { url, project, controlPlaneKey } = app.service;
    const answer = await fetch(`${url}/v1/workspaces/${project.workspaceId}/projects`, {
      method: "POST",
      headers: { authorization: `Bearer ${controlPlaneKey}` },
      body: JSON.stringify({ name: "old" }),
    });
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as { data: { id: string } };
    const { page } = await app.open(`/app/settings?level=project&id=${data.id}`);
    await page.getByRole("button", { name: "Archive project", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Type “old” to confirm" }).fill("old");
    await dialog.getByRole("button", { name: "Archive project", exact: true }).click();
    const archived = page.getByRole("heading", { name: /is archived$/ });
    await archived.waitFor();

    await choose(page, project.projectName);

    const name = page.getByRole("textbox", { name: "Name", exact: true });
    await expect.poll(() => name.inputValue(), patience).toBe(project.projectName);
    expect(await archived.count()).toBe(0);
  });
});

describe("the tree of scopes", () => {
  test("shows a scope once, in which the person has a role, below the one above it", async () => {
    const { page } = await app.open("/app/settings");
    const { projectName } = app.service.project;
    const { projectName: other } = app.service.otherProject;
    const found = scopes(page).getByRole("button", { name: projectName, exact: true });

    await scopes(page).getByRole("button", { name: other, exact: true }).first().waitFor();
    await expect.poll(() => found.count(), patience).toBe(1);

    expect(await found.locator("xpath=ancestor::li").count()).toBe(4);
  });

  test.each(looks)(
    "keeps the chosen one in view as others load, $theme and $size",
    async (look) => {
      const { database, project } = app.service;
      const size = { workspaces: 24, projectsEach: 1 };
      const { projects } = await givenADataplane(database, project.orgId, size);
      const [first, last] = [projects[0], projects.at(-1)];
      const { page, inspect } = await app.open("/app", look);
      // The answers about all scopes above the chosen one wait until it is there.
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route("**/ListProjects", async (route) => {
        if (
          !route
            .request()
            .postData()
            ?.includes(last?.workspaceId ?? "")
        )
          await released;
        await route.continue();
      });
      await page.goto(`${app.service.url}/app/settings?level=project&id=${last?.projectId ?? ""}`);
      const chosen = scopes(page).locator('[aria-current="true"]');
      await chosen.waitFor();

      release();

      const above = page.locator("li li li li").filter({ hasText: first?.projectName ?? "" });
      await expect.poll(() => above.count(), patience).toBeGreaterThanOrEqual(size.workspaces);
      const isInView = async (): Promise<boolean> => {
        const [tree, row] = [await scopes(page).boundingBox(), await chosen.boundingBox()];
        if (!tree || !row) return false;
        return row.y >= tree.y - 1 && row.y + row.height <= tree.y + tree.height + 1;
      };
      await expect.poll(isInView, patience).toBe(true);
      await inspect("scope-tree-chosen");
      if (look.size === "narrow") {
        const height = (await scopes(page).boundingBox())?.height ?? Infinity;
        expect(height / (page.viewportSize()?.height ?? 1)).toBeLessThanOrEqual(0.25);
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(
          true,
        );
      }
    },
  );
});

describe("the settings of a project", () => {
  const path = (tab: string): string => `/app/p/${app.service.projectId}/settings?tab=${tab}`;

  test("show the role of a member whom a key with a long name has added", async () => {
    const { page } = await app.open(path("members"));

    const role = page.getByRole("combobox").first();
    await role.waitFor();

    expect((await role.boundingBox())?.width).toBeGreaterThan(100);
  });

  test("have the kind of keys in their address", async () => {
    const { page } = await app.open(path("keys"));
    const panel = page.getByRole("tabpanel", { name: "Keys" });
    const kind = panel.getByRole("radio", { name: "Ingestion", exact: true });
    await panel.getByText("Ingestion", { exact: true }).click();
    await page.waitForURL("**kind=ingestion**");

    await page.reload();

    await expect.poll(() => kind.isChecked(), patience).toBe(true);
    await page.getByText("Logs traces and never reads", { exact: false }).waitFor();
  });

  test("offer the project's keys for a budget", async () => {
    const { page, inspect } = await app.open(path("keys"));
    await page.getByRole("button", { name: "Create key", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("spender");
    await dialog.getByRole("button", { name: "Create key", exact: true }).click();
    await page.getByRole("button", { name: "I have copied it", exact: true }).click();
    await page.getByRole("tab", { name: "Budgets", exact: true }).click();
    await page.getByRole("button", { name: "Add budget", exact: true }).click();
    await dialog.getByRole("textbox", { name: "Amount", exact: true }).fill("7");
    const calls = dialog.getByRole("combobox", { name: "Calls of", exact: true });
    const option = calls.getByRole("option", { name: /^spender \(/ });
    await option.waitFor({ state: "attached" });
    await calls.selectOption((await option.getAttribute("value")) ?? "");
    await inspect("budget-key");

    await dialog.getByRole("button", { name: "Add budget", exact: true }).click();

    const line = page.getByRole("listitem").filter({ hasText: "of $7" });
    await line.getByText("Each month, key “spender”", { exact: true }).waitFor();
  });
});

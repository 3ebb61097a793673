// The frame of the web app in a real browser: sign-in, palette, keys, theme, narrow windows.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { providersOf } from "../support/chats.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { patience } from "../support/patience.ts";
import { givenApp } from "./support/given-app.ts";
import { seedSessions } from "./support/seed.ts";

const standIn = givenStarted(startOpenAiStandIn);

const app = givenApp({
  flags: () => ({ providers: providersOf(standIn) }),
  prepare: ({ service }) =>
    seedSessions({ url: service.url, key: service.projectKey, sessions: 60 }),
});

const tracesPath = (): string => `/app/p/${app.service.projectId}/traces`;

/** Signs in by a link in another tab, as a person would. */
async function signInBeside(page: Page): Promise<void> {
  const other = await page.context().newPage();
  await other.goto(await app.createLink());
  await other.getByRole("button", { name: "Sign in" }).click();
}

describe("a person who is not signed in", () => {
  test("is told how to sign in, and is in once the link is opened in another tab", async () => {
    const { page, inspect } = await app.open(tracesPath(), { isSignedIn: false });
    await page.getByRole("heading", { name: "Sign in to Waggle" }).waitFor();
    await inspect("sign-in");

    await signInBeside(page);

    await page.getByRole("grid", { name: "Sessions" }).waitFor();
    expect(page.url()).toContain(tracesPath());
  });

  test("is in once a provider signed in another tab", async () => {
    const { page } = await app.open("/healthz", { isSignedIn: false });
    // What the page of a service with a provider says.
    await page.route("**/app/**", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(
        'sign-in" content="link"',
        'sign-in" content="provider"',
      );
      await route.fulfill({ response, body });
    });
    await page.goto(app.service.url + tracesPath());
    await page.getByRole("link", { name: "Sign in" }).waitFor();

    await signInBeside(page);

    await page.getByRole("grid", { name: "Sessions" }).waitFor();
    expect(page.url()).toContain(tracesPath());
  });
});

/** Waits until a page says that its sign-in has ended, and signs in again. */
async function signInAgain(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Your sign-in has ended" });
  await dialog.waitFor();
  await signInBeside(page);
  await dialog.waitFor({ state: "hidden" });
}

describe("a sign-in that ends", () => {
  test("opens a dialog over the page, and the call goes on after the next sign-in", async () => {
    // A range with bounds asks nothing anew while the time passes.
    const range = JSON.stringify({ from: Date.now() - 86_400_000, to: Date.now() + 86_400_000 });
    const path = `${tracesPath()}?range=${encodeURIComponent(range)}`;
    const { page, picture } = await app.open(path, { isSignedIn: false });
    await signInBeside(page);
    await page.getByRole("grid", { name: "Sessions" }).waitFor();
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByPlaceholder("Filter by field…").fill("event_name");
    await page.getByRole("option").first().click();
    await page.getByRole("textbox", { name: "Value" }).fill("triage");
    // A call under way would open the dialog before the button is pressed.
    await page.waitForLoadState("networkidle");

    await page.context().clearCookies();
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("dialog", { name: "Your sign-in has ended" }).waitFor();
    await picture("sign-in-again");
    await signInBeside(page);

    await page.getByRole("dialog").waitFor({ state: "hidden" });
    const sessions = page.locator('dt:text-is("Sessions") + dd');
    await sessions.filter({ hasText: /^12$/ }).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "support-agent" }).count()).toBe(0);
  });

  test("lets a run of the playground stream after the next sign-in", async () => {
    const { page } = await app.open(`/app/p/${app.service.projectId}/playground`);
    await page.getByLabel("Text of message 2").fill("Still here");
    await page.getByRole("button", { name: "Model: choose a model" }).click();
    await page.getByPlaceholder("Find or type a model…").fill("openai/gpt-4o-echo");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Model: openai/gpt-4o-echo" }).waitFor();
    await page.waitForLoadState("networkidle");

    await page.context().clearCookies();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await signInAgain(page);

    const answer = page.getByRole("region", { name: "Model", exact: true });
    await answer.getByText("Still here").waitFor();
    await page.getByRole("status").getByText("done").waitFor();
    expect(await page.getByLabel("Text of message 2").inputValue()).toBe("Still here");
  });

  test("lets a file be exported after the next sign-in", async () => {
    const made = await app.call("POST", "/v1/datasets", { name: "Orders" });
    const { insertedId } = (made as { result: { insertedId: string } }).result;
    await app.call("POST", `/v1/datasets/${insertedId}/datapoints`, {
      data: [{ question: "Where is it?" }],
      mapping: { inputs: ["question"] },
    });
    const path = `/app/p/${app.service.projectId}/datasets/${insertedId}`;
    const { page } = await app.open(path);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Export" }).click();
    await page.waitForLoadState("networkidle");

    await page.context().clearCookies();
    const file = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export dataset" }).click();
    await signInAgain(page);

    expect((await file).suggestedFilename()).toMatch(/^Orders-v\d+\.jsonl$/);
  });

  test("sends nothing of one person as another person who signs in", async () => {
    const userId = await app.addMember("project_admin");
    const other = await app.open("/app", { userId });
    const { page } = await app.open(`/app/p/${app.service.projectId}/evaluators/new`);
    await page.getByLabel("Name", { exact: true }).fill("typed_by_ada");
    await page.waitForLoadState("networkidle");
    const leaving = page.waitForEvent("dialog");

    await page.context().clearCookies();
    await page.getByRole("button", { name: "Create evaluator" }).click();
    const ended = page.getByRole("dialog", { name: "Your sign-in has ended" });
    await ended.waitFor();
    await page.context().addCookies(await other.page.context().cookies());
    // The browser asks whether to leave the text; the person stays.
    await (await leaving).dismiss();

    await page.waitForResponse(/GetMe$/);
    expect(await ended.isVisible()).toBe(true);
    expect(JSON.stringify(await app.call("GET", "/v1/metrics"))).not.toContain("typed_by_ada");
  });
});

describe("a browser that says it is offline", () => {
  test("reads and changes what is on a service that answers", async () => {
    const { page } = await app.open(tracesPath());
    await page.getByRole("grid", { name: "Sessions" }).waitFor();
    await page.evaluate('dispatchEvent(new Event("offline"))');

    await page.getByRole("link", { name: "Datasets" }).click();
    await page.getByRole("button", { name: "Create dataset" }).first().click();
    await page.getByLabel("Name").fill("On the train");
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "On the train" }).waitFor();
  });

  test("says that a service does not answer, and keeps what was typed", async () => {
    const { page } = await app.open(tracesPath(), { mayFail: true });
    await page.getByRole("link", { name: "Datasets" }).click();
    await page.getByRole("button", { name: "Create dataset" }).first().click();
    await page.getByLabel("Name").fill("In a tunnel");
    await page.context().setOffline(true);
    await page.keyboard.press("Enter");

    await page.getByText("The service does not answer.").waitFor();

    expect(await page.getByLabel("Name").inputValue()).toBe("In a tunnel");
  });
});

describe("the palette", () => {
  test("opens by its key, finds a command by words, and runs it", async () => {
    const { page, inspect } = await app.open(tracesPath());
    await page.getByRole("grid", { name: "Sessions" }).waitFor();

    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Commands" }).waitFor();
    await inspect("palette");
    await page.keyboard.type("dark theme");
    await page.keyboard.press("Enter");

    await page.locator('html[data-theme="dark"]').waitFor();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  });

  test("puts the page of a name before the commands of the page with its letters", async () => {
    const { page, inspect } = await app.open(tracesPath());
    await page.getByRole("grid", { name: "Sessions" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Commands" }).waitFor();

    await page.keyboard.type("charts");

    await page.getByRole("option", { name: "Charts", selected: true }).waitFor();
    await inspect("palette-found");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/app/p/${app.service.projectId}/charts`);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Commands" }).waitFor();
    await page.keyboard.type("zebra");
    await page.getByText("No command and nothing in the project has these words.").waitFor();
  });

  test("is beside a list of all keys, which ? opens", async () => {
    const { page, inspect } = await app.open(tracesPath());
    await page.getByRole("grid", { name: "Sessions" }).waitFor();

    await page.keyboard.press("?");

    const dialog = page.getByRole("dialog", { name: "Keys" });
    await dialog.getByText("Next row").waitFor();
    await inspect("keys");
  });
});

describe("Enter", () => {
  test("goes where a link with the focus leads, also beside a chosen row", async () => {
    const { page } = await app.open(tracesPath());
    await page.getByRole("row").filter({ hasText: "support-agent" }).first().waitFor();
    const charts = page.getByRole("link", { name: "Charts", exact: true });
    await charts.focus();

    await page.keyboard.press("Enter");

    await page.waitForURL(`**/app/p/${app.service.projectId}/charts`);
    await page.goto(app.service.url + tracesPath());
    await page.getByRole("row").filter({ hasText: "support-agent" }).first().waitFor();
    await page.keyboard.press("j");
    await page.locator('[role="row"][data-active="true"]').waitFor();
    await charts.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/app/p/${app.service.projectId}/charts`);
  });

  test("opens the row that a key moved to, although a link was pressed before", async () => {
    const { page } = await app.open(`/app/p/${app.service.projectId}/charts`);
    await page.getByRole("link", { name: "Traces", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "support-agent" }).first().waitFor();

    await page.keyboard.press("j");
    await page.locator('[role="row"][data-active="true"]').waitFor();
    await page.keyboard.press("Enter");

    await page.waitForURL(/\/traces\/[^/]+/);
  });

  test("presses the buttons of a list: Filter, and the removal of a filter", async () => {
    const { page } = await app.open(tracesPath());
    await page.getByRole("row").filter({ hasText: "support-agent" }).first().waitFor();
    await page.keyboard.press("j");
    await page.locator('[role="row"][data-active="true"]').waitFor();
    await page.getByRole("button", { name: "Filter", exact: true }).focus();

    await page.keyboard.press("Enter");

    await page.getByPlaceholder("Filter by field…").fill("event_name");
    await page.getByRole("option").first().click();
    await page.getByRole("textbox", { name: "Value" }).fill("triage");
    await page.getByRole("button", { name: "Apply" }).click();
    const remove = page.getByRole("button", { name: /^Remove the filter/ });
    await remove.focus();
    await page.keyboard.press("Enter");
    await remove.waitFor({ state: "detached" });
  });

  test("presses Create prompt", async () => {
    const { page } = await app.open(`/app/p/${app.service.projectId}/prompts`);
    await page.getByRole("button", { name: "Create prompt" }).first().focus();

    await page.keyboard.press("Enter");

    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).waitFor();
  });
});

describe("the theme", () => {
  test("stays as chosen when the page is loaded again", async () => {
    const { page } = await app.open(tracesPath(), { theme: "light" });
    await page.getByRole("button", { name: "Light or dark" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Dark" }).click();
    await page.locator('html[data-theme="dark"]').waitFor();

    await page.reload();

    await page.locator('html[data-theme="dark"]').waitFor();
  });
});

describe("a narrow window", () => {
  test("has its pages at the bottom, and the rest in a drawer", async () => {
    const { page, inspect } = await app.open(tracesPath(), { size: "narrow" });
    await page.getByRole("grid", { name: "Sessions" }).waitFor();

    const bar = page.getByRole("navigation", { name: "Main pages" });
    await bar.getByRole("button", { name: "More" }).click();

    await page.getByRole("dialog").getByRole("link", { name: "Settings" }).waitFor();
    await inspect("drawer");
  });
});

describe("a page outside of any project", () => {
  test.each([
    ["/app/settings", "Choose a scope"],
    ["/reference", "EventService"],
  ])("keeps the navigation of the last project: %s", async (path, shown) => {
    const { page } = await app.open(tracesPath(), { size: "narrow" });
    await page.getByRole("grid", { name: "Sessions" }).waitFor();
    await page.goto(app.service.url + path);
    // The reference takes seconds to be drawn: two keys would be too far from one another.
    await page.getByRole("heading", { name: shown }).waitFor();

    const bar = page.getByRole("navigation", { name: "Main pages" });
    await bar.getByRole("link", { name: "Charts" }).waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    const switcher = page.getByRole("button", { name: /^Switch project/ });
    await expect.poll(() => switcher.innerText(), patience).not.toContain("Choose a project");
    await page.keyboard.press("g");
    await page.keyboard.press("d");

    await page.waitForURL(`**/app/p/${app.service.projectId}/datasets`);
  });
});

describe("an address without a page", () => {
  test("says so inside of the app", async () => {
    const { page } = await app.open(`/app/p/${app.service.projectId}/nowhere`);

    await page.getByRole("heading", { name: "No page has this address" }).waitFor();
  });

  test("of an unknown project says so once, and leads to the others", async () => {
    const unknown = "01a21c3d-0000-7000-8000-000000000000";
    const { page, inspect } = await app.open(`/app/p/${unknown}/traces`);

    await page.getByRole("heading", { name: "You have no project of this address" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await inspect("unknown-project");
    await page.goto(new URL("/app", page.url()).href);
    await page.waitForURL(`**${tracesPath()}`);
    await page.getByRole("grid", { name: "Sessions" }).waitFor();
  });
});

describe("a page whose style sheets do not come", () => {
  const styles = "**/assets/*.css";

  async function openWithoutStyles(): Promise<Page> {
    const path = `/app/p/${app.service.projectId}/datasets`;
    const { page } = await app.open(path, { mayFail: true });
    await page.getByRole("heading", { name: "Datasets", exact: true }).waitFor();
    await page.route(styles, (route) => route.abort());
    // The pointer stays away: over the link, it would have the page loaded ahead of the click.
    await page.getByRole("link", { name: "Charts" }).dispatchEvent("click");
    await page.getByText("The page could not be loaded: the service does not answer").waitFor();
    await page.unroute(styles);
    return page;
  }

  /** Returns whether all sheets are there; the rules of one that failed cannot be read. */
  const hasStyles = (page: Page): Promise<unknown> =>
    page.evaluate(`[...document.styleSheets].every((sheet) => {
      try { return sheet.cssRules.length > 0; } catch { return false; }
    })`);

  test("has them once it is opened again", async () => {
    const page = await openWithoutStyles();

    await page.getByRole("link", { name: "Datasets" }).click();
    await page.getByRole("link", { name: "Charts" }).click();

    await page.getByRole("heading", { name: "Calls of models" }).waitFor();
    await expect.poll(() => hasStyles(page), patience).toBe(true);
  });

  test("is loaded anew by Try again", async () => {
    const page = await openWithoutStyles();

    await page.getByRole("button", { name: "Try again" }).click();

    await page.getByRole("heading", { name: "Calls of models" }).waitFor();
    expect(await hasStyles(page)).toBe(true);
  });
});

// Pages in a window as narrow as a phone's: the first things to read and to do are in view.

import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { agentTrace } from "./support/agent-trace.ts";
import type { TestApp } from "./support/app.ts";
import { givenApp } from "./support/given-app.ts";
import { findOverlaps } from "./support/overlaps.ts";
import { findSideways } from "./support/sideways.ts";

async function prepare(app: TestApp): Promise<void> {
  const events = agentTrace({ sessionId: "refund", startMs: Date.now() - 180_000 });
  await app.call("POST", "/events/batch", { events });
}

const app = givenApp({ prepare });

const path = (page: string): string => `/app/p/${app.service.projectId}/${page}`;
const narrow = { size: "narrow" } as const;

/** Returns the left and right edge of an element, in pixels of the window, 390 wide. */
async function edgesOf(element: Locator): Promise<readonly [number, number]> {
  const box = await element.boundingBox();
  return box ? [box.x, box.x + box.width] : [Number.NaN, Number.NaN];
}

/** Answers lists of settings with rows, some of which take long to come about. */
async function answerSettings(page: Page): Promise<void> {
  const at = "2026-09-21T13:00:00Z";
  const answers = {
    ListMembers: [
      {
        userId: "ada",
        email: "ada.of-a-long-name@example.com",
        name: "Ada",
        role: "project_viewer",
        createdBy: "user:someone.else@example.com",
        createdAt: at,
      },
    ],
    ListProviderCredentials: [
      {
        credentialId: "one",
        name: "our-own-account",
        provider: "openai",
        baseUrl: "https://models.of-a-long-name.example.com/v1/chat",
        secrets: ["api_key"],
        updatedAt: at,
      },
    ],
    ListRetentionRuns: [
      {
        id: "one",
        state: "completed",
        cutoff: at,
        createdAt: at,
        endedAt: at,
        deleted: { sessions: 1_200_000, events: 98_765_432 },
        files: ["a.parquet"],
      },
    ],
    ListAuditLog: [
      {
        sequence: 12_345,
        at,
        actorType: "user",
        actorName: "ada.of-a-long-name@example.com",
        action: "provider_credential.create",
        scopeType: "project",
        scopeId: "one",
        targetType: "provider_credential",
        targetId: "01a2206c-de74-7136",
      },
    ],
    ListArchivals: [
      {
        scopeType: "workspace",
        scopeId: "one",
        name: "A workspace of a long name",
        state: "running",
        projects: { total: 12, done: 3 },
        startedAt: at,
        archivedBy: "someone.else@example.com",
        workflowId: "archive-workspace-one",
        temporalUrl: `${app.service.url}/temporal`,
      },
    ],
  };
  for (const [name, data] of Object.entries(answers)) {
    await page.route(`**/${name}**`, (route) => route.fulfill({ json: { success: true, data } }));
  }
}

describe("a narrow window", () => {
  test("shows name, status and age of a trace, and the errors with their heading", async () => {
    const { page, picture } = await app.open(path("traces"), narrow);
    const row = page.getByRole("row").filter({ hasText: "refund-agent" });
    await row.getByText("2m ago").or(row.getByText("3m ago")).waitFor();

    await picture("narrow-traces");

    expect(await row.innerText()).toMatch(/refund-agent[\s\S]*errors?[\s\S]*m ago[\s\S]*Answer/);
    expect(await findSideways(page)).toEqual([]);
    const [left] = await edgesOf(row.getByText("My order 4711 came broken."));
    expect(left).toBeLessThan(240);
    await page.getByRole("heading", { name: "What went wrong" }).waitFor();
    const errors = page.getByRole("button", { name: /PaymentError/ });
    expect(await errors.count()).toBe(2);
    for (const error of await errors.all()) {
      expect((await edgesOf(error))[1]).toBeLessThanOrEqual(390);
    }
  });

  test("gives a chosen event most of the height, and keeps its row in view", async () => {
    const { page, picture } = await app.open(path("traces/refund"), narrow);
    const details = page.getByRole("region", { name: "Chosen event" });
    const row = page.getByRole("treeitem").filter({ hasText: "answer" }).last();
    await row.waitFor();

    await row.click();

    await details.getByRole("heading", { name: "answer" }).waitFor();
    await picture("narrow-session");
    const boxOf = (element: Locator) => element.boundingBox();
    const [chosen, tree, shown] = await Promise.all([
      boxOf(row),
      boxOf(page.getByRole("tree")),
      boxOf(details),
    ]);
    expect(shown?.height).toBeGreaterThan(400);
    expect((chosen?.y ?? 0) + (chosen?.height ?? 0)).toBeLessThanOrEqual(
      (tree?.y ?? 0) + (tree?.height ?? 0) + 1,
    );
  });

  test("keeps the bars of a session under forced colours", async () => {
    const { page } = await app.open(path("traces/refund"));
    await page.emulateMedia({ forcedColors: "active" });
    await page.locator(".trace-bar").first().waitFor();
    const ground = (selector: string): string =>
      `getComputedStyle(document.querySelector("${selector}")).backgroundColor`;

    expect(await page.evaluate(ground(".trace-bar"))).not.toBe(await page.evaluate(ground("main")));
  });

  test("has each step of a session in reach at a zoom of 400 %", async () => {
    const { page } = await app.open(path("traces/refund"), narrow);
    const row = page.getByRole("treeitem").filter({ hasText: "answer" }).last();
    await row.waitFor();
    // 1280 × 1024 pixels at this zoom (WCAG 2.2, 1.4.10).
    await page.setViewportSize({ width: 320, height: 256 });

    await row.click({ timeout: 20_000 });

    const chosen = page.getByRole("region", { name: "Chosen event" });
    await chosen.getByRole("tab", { name: "Metadata" }).click({ timeout: 20_000 });
    expect(await findSideways(page)).toEqual([]);
  });

  test("has all of each table of settings in view", async () => {
    const { page, picture } = await app.open(path("settings?tab=keys"), narrow);
    await answerSettings(page);
    const { orgId } = app.service.project;
    const found: string[] = [];

    for (const [tab, text, address] of [
      ["members", "ada.of-a-long-name@example.com", path("settings?tab=members")],
      ["providers", "our-own-account/", path("settings?tab=providers")],
      ["retention", "completed", path("settings?tab=retention")],
      ["keys", "active", path("settings?tab=keys")],
      ["archivals", "A workspace", `/app/settings?level=org&id=${orgId}&tab=archivals`],
      ["audit", "provider_credential", `/app/settings?level=org&id=${orgId}&tab=audit`],
    ] as const) {
      await page.goto(app.service.url + address);
      await page.getByRole("row").filter({ hasText: text }).first().waitFor({ timeout: 20_000 });
      await picture(`narrow-${tab}`);
      found.push(...(await findSideways(page)).map((one) => `${tab}: ${one}`));
    }

    expect(found).toEqual([]);
  });

  test("has the title whole with the spacing of WCAG 1.4.12", async () => {
    const { page } = await app.open(path("traces"), narrow);
    const title = page.getByRole("main").getByRole("heading", { name: "Traces", exact: true });
    await title.waitFor();

    await page.evaluate(`{
      const spacing = "letter-spacing: 0.12em; word-spacing: 0.16em; line-height: 1.5";
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(\`* { \${spacing.replaceAll(";", " !important;")} !important }\`);
      document.adoptedStyleSheets = [sheet];
    }`);

    expect(await title.evaluate(isWhole)).toBe(true);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test("has the name of an alert whole beside its acts", async () => {
    const { page } = await app.open("/app/components", narrow);
    const data = {
      id: "slow",
      name: "Slow models of the shop",
      state: "triggered",
      isActive: true,
      projections: ["duration"],
      thresholds: { critical: { operator: "greater_than", value: 1 } },
      frequency: "HOURLY",
    };
    await page.route("**/GetAlert*", (route) => route.fulfill({ json: { success: true, data } }));
    await page.goto(app.service.url + path("alerts/slow"));
    await page.getByRole("button", { name: "Change" }).waitFor();

    const name = page.locator("header").getByText("Slow models of the shop").last();
    expect(await name.evaluate(isWhole)).toBe(true);
    expect(await findSideways(page)).toEqual([]);
  });

  test("has the end of a key and Revoke in view", async () => {
    const { page, picture } = await app.open(path("settings?tab=keys"), narrow);
    const revoke = page.getByRole("button", { name: /^Revoke / }).first();
    await revoke.waitFor();

    await picture("narrow-keys");

    expect((await edgesOf(revoke))[1]).toBeLessThanOrEqual(390);
    const [revokeLeft] = await edgesOf(revoke);
    const end = page.getByRole("row").nth(1).getByRole("cell").nth(2);
    expect((await edgesOf(end))[0]).toBeLessThan(revokeLeft);
  });
});

describe("a window of twice the zoom", () => {
  const zoomed = { width: 640, height: 400 };

  test("has the rows of the list of traces in reach", async () => {
    const { page, picture } = await app.open(path("traces"));
    await page.setViewportSize(zoomed);
    const row = page.getByRole("row").filter({ hasText: "refund-agent" });
    await row.getByText("m ago").first().waitFor();
    await picture("low-traces");

    await row.getByText("refund-agent").first().click();

    await page.waitForURL("**/traces/refund*");
  });

  test("shows a session as a flame graph", async () => {
    const { page, picture } = await app.open(path("traces/refund?view=flame"));
    await page.setViewportSize(zoomed);
    const graph = page.getByRole("application");
    await graph.waitFor();
    await picture("low-flame");

    expect((await graph.boundingBox())?.height).toBeGreaterThan(40);
    expect(await findSideways(page)).toEqual([]);
  });
});

/** Whether all of a text is in its element. Runs in the page. */
function isWhole(shown: unknown): boolean {
  const { scrollWidth, clientWidth } = shown as Record<"scrollWidth" | "clientWidth", number>;
  return scrollWidth <= clientWidth + 1;
}

describe("a window of 320 pixels", () => {
  test("keeps the names of the main pages apart", async () => {
    const { page } = await app.open(path("traces"), narrow);
    await page.setViewportSize({ width: 320, height: 568 });
    const names = page.getByRole("navigation", { name: "Main pages" }).locator("span");
    await names.getByText("More").waitFor();

    const edges = await Promise.all((await names.all()).map(edgesOf));
    const gaps = edges.slice(1).map(([left], at) => left - (edges[at]?.[1] ?? Number.NaN));
    expect(gaps.every((gap) => gap >= 3)).toBe(true);
  });

  test.each([
    { place: "traces", title: "heading", name: "Traces", least: 40 },
    { place: "traces/refund", title: "link", name: "Traces", least: 40 },
    { place: "experiments", title: "heading", name: "Experiments", least: 80 },
    { place: "charts/edit", title: "textbox", name: "Name of the chart", least: 100 },
  ] as const)("has the title beside the acts: $place", async ({ place, title, name, least }) => {
    const { page, picture } = await app.open(path(place), narrow);
    await page.setViewportSize({ width: 320, height: 568 });
    const shown = page.getByRole("main").getByRole(title, { name, exact: true });
    await shown.waitFor();
    await picture(`320-${place.replace("/", "-")}`);

    expect(await shown.evaluate(isWhole)).toBe(true);
    expect((await shown.boundingBox())?.width).toBeGreaterThan(least);
    expect(await findOverlaps(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });
});

// The API reference and the docs in a real browser: read by people who are not signed in, and an
// operation tried under a key.

import { describe, expect, test } from "vitest";
import { patience } from "../support/patience.ts";
import { givenApp, looks } from "./support/given-app.ts";

const app = givenApp();

/** An element of the page. */
type Shown = { readonly offsetHeight: number };

describe("the API reference", () => {
  test.each(looks)("lists every service, $theme and $size", async (look) => {
    const { page, inspect } = await app.open("/reference", look);
    await page.getByRole("heading", { name: "EventService" }).waitFor();
    await inspect("reference");

    await page.getByRole("heading", { name: "MeService" }).click();
    await page.locator(".opblock-summary").filter({ hasText: "/v1/me" }).first().click();
    await page.getByRole("button", { name: "Execute" }).waitFor();

    await inspect("reference-operation");
  });

  test("tries an operation under the reader's key, without a sign-in", async () => {
    const { page, inspect } = await app.open("/reference", { isSignedIn: false });
    await page.getByRole("button", { name: "Authorize" }).first().click();
    const value = page.locator("#auth-bearer-value");
    const bearer = page.locator(".auth-container").filter({ has: value });
    await value.fill(app.service.projectKey);
    await inspect("reference-key");
    await bearer.getByRole("button", { name: "Authorize" }).click();
    await page.locator(".auth-btn-wrapper").getByRole("button", { name: "Close" }).first().click();
    await page.getByRole("heading", { name: "MeService" }).click();
    await page.locator(".opblock-summary").filter({ hasText: "/v1/me" }).first().click();
    await page.getByRole("button", { name: "Execute" }).click();

    const answer = page.locator(".live-responses-table");
    await answer.getByText(app.service.projectId).first().waitFor();

    await inspect("reference-answer");
  });

  test.each(looks)("opens an operation by its address, $theme and $size", async (look) => {
    const path = "/reference#/SessionService/SessionService_GetSession";
    const { page, inspect } = await app.open(path, look);
    const operation = page.locator("#operations-SessionService-SessionService_GetSession");
    await operation.getByRole("button", { name: "Execute" }).waitFor();
    const operations = page.getByRole("region", { name: "Operations" });
    const below = async (): Promise<number> => {
      const [top, own] = [await operations.boundingBox(), await operation.boundingBox()];
      return Math.abs((own?.y ?? 0) - (top?.y ?? 0));
    };
    await expect.poll(below, patience).toBeLessThan(20);
    await operation.getByRole("tab", { name: "Schema" }).first().click();
    const schema = operation.locator("article").filter({ hasText: "org_id" }).first();
    await schema.getByRole("button", { name: "Session", exact: true }).waitFor();
    await schema.scrollIntoViewIfNeeded();

    await inspect("reference-schema");
  });

  test("finds a service by its name", async () => {
    const { page } = await app.open("/reference");
    const services = page.locator(".opblock-tag-section");

    await page.getByPlaceholder("Filter by tag").fill("Queue");

    await expect.poll(() => services.count(), patience).toBe(1);
    await services.getByRole("heading", { name: "QueueService" }).waitFor();
  });
});

describe("the docs", () => {
  test.each(looks)("show a page and lead to the next, $theme and $size", async (look) => {
    const { page, inspect } = await app.open("/reference/docs/limits", look);
    await page.getByRole("heading", { level: 1, name: "Limits" }).last().waitFor();
    await inspect("doc");

    const uses = page.getByRole("region", { name: "Use" });
    await uses.getByRole("link", { name: "Charts", exact: true }).click();
    await page.getByRole("article").getByRole("heading", { level: 1 }).first().waitFor();

    expect(page.url()).toContain("/reference/docs/charts");
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test("are printed whole, without what leads elsewhere", async () => {
    const { page } = await app.open("/reference/docs/web");
    await page.getByRole("heading", { name: "The web app", level: 1 }).first().waitFor();
    const links = page.getByRole("navigation");
    await links.first().waitFor();

    await page.emulateMedia({ media: "print" });

    expect((await page.pdf({ format: "A4", pageRanges: "2" })).length).toBeGreaterThan(0);
    expect(await links.evaluateAll((all) => all.map((one) => (one as Shown).offsetHeight))).toEqual(
      Array.from({ length: await links.count() }, () => 0),
    );
  });

  test("say when there is no such page, and lead to the app", async () => {
    const { page } = await app.open("/reference/docs/nothing", { isSignedIn: false });

    await page.getByText('There is no page "nothing"').waitFor();
    await page.getByRole("link", { name: "Open the app" }).click();
    await page.getByRole("heading", { name: "Sign in to Waggle" }).waitFor();
  });
});

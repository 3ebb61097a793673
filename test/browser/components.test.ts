// Every component of the design system in a real browser, in both themes and at both widths.

import { describe, expect, test } from "vitest";
import { givenApp } from "./support/given-app.ts";

const app = givenApp();

const tabs = ["Controls", "Reading", "Editors and charts", "States"];

describe("the components", () => {
  test.each([
    { theme: "light", size: "wide" },
    { theme: "dark", size: "narrow" },
  ] as const)("are accessible and keep to the policy, $theme and $size", async (look) => {
    const { page, faults, findings, picture } = await app.open("/app/components", look);
    for (const name of tabs) {
      await page.getByRole("tab", { name }).click();
      await page.getByRole("tabpanel", { name }).waitFor();
      if (name === "Editors and charts") {
        await page.locator(".cm-content").nth(1).waitFor();
        await page.locator(".plot-canvas canvas").nth(1).waitFor();
      }

      await picture(`components-${name.toLowerCase().replaceAll(" ", "-")}`);
      expect(await findings(), name).toEqual([]);
    }

    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(faults).toEqual([]);
  });

  test("show hostile content as the text it is", async () => {
    const { page, faults } = await app.open("/app/components");

    await page.getByRole("tab", { name: "Reading" }).click();

    await page.getByText("<script>alert(1)</script> [here](javascript:1)").waitFor();
    await page.getByText("find_order").waitFor();
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    expect(faults).toEqual([]);
  });
});

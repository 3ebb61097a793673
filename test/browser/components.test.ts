// Every component of the design system in a real browser, in both themes and at both widths.

import { describe, expect, test } from "vitest";
import { patience } from "../support/patience.ts";
import { givenApp, looks } from "./support/given-app.ts";

const app = givenApp();

const typed = Array.from({ length: 25 }, (_, at) => at).join("-");

/**
 * Types a character in each task of the page, so that some come between the drawing of the text
 * before and the effects of it. Runs in the page.
 */
function typeBetweenTasks(text: string): Promise<void> {
  const page = globalThis as unknown as {
    document: { execCommand(command: string, hasView: boolean, value: string): boolean };
  };
  const { port1, port2 } = new MessageChannel();
  const left = Array.from(text);
  return new Promise((resolve) => {
    port1.addEventListener("message", () => {
      const next = left.shift();
      if (next === undefined) {
        resolve();
        return;
      }
      port2.postMessage(undefined);
      page.document.execCommand("insertText", false, next);
    });
    port1.start();
    port2.postMessage(undefined);
  });
}

const tabs = ["Controls", "Reading", "Editors and charts", "States"];

describe("the components", () => {
  test.each(looks)("are accessible and keep to the policy, $theme and $size", async (look) => {
    const { page, findings, picture } = await app.open("/app/components", look);
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
  });

  test("keep every character that is typed into the code editor of a page that lags", async () => {
    const { page } = await app.open("/app/components");
    await page.getByRole("tab", { name: "Editors and charts" }).click();
    const code = page.locator(".cm-content").first();
    await code.waitFor();
    const client = await page.context().newCDPSession(page);
    await client.send("Emulation.setCPUThrottlingRate", { rate: 20 });
    await code.press("ControlOrMeta+End");

    await page.evaluate(`(${typeBetweenTasks.toString()})("${typed}")`);

    await client.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await expect.poll(() => code.innerText(), patience).toContain(typed);
  });

  test("show hostile content as the text it is", async () => {
    const { page } = await app.open("/app/components");

    await page.getByRole("tab", { name: "Reading" }).click();

    await page.getByText("<script>alert(1)</script> [here](javascript:1)").waitFor();
    await page.getByText("find_order").waitFor();
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  });
});

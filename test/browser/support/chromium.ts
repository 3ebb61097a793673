// A headless Chromium: the one inside the package `@sparticuz/chromium` on Linux, elsewhere an
// installed Chrome.

import { arch, platform } from "node:process";
import { type Browser, chromium } from "playwright-core";

/** Flags for a machine without a display, a GPU, or a user of the browser's own. */
const flags = ["--no-sandbox", "--font-render-hinting=none", "--disable-dev-shm-usage"];

/** Starts a browser; undefined if this machine has none. */
export async function startChromium(): Promise<Browser | undefined> {
  if (platform === "linux" && arch === "x64") {
    const { default: packed } = await import("@sparticuz/chromium");
    packed.setGraphicsMode = false;
    return chromium.launch({ executablePath: await packed.executablePath(), args: flags });
  }
  try {
    return await chromium.launch({ channel: "chrome" });
  } catch {
    // No Chrome is installed; the tests say that they are skipped.
    return undefined;
  }
}

// A headless Chromium: the one inside the package `@sparticuz/chromium` on Linux, elsewhere an
// installed Chrome.

import { arch, platform } from "node:process";
import { type Browser, chromium } from "playwright-core";

/** Flags for a machine without a display, a GPU, or a user of the browser's own. */
const flags = ["--no-sandbox", "--font-render-hinting=none", "--disable-dev-shm-usage"];

/**
 * Unpacks the browser if the package has one for this machine, and returns its path. The setup of a
 * run calls it before workers start: a second one would start a file that is half written.
 */
export async function unpackChromium(): Promise<string | undefined> {
  if (platform !== "linux" || arch !== "x64") return undefined;
  const { default: packed } = await import("@sparticuz/chromium");
  packed.setGraphicsMode = false;
  return packed.executablePath();
}

/** Starts a browser; undefined if this machine has none. */
export async function startChromium(): Promise<Browser | undefined> {
  const executablePath = await unpackChromium();
  if (executablePath !== undefined) return chromium.launch({ executablePath, args: flags });
  try {
    return await chromium.launch({ channel: "chrome" });
  } catch {
    // No Chrome is installed; the tests say that they are skipped.
    return undefined;
  }
}

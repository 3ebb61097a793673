// `npm run bench -- web`: the web app in a real browser on a real service. Prints the bytes of a
// first load, the times to the first rows, frames of scrolling, and memory after following live.

import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { startChromium } from "../browser/support/chromium.ts";
import { seedSessions } from "../browser/support/seed.ts";
import { type BenchService, startService } from "./service.ts";
import { formatTable } from "./table.ts";

export type BenchWebOptions = {
  /** Sessions in the list. */
  readonly sessions: number;
  /** Time for which the list is followed. */
  readonly seconds: number;
};

const mainPath = new URL("../../src/main.ts", import.meta.url).pathname;

export async function benchWeb({ sessions, seconds }: BenchWebOptions): Promise<void> {
  const browser = await startChromium();
  if (!browser) throw new Error("there is no browser on this machine");
  const service = await startService();
  try {
    const { url, project_id, project_api_key: key } = service.credentials;
    await seedSessions({ url, key, sessions });
    const page = await openSignedIn(browser, service);
    const rows = [
      ...(await measureFirstLoad(page, `${url}/app/p/${project_id}/traces`)),
      ["frames a second while scrolling", await measureScrolling(page)],
      ...(await measureLive(page, { url, key, seconds })),
    ] as const;
    console.log(formatTable(["web app", "measured"], rows));
  } finally {
    await browser.close();
    await service.stop();
  }
}

async function openSignedIn(browser: Browser, { folder, credentials }: BenchService) {
  const words = [mainPath, "sign-in-link", "--data", folder];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  // The app may still be building; the link works meanwhile.
  await page.goto(stdout.trim());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("grid", { name: "Sessions" }).waitFor({ timeout: 120_000 });
  await page.goto(`${credentials.url}/healthz`);
  return page;
}

/** Loads the page with an empty cache; the bytes are those on the wire, as gzip. */
async function measureFirstLoad(page: Page, address: string) {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.clearBrowserCache");
  await session.send("Network.setExtraHTTPHeaders", { headers: { "accept-encoding": "gzip" } });
  const types = new Map<string, string>();
  let [scriptBytes, allBytes] = [0, 0];
  session.on("Network.responseReceived", ({ requestId, type }) => types.set(requestId, type));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    allBytes += encodedDataLength;
    if (types.get(requestId) === "Script") scriptBytes += encodedDataLength;
  });
  const startMs = performance.now();
  await page.goto(address);
  await page.locator(".table-row").first().waitFor();
  const rowsMs = performance.now() - startMs;
  await page.waitForLoadState("networkidle");
  return [
    ["JavaScript of a first load, kB gzipped", scriptBytes / 1_000],
    ["everything of a first load, kB", allBytes / 1_000],
    ["address to first rows, ms", rowsMs],
  ] as const;
}

/** Runs in the page: scrolls for two seconds and counts the frames that the browser draws. */
const scrollScript = `new Promise((resolve) => {
  const list = document.querySelector(".table");
  const start = performance.now();
  let frames = 0;
  const step = (now) => {
    if (now - start > 2000) return resolve(frames / ((now - start) / 1000));
    frames += 1;
    list.scrollTop += 60;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

function measureScrolling(page: Page): Promise<number> {
  return page.evaluate<number>(scrollScript);
}

type Live = { readonly url: string; readonly key: string; readonly seconds: number };

/** Follows the list while sessions arrive; memory is that of JavaScript after a collection. */
async function measureLive(page: Page, { url, key, seconds }: Live) {
  const session = await page.context().newCDPSession(page);
  const usedMb = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return usedSize / 1_000_000;
  };
  await page.getByRole("button", { name: "Live" }).click();
  const before = await usedMb();
  const end = Date.now() + seconds * 1_000;
  while (Date.now() < end) {
    await seedSessions({ url, key, sessions: 5 });
    await delay(1_000);
  }
  return [
    ["memory before following, MB", before],
    [`memory after ${seconds} s of following, MB`, await usedMb()],
  ] as const;
}

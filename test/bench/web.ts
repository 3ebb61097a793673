// `npm run bench -- web`: the web app in a real browser on a real service. Prints the bytes of a
// first load, the times to the first rows, frames of scrolling, and memory while following live.

import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { Browser, CDPSession, Page } from "playwright-core";
import { startChromium } from "../browser/support/chromium.ts";
import { seedSessions } from "../browser/support/seed.ts";
import { type BenchService, startService } from "./service.ts";
import { formatTable } from "./table.ts";
import { longSession, sendEvents } from "./web-session.ts";

export type BenchWebOptions = {
  /** Sessions in the list. */
  readonly sessions: number;
  /** Events of the long session. */
  readonly events: number;
  /** Time for which the list is followed. */
  readonly seconds: number;
};

type Rows = readonly (readonly [string, number | string])[];

const mainPath = new URL("../../src/main.ts", import.meta.url).pathname;

export async function benchWeb({ sessions, events, seconds }: BenchWebOptions): Promise<void> {
  const browser = await startChromium();
  if (!browser) throw new Error("there is no browser on this machine");
  const service = await startService();
  try {
    const { url, project_id, project_api_key: key } = service.credentials;
    const target = { url, key };
    await seedSessions({ ...target, sessions });
    await sendEvents(target, longSession(events));
    const page = await openSignedIn(browser, service);
    const traces = `${url}/app/p/${project_id}/traces`;
    print(await measureFirstLoad(page, traces));
    print([["frames a second, list of sessions", await measureScrolling(page, ".table", 60)]]);
    print(await measureLongSession(page, traces));
    print(await measureLive(page, { ...target, traces, seconds }));
  } finally {
    await browser.close();
    await service.stop();
  }
}

/** Prints each part when it is measured: the last one takes minutes. */
function print(rows: Rows): void {
  console.log(formatTable(["web app", "measured"], rows));
}

async function openSignedIn(browser: Browser, { folder, credentials }: BenchService) {
  const words = [mainPath, "sign-in-link", "--data", folder];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
  });
  const page = await context.newPage();
  // The app may still be building; the link works meanwhile.
  await page.goto(stdout.trim());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("grid", { name: "Sessions" }).waitFor({ timeout: 120_000 });
  await page.goto(`${credentials.url}/healthz`);
  return page;
}

/** Loads the page with an empty cache; the bytes are those of bodies on the wire, as gzip. */
async function measureFirstLoad(page: Page, address: string): Promise<Rows> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.clearBrowserCache");
  await session.send("Network.setExtraHTTPHeaders", { headers: { "accept-encoding": "gzip" } });
  const types = new Map<string, string>();
  let [scriptBytes, allBytes] = [0, 0];
  session.on("Network.responseReceived", ({ requestId, type }) => types.set(requestId, type));
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
    allBytes += encodedDataLength;
    if (types.get(requestId) === "Script") scriptBytes += encodedDataLength;
  });
  const startMs = performance.now();
  await page.goto(address);
  await page.locator(".table-row").first().waitFor();
  const rowsMs = performance.now() - startMs;
  await page.waitForLoadState("networkidle");
  await session.detach();
  return [
    ["JavaScript of a first load, kB gzipped", scriptBytes / 1_000],
    ["everything of a first load, kB", allBytes / 1_000],
    ["address to first rows, ms", rowsMs],
  ];
}

/** Clicks the long session in its list, twice: with the code of its page loaded, and before. */
async function measureLongSession(page: Page, traces: string): Promise<Rows> {
  const filters = [{ field: "event_name", operator: "is", value: "long-session" }];
  const list = `${traces}?filters=${encodeURIComponent(JSON.stringify(filters))}`;
  const coldMs = await measureClick(page, list);
  const wholeMs = await measureWhole(page);
  const warm: number[] = [];
  for (let round = 0; round < 3; round += 1) warm.push(await measureClick(page, list));
  const [, median = Number.NaN] = warm.toSorted((a, b) => a - b);
  await measureWhole(page);
  const rows = await page.getByRole("tree").evaluate((tree: unknown) => {
    return (tree as { scrollHeight: number }).scrollHeight / 30;
  });
  return [
    ["rows of the long session", rows],
    ["click to its first rows, first visit, ms", coldMs],
    ["click to its first rows, median of 3, ms", median],
    ["first rows to all rows, ms", wholeMs],
    ["frames a second, scrolling it", await measureScrolling(page, ".rows", 60)],
    ["frames a second, flying through it", await measureScrolling(page, ".rows", 6_000)],
    ["frames without all their rows, %", await measureBlank(page)],
  ];
}

/** Runs in the page: clicks the first row, and takes the time until rows of a tree are drawn. */
const clickScript = `new Promise((resolve) => {
  const start = performance.now();
  document.querySelector(".table-row .table-cell").click();
  const look = () => {
    if (document.querySelectorAll(".trace-row").length < 10) return requestAnimationFrame(look);
    // The frame after the one that has the rows: they are on the screen.
    requestAnimationFrame(() => resolve(performance.now() - start));
  };
  requestAnimationFrame(look);
})`;

async function measureClick(page: Page, list: string): Promise<number> {
  await page.goto(list);
  await page.locator(".table-row").first().waitFor();
  await page.waitForLoadState("networkidle");
  return page.evaluate<number>(clickScript);
}

/** Waits until the session is read to its end. */
async function measureWhole(page: Page): Promise<number> {
  const startMs = performance.now();
  await page
    .locator('.session-reading[data-reading="false"]')
    .waitFor({ state: "attached", timeout: 120_000 });
  return performance.now() - startMs;
}

/** Scrolls for three seconds in the page and returns the frames a second that it draws. */
function measureScrolling(page: Page, selector: string, stepPx: number): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const list = document.querySelector("${selector}");
    list.scrollTop = 0;
    const start = performance.now();
    let frames = 0;
    const step = (now) => {
      if (now - start > 3000) return resolve(frames / ((now - start) / 1000));
      frames += 1;
      list.scrollTop += ${stepPx};
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
}

/** Flies through the tree and returns the share of frames in which a row is missing. */
function measureBlank(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const list = document.querySelector(".rows");
    list.scrollTop = 0;
    let [frames, blank] = [0, 0];
    const step = () => {
      const box = list.getBoundingClientRect();
      const isRow = (y) => document.elementFromPoint(box.left + 40, y)?.closest(".rows-row");
      if (!isRow(box.top + 60) || !isRow(box.bottom - 40)) blank += 1;
      frames += 1;
      if (frames === 100) return resolve(100 * blank / frames);
      list.scrollTop += 6000;
      // After the frame in which the page answers the scrolling.
      requestAnimationFrame(() => setTimeout(step));
    };
    step();
  })`);
}

type Live = {
  readonly url: string;
  readonly key: string;
  readonly traces: string;
  readonly seconds: number;
};

const samples = 5;

/** Follows the list while sessions arrive; memory is that of JavaScript after a collection. */
async function measureLive(page: Page, { url, key, traces, seconds }: Live): Promise<Rows> {
  await page.goto(traces);
  await page.locator(".table-row").first().waitFor();
  const session = await page.context().newCDPSession(page);
  await page.getByRole("button", { name: "Live" }).click();
  const rows: (readonly [string, number])[] = [];
  const startMs = Date.now();
  for (let sample = 0; sample < samples; sample += 1) {
    const untilMs = startMs + (sample / (samples - 1)) * seconds * 1_000;
    while (Date.now() < untilMs) {
      await seedSessions({ url, key, sessions: 5 });
      await delay(1_000);
    }
    const seen = Math.round((Date.now() - startMs) / 1_000);
    rows.push([`memory after ${seen} s of following, MB`, await usedMb(session)]);
  }
  return rows;
}

async function usedMb(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1_000_000;
}

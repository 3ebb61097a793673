// The web app in a real browser, on the real service: one service and one browser a test file,
// pages of their own for each test, and everything that a page complains of.

import axe from "axe-core";
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { formatLink } from "../../../src/access/sign-in/links.ts";
import { replaceLinks } from "../../../src/access/sign-in/store.ts";
import { createToken, hashToken } from "../../../src/access/sign-in/token.ts";
import { createSignInLink } from "../../../src/commands/sign-in-link.ts";
import { readConfig } from "../../../src/config.ts";
import { patience } from "../../support/patience.ts";
import { startService, type TestService } from "../../support/service.ts";
import { startChromium } from "./chromium.ts";

export type Look = {
  readonly theme?: "light" | "dark";
  /** `wide` is 1280 × 800, `narrow` 390 × 844. */
  readonly size?: "wide" | "narrow";
  /** False for a person who is not signed in. */
  readonly isSignedIn?: boolean;
  /** Id of the person who is signed in; default the administrator. */
  readonly userId?: string;
  /** True if the test makes the page fail, so that its faults do not count. */
  readonly mayFail?: boolean;
};

export type OpenPage = {
  readonly page: Page;
  /** Saves a picture in test/browser/screenshots, which git ignores. */
  readonly picture: (name: string) => Promise<void>;
  /** Serious and critical findings of axe-core, one line each. */
  readonly findings: () => Promise<readonly string[]>;
  /** Saves a picture; expects no findings, and a page that is no wider than its window. */
  readonly inspect: (name: string) => Promise<void>;
};

export type TestApp = {
  readonly service: TestService;
  /** Address of the pages of the service's project. */
  readonly projectUrl: string;
  open(path: string, look?: Look): Promise<OpenPage>;
  /** Returns a new one-time link. */
  createLink(): Promise<string>;
  /** Adds a member with a role to the project, or to its workspace; returns the person's id. */
  addMember(role: string, level?: "project" | "workspace"): Promise<string>;
  /** Calls the REST API with the project's key. Fails if the answer is an error. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /**
   * Closes the pages that are open, which would go on asking the service. Returns what went wrong
   * in them: errors in the console, which include breaches of the policy, errors of scripts, and
   * requests to other hosts.
   */
  closePages(): Promise<readonly string[]>;
  stop(): Promise<void>;
};

const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } };
const picturesFolder = resolve(import.meta.dirname, "../screenshots");

/**
 * Starts service, with command-line flags, and browser; undefined, with a word, if this machine has
 * no browser.
 */
export async function startApp(
  flags: Readonly<Record<string, string>> = {},
): Promise<TestApp | undefined> {
  const browser = await startChromium();
  if (!browser) {
    console.warn("no browser on this machine: the tests of the web app are skipped");
    return undefined;
  }
  const service = await startService(flags, { hasWebApp: true });
  const contexts: BrowserContext[] = [];
  const faults: string[] = [];
  const cookies = new Map<string, Awaited<ReturnType<BrowserContext["cookies"]>>>();
  const createLink = () => createSignInLink(service.database, readConfig({}, {}), service.url);
  return {
    service,
    projectUrl: `${service.url}/app/p/${service.projectId}`,
    createLink,
    addMember: (role, level) => addMember(service, role, level),
    call: (method, path, body) => callApi(service, { method, path, body }),
    async open(path, look = {}) {
      const { isSignedIn = true, userId = "" } = look;
      if (isSignedIn && !cookies.has(userId)) {
        const link = userId === "" ? createLink() : createLinkOf(service, userId);
        cookies.set(userId, await signIn(browser, await link));
      }
      const context = await newContext(browser, look);
      context.setDefaultTimeout(patience.timeout);
      contexts.push(context);
      if (isSignedIn) await context.addCookies(cookies.get(userId) ?? []);
      const page = await context.newPage();
      if (look.mayFail !== true) watchFaults(page, service.url, faults);
      await page.goto(service.url + path);
      return {
        page,
        picture: (name) => savePicture(page, name, look),
        findings: () => runAxe(page),
        inspect: (name) => inspect(page, name, look),
      };
    },
    async closePages() {
      const found = [...faults];
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      faults.length = 0;
      return found;
    },
    async stop() {
      await browser.close();
      await service.stop();
    },
  };
}

/** Returns a link of a member, who keeps the roles that the member has. */
async function createLinkOf({ database, url }: TestService, userId: string): Promise<string> {
  const token = createToken();
  const link = { linkHash: hashToken(token), userId, validMs: 60_000 };
  await replaceLinks(database.sql(), link);
  return formatLink(url, token);
}

async function addMember(
  service: TestService,
  role: string,
  level: "project" | "workspace" = "project",
): Promise<string> {
  const { url, project, controlPlaneKey } = service;
  const id = level === "project" ? project.projectId : project.workspaceId;
  const answer = await fetch(`${url}/v1/${level}s/${id}/members`, {
    method: "POST",
    headers: { authorization: `Bearer ${controlPlaneKey}` },
    body: JSON.stringify({ email: `${randomUUID()}@example.com`, role }),
  });
  if (!answer.ok) throw new Error(`the member was refused: ${await answer.text()}`);
  const { data } = (await answer.json()) as { data: { user_id: string } };
  return data.user_id;
}

type Call = { readonly method: string; readonly path: string; readonly body: unknown };

async function callApi({ url, projectKey }: TestService, { method, path, body }: Call) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${projectKey}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as unknown;
}

function newContext(browser: Browser, { theme = "light", size = "wide" }: Look) {
  return browser.newContext({
    viewport: sizes[size],
    colorScheme: theme,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
  });
}

/** Signs a browser in by a link and returns its cookies, which other contexts share. */
async function signIn(browser: Browser, link: string) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/app/**");
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

/**
 * Errors that the app shows itself, which the browser notes all the same, and a complaint of the
 * reference's library, which takes the `_` in the name of an operation for an escaped space.
 */
const ignored = /^Failed to load resource|deep link whitespace/;

/** Adds what goes wrong in a page to the faults. */
function watchFaults(page: Page, origin: string, faults: string[]): void {
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !ignored.test(text)) faults.push(`console: ${text}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    const isOwn = url.startsWith(`${origin}/`) || /^(data|blob):/.test(url);
    if (!isOwn) faults.push(`request: ${url}`);
  });
}

async function inspect(page: Page, name: string, look: Look): Promise<void> {
  await savePicture(page, name, look);
  expect(await runAxe(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
}

async function savePicture(page: Page, name: string, { theme, size }: Look): Promise<void> {
  await mkdir(picturesFolder, { recursive: true });
  const file = [name, size ?? "wide", theme ?? "light"].join("-");
  await page.screenshot({ path: join(picturesFolder, `${file}.png`), animations: "disabled" });
}

type AxeResult = {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[];
  }[];
};

async function runAxe(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, which the page's policy does not bind.
  await page.evaluate(axe.source);
  // Without these types axe describes every element that passes, which takes longer than its rules.
  const run = 'axe.run(document, { resultTypes: ["violations"] })';
  const violations = await page.evaluate<AxeResult["violations"]>(
    `${run}.then((r) => r.violations)`,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${String(node.target)}: ${node.failureSummary ?? ""}`),
    );
}

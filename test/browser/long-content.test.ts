// Content that is longer than its window, in a real browser: keys never lead below the edge of a
// list, texts are read as a whole, a session of several pages says that it is being read, and a
// list of thousands of fields is drawn in part.

import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { patience } from "../support/patience.ts";
import type { TestApp } from "./support/app.ts";
import { givenApp } from "./support/given-app.ts";
import { findOverlaps } from "./support/overlaps.ts";
import { findSideways } from "./support/sideways.ts";

/** An element of the page. */
type Wide = { readonly scrollWidth: number; readonly clientWidth: number };

const steps = 120;
const failedStep = 80;
const manyKeys = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, key): [string, string] => [`key_${key}`, "set"]),
);
/** Events that the page of a session reads at once. */
const firstPage = 1_000;
const inputs = {
  note: "The customer wants the whole order back, and has asked for it three times since Monday.",
  after: "Friday",
  address: "12 Market Square\nBern",
  chat: "hello\n".repeat(8),
};
/** Scrolling follows a key at once, so a row that is hidden stays so. */
const seenWithin = { timeout: 10_000 };

async function prepare(app: TestApp): Promise<void> {
  const startMs = Date.now() - 3_600_000;
  const sessions = { "long-a": steps, "long-b": steps, pages: firstPage + 20 };
  for (const [sessionId, length] of Object.entries(sessions)) {
    const events = Array.from({ length }, (_, at) => ({
      event_id: `${sessionId}-${at}`,
      session_id: sessionId,
      source: "production",
      event_type: "tool",
      event_name: `step ${at}`,
      inputs,
      outputs: {},
      start_time: startMs + at * 1_000,
      duration: 900,
      metadata: at === 0 && sessionId === "long-a" ? manyKeys : {},
      ...(at === failedStep && { error: "the bank answered 503" }),
    }));
    await app.call("POST", "/session/start", {
      session: {
        session_id: sessionId,
        session_name: "long",
        source: "production",
        start_time: startMs,
      },
    });
    for (let at = 0; at < length; at += 500) {
      await app.call("POST", "/events/batch", { events: events.slice(at, at + 500) });
    }
  }
}

const app = givenApp({ prepare });

const tracesPath = (rest: string): string => `/app/p/${app.service.projectId}/traces${rest}`;

/** Whether a row is seen at its middle and near both of its edges. Runs in the page. */
function isWholeRow(row: unknown): boolean {
  type Box = { readonly left: number; readonly top: number; readonly bottom: number };
  type Row = {
    getBoundingClientRect(): Box;
    closest(selector: string): { getBoundingClientRect(): Box; readonly clientWidth: number };
    contains(other: unknown): boolean;
  };
  const { document } = globalThis as unknown as {
    document: { elementFromPoint(x: number, y: number): unknown };
  };
  const one = row as Row;
  const { top, bottom } = one.getBoundingClientRect();
  const list = one.closest("[role=tree], [role=grid]");
  const x = list.getBoundingClientRect().left + list.clientWidth / 2;
  return [top + 2, (top + bottom) / 2, bottom - 2].every((y) =>
    one.contains(document.elementFromPoint(x, y)),
  );
}

/** Presses a key until a row is the chosen one, and waits until the row is seen as a whole. */
async function walkTo(row: Locator, key: string): Promise<void> {
  const walk = async (): Promise<number> => {
    const count = await row.count();
    if (count === 0) await row.page().keyboard.press(key);
    return count;
  };
  await expect.poll(walk, { ...patience, interval: 5 }).toBe(1);
  await isSeen(row);
}

async function isSeen(row: Locator): Promise<void> {
  await row.waitFor({ state: "attached" });
  await expect.poll(() => row.evaluate(isWholeRow), seenWithin).toBe(true);
}

describe.each([{ size: "wide" }, { size: "narrow" }] as const)("by keys, $size", ({ size }) => {
  test("the chosen event of a long session is in view", async () => {
    const { page } = await app.open(tracesPath("/long-a"), { size });
    const tree = page.getByRole("tree", { name: "Events" });
    const chosen = (at: number): Locator =>
      tree
        .locator('[aria-selected="true"]')
        .filter({ has: page.getByText(`step ${at}`, { exact: true }) });
    await tree.getByText("step 1", { exact: true }).waitFor();

    await walkTo(chosen(39), "ArrowDown");
    await walkTo(chosen(9), "ArrowUp");
    await page.keyboard.press("e");
    await isSeen(chosen(failedStep));
    await page.keyboard.press("End");
    await isSeen(chosen(steps - 1));
  });

  test.each([
    { name: "list", list: "Events", path: "?tab=events" },
    { name: "comparison", list: "Steps of both sessions", path: "/compare?a=long-a&b=long-b" },
  ])("the chosen row of a long $name is in view", async ({ list, path }) => {
    const { page } = await app.open(tracesPath(path), { size });
    const rows = page.getByRole("grid", { name: list }).getByRole("row");
    const chosen = (at: number): Locator =>
      page.locator(`[aria-rowindex="${at}"]:is([data-active="true"], [aria-selected="true"])`);
    await rows.nth(5).waitFor();

    await walkTo(chosen(40), "j");
    await walkTo(chosen(10), "k");
  });
});

describe("a long conversation", () => {
  test("shows the call that the search has found", async () => {
    const events = Array.from({ length: 40 }, (_, at) => ({
      event_id: `said-${at}`,
      session_id: "long-chat",
      source: "production",
      event_type: "model",
      event_name: `call ${at}`,
      inputs: { chat_history: [{ role: "user", content: `question ${at} of the day` }] },
      outputs: { role: "assistant", content: "Yes.\n".repeat(6) },
      start_time: Date.now() - 60_000 + at,
    }));
    await app.call("POST", "/events/batch", { events });
    const { page } = await app.open(tracesPath("/long-chat?view=chat"));
    const conversation = page.getByRole("group", { name: "Conversation" });
    const found = conversation.getByRole("button").filter({ hasText: "call 31" });
    await found.waitFor();

    await page.keyboard.press("/");
    await page.keyboard.type("question 31");
    await page.getByRole("status").getByText("1 hit", { exact: true }).waitFor();
    await page.keyboard.press("Enter");

    const isInView = async (): Promise<boolean> => {
      const [outer, inner] = [await conversation.boundingBox(), await found.boundingBox()];
      if (!outer || !inner) return false;
      return inner.y >= outer.y - 1 && inner.y + inner.height <= outer.y + outer.height + 1;
    };
    await expect.poll(isInView, patience).toBe(true);
  });
});

/** Returns the texts that are cut or lie over the line below them. Runs in the page. */
function hiddenTexts(lines: unknown[]): readonly string[] {
  type Line = {
    readonly textContent: string;
    getBoundingClientRect(): { readonly top: number; readonly bottom: number };
    querySelector(selector: string): { readonly scrollWidth: number; readonly clientWidth: number };
  };
  return (lines as Line[])
    .filter((line, index) => {
      const value = line.querySelector(".json-value");
      const below = (lines as Line[])[index + 1]?.getBoundingClientRect().top ?? Infinity;
      const isOver = line.getBoundingClientRect().bottom > below + 1;
      return isOver || value.scrollWidth > value.clientWidth;
    })
    .map(({ textContent }) => textContent);
}

test.each([{ size: "wide" }, { size: "narrow" }] as const)(
  "texts in JSON are read as a whole, $size",
  async ({ size }) => {
    const address = tracesPath("/long-a?event=long-a-3&tab=data");
    const { page, picture } = await app.open(address, { size });
    const tree = page.getByRole("group", { name: "Inputs" });
    await tree.getByText(inputs.note).waitFor();

    const lines = tree.locator(".json-line");
    const seen = lines.filter({ hasText: /note|after|address/ });
    await expect.poll(() => seen.evaluateAll(hiddenTexts), seenWithin).toEqual([]);
    // Many lines in few characters are opened by a button.
    await tree.getByRole("button", { name: "Unfold chat" }).click();
    await expect.poll(() => tree.locator(".json-text").count(), seenWithin).toBe(1);
    await picture("session-json");
  },
);

describe("a session of several pages", () => {
  test("says that it reads on without moving what is shown", async () => {
    const { page, goOn, inspect } = await openHeld({
      session: "pages",
      asked: 2,
    });
    const tree = page.getByRole("tree", { name: "Events" });
    const note = page.getByText("Loading more events");
    await tree.getByText("step 1", { exact: true }).waitFor();
    await note.waitFor();
    const during = await tree.boundingBox();
    await inspect("session-reading");

    goOn();

    await note.waitFor({ state: "detached" });
    expect(await tree.boundingBox()).toEqual(during);
  });
});

describe("a session that is read anew", () => {
  test("shows no wait, and goes on to say that its event is not there", async () => {
    const { page, held } = await openHeld({ session: "long-a?event=gone", asked: 2 });
    const notice = page.getByText("is not in this session");
    await notice.waitFor();
    await page.clock.install();

    await page.getByRole("button", { name: "Refresh" }).click();
    await held;
    await page.clock.fastForward(5_000);

    expect(await notice.isVisible()).toBe(true);
    expect(await page.getByText("Loading more events").count()).toBe(0);
  });
});

describe("names as long as the service takes", () => {
  const long = "n".repeat(200);

  async function sendLongNames(): Promise<
    Readonly<Record<"prompt" | "queue" | "dashboard", string>>
  > {
    const call = (path: string, body: unknown) =>
      app.call("POST", path, body) as Promise<Record<string, never>>;
    await call("/v1/runs", { run_id: "long-run", name: long, status: "completed" });
    const times = { start_time: Date.now() - 60_000, end_time: Date.now() - 59_000 };
    const common = { session_id: "long-names", event_name: long, source: "evaluation", ...times };
    const metrics = { quality: 0.5, [long]: true };
    const metadata = { run_id: "long-run", datapoint_id: "one" };
    await call("/events/batch", {
      events: [
        { ...common, event_id: "long-names", event_type: "session", inputs, metrics, metadata },
        {
          ...common,
          event_id: "failed",
          event_type: "model",
          error: "the bank answered 503",
          inputs: {},
          outputs: { role: long, content: "hello\n".repeat(200) },
          user_properties: { customer: long },
        },
      ],
    });
    await call("/v1/metrics", {
      name: long,
      type: "HUMAN",
      return_type: "categorical",
      criteria: long,
      categories: [{ category: long, score: 1 }],
    });
    const queue = await call("/v1/queues", { name: long, event_ids: ["failed"] });
    const template = [{ role: "system", content: `Greet {{ ${long} }}.` }];
    const prompt = await call("/v1/configurations", {
      name: long,
      provider: "openai",
      parameters: { call_type: "chat", model: "gpt-5", template },
    });
    const shown = { kind: "categorical", measures: [{ metric: "event_count" }] };
    const chart = await call("/v1/charts", {
      name: long,
      metric: "event_count",
      shown: { ...shown, split_by: "user_properties.customer" },
    });
    const calls = await call("/v1/charts", {
      name: "Calls",
      metric: "event_count",
      shown: { ...shown, kind: "time_series", split_by: "user_properties.customer" },
    });
    const dashboard = await call("/v1/dashboards", {
      name: long,
      layout: {
        tiles: [chart, calls].map(({ data }, at) => ({
          chart_id: data?.["id"],
          x: at * 4,
          y: 0,
          w: 4,
          h: 5,
        })),
      },
    });
    return {
      queue: String(queue["queue"]?.["id"]),
      prompt: String(prompt["insertedId"]),
      dashboard: String(dashboard["data"]?.["id"]),
    };
  }

  test("stay within their cards, heads and fields", async () => {
    const ids = await sendLongNames();
    const { page, picture } = await app.open("/app/components");
    const found: string[] = [];

    for (const [place, shows] of [
      ["experiments/long-run", "quality"],
      ["evaluators/new", "Try it on events"],
      [`prompts/${ids.prompt}`, "Variables"],
      [`queues/${ids.queue}/annotate`, "0 of 1 given"],
      ["traces/long-names?event=failed&tab=messages", "the bank answered 503"],
      ["traces/long-names?event=failed&tab=scores", "Ground truth"],
      [`charts?dashboard=${ids.dashboard}`, "Calls"],
    ] as const) {
      await page.goto(`${app.projectUrl}/${place}`);
      await page.getByText(shows).first().waitFor();
      await page
        .getByText(/n{200}/)
        .first()
        .waitFor({ state: "attached" });
      await page.locator(".loading, .skeleton").first().waitFor({ state: "detached" });
      await picture(`long-names-${place.split(/[/?]/)[0]}`);
      const wrong = [...(await findSideways(page)), ...(await findOverlaps(page))];
      found.push(...wrong.map((one) => `${place}: ${one}`));
    }

    expect(found).toEqual([]);
    // The page of the last place is the dashboard.
    const legend = page.locator(".chart-legend");
    await legend.getByText(long).waitFor();
    expect(await legend.evaluate((one: Wide) => one.scrollWidth <= one.clientWidth)).toBe(true);
    // The error of a reviewed event keeps its height above a long answer.
    await page.goto(`${app.projectUrl}/queues/${ids.queue}/annotate`);
    const error = page.getByRole("group", { name: "Error of the event" });
    expect((await error.boundingBox())?.height).toBeGreaterThan(40);
  });

  test("stay within the page of an alert", async () => {
    const { page } = await app.open("/app/components");
    const alert = {
      id: "long-alert",
      name: long,
      description: long,
      projections: ["duration"],
      thresholds: { critical: { operator: "greater_than", value: 1 } },
      frequency: "HOURLY",
    };
    await page.route("**/GetAlert*", (route) =>
      route.fulfill({ json: { success: true, data: alert } }),
    );
    await page.goto(`${app.projectUrl}/alerts/long-alert`);
    const facts = page.getByRole("region", { name: "Condition" });
    await facts.waitFor();

    expect(await facts.evaluate((one: Wide) => one.scrollWidth <= one.clientWidth)).toBe(true);
  });

  test("show their beginning where they run from right to left", async () => {
    const name = "مشروع خدمة العملاء ".repeat(10).trim();
    await app.call("POST", "/v1/configurations", {
      name,
      provider: "openai",
      parameters: { call_type: "chat", model: "gpt-5-mini", template: "Hello" },
    });
    const { page } = await app.open(`${new URL(app.projectUrl).pathname}/prompts`);
    const shown = page.getByText(name);
    await shown.waitFor();

    const hidden = `(() => {
      const cell = [...document.querySelectorAll(".truncate")].find(
        (one) => one.textContent === ${JSON.stringify(name)},
      );
      const range = document.createRange();
      range.setStart(cell.firstChild, 0);
      range.setEnd(cell.firstChild, 5);
      const [word, room] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
      return Math.max(room.left - word.left, word.right - room.right);
    })()`;
    expect(await page.evaluate(hidden)).toBeLessThanOrEqual(1);
  });

  test("stay within the field that confirms by their name", async () => {
    const made = await app.call("POST", "/v1/configurations", {
      name: "p".repeat(200),
      provider: "openai",
      parameters: { call_type: "chat", model: "gpt-5", template: [] },
    });
    const { insertedId: id } = made as { insertedId: string };
    const { page } = await app.open(`/app/p/${app.service.projectId}/prompts/${id}`);

    await page.getByRole("button", { name: "Delete prompt" }).click();

    const body = page.getByRole("dialog").locator(".dialog-body");
    await body.waitFor();
    expect(await body.evaluate((one: Wide) => one.scrollWidth <= one.clientWidth)).toBe(true);
  });

  test("leave room for the counts of a filter's values", async () => {
    const event = { event_type: "tool", source: "production", inputs: {} };
    await app.call("POST", "/events", {
      event: { ...event, event_id: "graded", session_id: "grades", metadata: { grade: long } },
    });
    const { page } = await app.open(tracesPath("?tab=events"));
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByPlaceholder("Filter by field…").fill("metadata.grade");
    await page.getByRole("option").first().click();

    const values = page.locator(".filter-values");
    await values.getByText(long).waitFor();

    expect(await values.evaluate((one: Wide) => one.scrollWidth <= one.clientWidth)).toBe(true);
  });

  test("stay within the title of a dialog", async () => {
    const { project, dataPlaneKey, url } = app.service;
    const made = await fetch(`${url}/v1/projects/${project.projectId}/ingestion_api_keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${dataPlaneKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "k".repeat(120) }),
    });
    expect(made.status).toBe(200);
    const { page } = await app.open(
      `/app/p/${app.service.projectId}/settings?tab=keys&kind=ingestion`,
    );
    const row = page.getByRole("row").filter({ hasText: "k".repeat(120) });
    await row.getByRole("button", { name: /Revoke/ }).click();

    const title = page.getByRole("dialog").getByRole("heading");
    await title.waitFor();

    expect(await title.evaluate((one: Wide) => one.scrollWidth <= one.clientWidth)).toBe(true);
  });
});

/** Opens a session and holds the answer to its request of this number until `goOn` is called. */
async function openHeld({ session, asked }: { readonly session: string; readonly asked: number }) {
  const [released, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const opened = await app.open("/app/components");
  let count = 0;
  await opened.page.route("**/ListSessionSkeleton**", async (route) => {
    count += 1;
    if (count === asked) {
      held.resolve();
      await released.promise;
    }
    await route.continue();
  });
  await opened.page.goto(app.service.url + tracesPath(`/${session}`));
  return { ...opened, held: held.promise, goOn: () => released.resolve() };
}

describe("a project with thousands of fields", () => {
  test("draws some of them, says how many are left, and finds each by its name", async () => {
    const { page, findings } = await app.open(tracesPath("?tab=events"));
    await page.getByRole("button", { name: "Filter", exact: true }).click();

    await page.getByText(/^[\d,]+ more: type to find them$/).waitFor();
    expect(await page.getByRole("option").count()).toBe(100);
    expect(await findings()).toEqual([]);
    await page.getByPlaceholder("Filter by field…").fill("key_987");
    await page.keyboard.press("Enter");

    await page.getByText("metadata.key_987").waitFor();
    await page.getByRole("textbox", { name: "Value" }).waitFor();
  });
});

// Rows of lists in a real browser: links to what they open, beside controls of their own.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { anAlert, encryptionKeyFlag } from "../support/alerts.ts";
import { patience } from "../support/patience.ts";
import type { TestApp } from "./support/app.ts";
import { givenApp } from "./support/given-app.ts";

type Seeded = Readonly<Record<"dataset" | "queue" | "alert", string>>;

let seeded: Seeded;

async function prepare(app: TestApp): Promise<void> {
  const call = (path: string, body: unknown) =>
    app.call("POST", path, body) as Promise<Record<string, never>>;
  const dataset = String(
    (await call("/v1/datasets", { name: "Orders" }))["result"]?.["insertedId"],
  );
  const { datapoint_ids } = (await app.call("POST", `/v1/datasets/${dataset}/datapoints`, {
    data: [{ question: "Where is my order?" }],
    mapping: { inputs: ["question"] },
  })) as { datapoint_ids: readonly string[] };
  for (const run of ["base", "new"]) {
    await call("/v1/runs", {
      run_id: run,
      name: `Run ${run}`,
      status: "completed",
      dataset_id: dataset,
    });
  }
  const times = { start_time: Date.now() - 60_000, end_time: Date.now() - 59_000 };
  const events = ["base", "new"].map((run) => ({
    event_id: `of-${run}`,
    session_id: `of-${run}`,
    event_type: "session",
    event_name: "asked",
    source: "evaluation",
    metrics: { quality: 1 },
    inputs: { question: `Where is the order of ${run}?` },
    metadata: { run_id: run, datapoint_id: datapoint_ids[0] },
    ...times,
  }));
  const answer = {
    event_id: "answer",
    session_id: "of-base",
    parent_id: "of-base",
    event_type: "model",
    event_name: "answer",
    source: "test",
    inputs: {},
    ...times,
  };
  await call("/events/batch", { events: [...events, answer] });
  await call("/v1/metrics", {
    name: "short",
    type: "PYTHON",
    return_type: "boolean",
    criteria: "def evaluate(event):\n    return True\n",
  });
  await call("/v1/configurations", {
    name: "greeting",
    provider: "openai",
    env: ["dev"],
    parameters: {
      call_type: "chat",
      model: "gpt-4o-mini",
      template: [{ role: "system", content: "Greet." }],
    },
  });
  const queue = await call("/v1/queues", { name: "Answers", event_ids: ["of-base"] });
  const alert = await call("/v1/alerts", anAlert("http://127.0.0.1:9/"));
  seeded = {
    dataset,
    queue: String(queue["queue"]?.["id"]),
    alert: String(alert["data"]?.["id"]),
  };
}

const app = givenApp({
  flags: () => ({ "encryption-keys": encryptionKeyFlag, "webhook-private-hosts": "127.0.0.1:9" }),
  prepare,
});

const path = (rest: string): string => `/app/p/${app.service.projectId}/${rest}`;

/** Answers the checks of an alert with one, which takes an hour to come about. */
async function answerChecks(page: Page): Promise<void> {
  const check = {
    outcome: "ok",
    sampleSize: 3,
    values: [],
    evaluatedAt: "2026-09-21T13:00:05Z",
    windowStart: "2026-09-21T12:00:00Z",
    windowEnd: "2026-09-21T13:00:00Z",
  };
  await page.route("**/ListAlertEvaluations**", (route) =>
    route.fulfill({ json: { success: true, data: [check] } }),
  );
}

/** Every list whose rows open something with an address, a text of a row, and that address. */
const lists = [
  ["sessions", () => "traces", "order of base", /\/traces\/of-base$/],
  ["events", () => "traces?tab=events", "answer", /\/traces\/of-base\?event=answer&/],
  ["datasets", () => "datasets", "Orders", /\/datasets\/[^/?]+$/],
  ["datapoints", () => `datasets/${seeded.dataset}`, "my order", /\?datapoint=[^&]+$/],
  ["versions", () => `datasets/${seeded.dataset}?tab=versions`, "v1", /\?version=1$/],
  ["runs", () => "experiments", "Run base", /\/experiments\/base$/],
  ["datapoints of a run", () => "experiments/base", "order of base", /\/traces\/of-base$/],
  [
    "compared datapoints",
    () => "experiments?base=base&new=new",
    "order of new",
    /\?base=base&new=new&datapoint=[^&]+$/,
  ],
  ["prompts", () => "prompts", "greeting", /\/prompts\/[^/?]+$/],
  ["evaluators", () => "evaluators", "short", /\/evaluators\/[^/?]+$/],
  ["alerts", () => "alerts", "slow models", /\/alerts\/[^/?]+$/],
  [
    "checks of an alert",
    () => `alerts/${seeded.alert}`,
    "Sep 21, 12:00",
    /\/traces\?range=.*tab=events/,
  ],
  ["queues", () => "queues", "Answers", /\/queues\/[^/?]+$/],
  ["events of a queue", () => `queues/${seeded.queue}`, "order of base", /\?event=of-base$/],
] as const;

describe("rows", () => {
  test.each(lists)("of %s are links to what they open", async (_, rest, text, address) => {
    const { page } = await app.open("/app/components");
    await answerChecks(page);
    await page.goto(app.service.url + path(rest()));
    const row = page.getByRole("row").filter({ hasText: text });
    const link = row.getByRole("link").filter({ hasText: text });
    await link.waitFor();
    const before = page.url();
    const href = (await link.getAttribute("href")) ?? "";
    // The browser opens a tab for a click that no handler prevents.
    const prevented = async (type: string, click: () => Promise<void>): Promise<unknown> => {
      await page.evaluate(`void (window.prevented = new Promise((resolve) => {
        const note = (event) => setTimeout(() => resolve(event.defaultPrevented));
        addEventListener("${type}", note, { capture: true, once: true });
      }))`);
      await click();
      return page.evaluate("window.prevented");
    };

    expect(await prevented("click", () => link.click({ modifiers: ["ControlOrMeta"] }))).toBe(
      false,
    );
    expect(await prevented("auxclick", () => link.click({ button: "middle" }))).toBe(false);

    expect(href).toMatch(address);
    expect(page.url()).toBe(before);
    // The keys of the table go on after a click on a link.
    expect(await page.locator('[role="grid"]:focus').count()).toBe(1);
    await link.click();
    await page.waitForURL(app.service.url + href);
  });

  test("open a drawer over their list by a plain click, as their address does", async () => {
    const { page } = await app.open(path(`datasets/${seeded.dataset}`));
    const row = page.getByRole("row").filter({ hasText: "my order" });
    const drawer = page.getByRole("button", { name: "Save datapoint" });
    const href = await row.getByRole("link").first().getAttribute("href");

    await row.click();
    await drawer.waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await page.goto(app.service.url + (href ?? ""));

    await drawer.waitFor();
  });

  test("are copied with tabs between their cells, and a part of a cell as it is", async () => {
    const { page } = await app.open(path("experiments"));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const rows = page.getByRole("grid").getByRole("row");
    await rows.filter({ hasText: "Run base" }).waitFor();
    await rows.filter({ hasText: "Run new" }).waitFor();
    /** Copies what is marked from the start of one cell to `letters` of the end's text. */
    const copied = async (row: number, cell: number, letters?: number): Promise<string> => {
      await page.evaluate(`{
        const cellsOf = (row) => [...row.querySelectorAll(".table-cell")];
        const rows = [...document.querySelectorAll(".table-row")].map(cellsOf);
        const texts = document.createTreeWalker(rows[${row}][${cell}], NodeFilter.SHOW_TEXT);
        const end = texts.nextNode();
        const [start] = ${letters === undefined} ? rows[0] : [end];
        getSelection().setBaseAndExtent(start, 0, end, ${letters ?? "end.length"});
      }`);
      await page.keyboard.press("ControlOrMeta+c");
      return page.evaluate<string>("navigator.clipboard.readText()");
    };
    const columns = await page.getByRole("columnheader").count();

    const lines = (await copied(1, 0)).split("\n");

    expect(lines.map((line) => line.split("\t").length)).toEqual([columns - 1, columns - 1]);
    expect(lines.map((line) => line.split("\t")[0])).toEqual(["Run new", "Run base"]);
    expect(await copied(0, 0, 3)).toBe("Run");
    expect((await copied(0, 1)).split("\t")).toEqual(lines[0]?.split("\t").slice(0, 2));
  });

  test("keep their own controls", async () => {
    const { page } = await app.open(path("experiments"));
    const run = page.getByRole("row").filter({ hasText: "Run base" });
    await run.getByRole("checkbox").check();
    await run.getByRole("button", { name: "Copy id" }).click();
    expect(await run.getByRole("link").getByRole("button").count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe(path("experiments"));
    await page.goto(app.service.url + path("evaluators"));
    const runs = page.getByRole("row").filter({ hasText: "short" }).getByRole("switch");
    const was = await runs.isChecked();

    await runs.click();

    await expect.poll(() => runs.isChecked(), patience).toBe(!was);
    expect(new URL(page.url()).pathname).toBe(path("evaluators"));
  });
});

/** Lists, a text that each shows, and the rpc that reads it. */
const polled = [
  ["alerts", "slow models", "ListAlerts"],
  ["evaluators", "short", "ListMetrics"],
  ["experiments", "Run base", "ListRuns"],
  ["prompts", "greeting", "ListConfigurations"],
  ["queues", "Answers", "ListQueues"],
  ["charts", "Calls", "ListDashboards"],
] as const;

describe("a list that cannot be read again", () => {
  test.each(polled)("of %s stays, under the error", async (list, text, rpc) => {
    const { page } = await app.open("/app/components");
    await page.clock.install();
    await page.goto(app.service.url + path(list));
    const shown = page.getByRole("main").getByText(text).first();
    await shown.waitFor();
    const json = { code: "unavailable", message: "The database is away." };
    await page.route(`**/${rpc}**`, (route) => route.fulfill({ status: 503, json }));

    // The answer is old by now, so that the page reads it again.
    await page.getByRole("navigation").getByRole("link", { name: "Playground" }).first().click();
    await page.getByRole("heading", { name: "Playground", exact: true }).waitFor();
    await page.clock.fastForward(60_000);
    await page.goBack();

    await page.getByRole("alert").getByText("The database is away.").waitFor();
    expect(await shown.isVisible()).toBe(true);
    await page.unroute(`**/${rpc}**`);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(await shown.isVisible()).toBe(true);
  });
});

/** Lists, and what another tab makes in each under a name. */
const made = [
  ["datasets", "/v1/datasets", {}],
  ["queues", "/v1/queues", { event_ids: ["of-base"] }],
  ["alerts", "/v1/alerts", anAlert("http://127.0.0.1:9/")],
  ["evaluators", "/v1/metrics", { type: "HUMAN", return_type: "boolean", criteria: "Right?" }],
  [
    "prompts",
    "/v1/configurations",
    { provider: "openai", parameters: { call_type: "chat", model: "gpt-4o-mini" } },
  ],
] as const;

describe("a list that another tab changes", () => {
  test.each(made)("of %s has it within half a minute", async (list, address, fields) => {
    const { page } = await app.open("/app/components");
    await page.clock.install();
    await page.goto(app.service.url + path(list));
    await page.getByRole("grid").getByRole("row").nth(1).waitFor();

    await app.call("POST", address, { ...fields, name: "Of another tab" });
    await page.clock.fastForward(31_000);

    await page.getByRole("grid").getByText("Of another tab").waitFor();
  });
});

describe("a list whose next page cannot be read", () => {
  test("says so, asks no more by itself, and goes on when it is told to", async () => {
    const names = Array.from({ length: 120 }, (_, index) => `Long list ${index}`);
    for (const name of names) await app.call("POST", "/v1/datasets", { name });
    const { page } = await app.open("/app/components");
    let asked = 0;
    const json = { code: "failed_precondition", message: "The cursor is of another list." };
    await page.route("**/ListDatasets**", (route) => {
      if (!decodeURIComponent(route.request().postData() ?? "").includes("cursor")) {
        return route.continue();
      }
      asked += 1;
      return route.fulfill({ status: 400, json });
    });
    await page.goto(app.service.url + path("datasets"));
    const list = page.getByRole("grid", { name: "Datasets" });
    await list.getByText("Long list 119").waitFor();

    await list.press("End");
    await page.getByRole("alert").getByText("The cursor is of another list.").waitFor();

    await page.waitForLoadState("networkidle");
    expect(asked).toBe(1);
    await page.unroute("**/ListDatasets**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    await expect
      .poll(async () => {
        await list.press("End");
        return list.getByText("Long list 0", { exact: true }).count();
      }, patience)
      .toBe(1);
  });
});

test("a list shows that it has the focus before a key has led to a row", async () => {
  const { page } = await app.open(path("evaluators"));
  const list = page.getByRole("grid", { name: "Evaluators" });
  const ring = () => page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
  await list.getByText("short").first().waitFor();
  await page.getByRole("main").getByRole("link", { name: "New evaluator" }).focus();

  await page.keyboard.press("Tab");
  expect(await list.and(page.locator(":focus")).count()).toBe(1);
  expect(await ring()).toBe("solid");
  await page.keyboard.press("j");

  await expect.poll(ring, patience).toBe("none");
  expect(await list.locator('[data-active="true"]').count()).toBe(1);
});

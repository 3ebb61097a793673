// Experiments in a real browser: the list of runs, a result, and the comparison of two runs.

import { describe, expect, test } from "vitest";
import type { TestApp } from "./support/app.ts";
import { givenApp, looks } from "./support/given-app.ts";

const datapoints = 12;

async function prepare(app: TestApp): Promise<void> {
  // One reading of the clock: every session takes exactly a second.
  const endedMs = Date.now() - 59_000;
  const dataset = (await app.call("POST", "/v1/datasets", { name: "Orders" })) as {
    result: { insertedId: string };
  };
  const datasetId = dataset.result.insertedId;
  const added = (await app.call("POST", `/v1/datasets/${datasetId}/datapoints`, {
    data: Array.from({ length: datapoints }, (_, index) => ({ question: `Order ${index}?` })),
    mapping: { inputs: ["question"] },
  })) as { datapoint_ids: string[] };
  for (const [run, gain] of [
    ["base", 0],
    ["better", 0.1],
  ] as const) {
    await app.call("POST", "/v1/runs", {
      run_id: run,
      name: `Run ${run}`,
      status: "completed",
      dataset_id: datasetId,
      passing_ranges: { quality: { min: 0.5 } },
    });
    const events = added.datapoint_ids.map((datapoint, index) => ({
      event_id: `${run}-${index}`,
      session_id: `${run}-${index}`,
      event_type: "session",
      event_name: "answer",
      source: "evaluation",
      inputs: { question: `Order ${index}?` },
      outputs: { answer: `Order ${index}\nis on its way, says ${run}.` },
      metadata: { run_id: run, datapoint_id: datapoint },
      // The first datapoint becomes worse, the others better.
      metrics: {
        quality: 0.4 + index / 40 + (index === 0 ? -2 * gain : gain + index / 500),
        brief: true,
        mood: index < (run === "base" ? 9 : 7) ? "glad" : "sad",
      },
      start_time: endedMs - 1_000,
      end_time: endedMs,
    }));
    // The same metric scores the calls of each session too, and some of them otherwise.
    const cost = run === "base" ? 0.02 : 0.01;
    const calls = events.map(({ session_id, source, metadata, start_time }, index) => ({
      session_id,
      source,
      metadata: { ...metadata, cost },
      start_time,
      inputs: {},
      event_id: `call-${session_id}`,
      event_type: "model",
      event_name: "call",
      metrics: { brief: index !== 3 },
    }));
    await app.call("POST", "/events/batch", { events: [...events, ...calls] });
  }
}

const app = givenApp({ prepare });

const path = (rest = ""): string => `/app/p/${app.service.projectId}/experiments${rest}`;

describe("experiments", () => {
  test.each(looks)("show runs and a result, $theme and $size", async (look) => {
    const { page, findings, picture, inspect } = await app.open(path(), look);
    await page.getByRole("row").filter({ hasText: "Run better" }).getByText("$0.12").waitFor();
    await picture("experiments");
    const runs = 'document.querySelector("[role=grid]")';
    expect(await page.evaluate(`${runs}.scrollWidth - ${runs}.clientWidth`)).toBe(0);
    expect(await findings()).toEqual([]);

    await page.getByRole("row").filter({ hasText: "Run better" }).click();
    await page.getByRole("article", { name: "quality" }).waitFor();
    await page.getByText("Order 3 is on its way, says better.").waitFor();
    const moods = page.getByRole("article", { name: "mood" });
    const counts = await moods.getByRole("listitem").allInnerTexts();
    expect(counts.map((count) => count.replaceAll(/\s+/g, " "))).toEqual(["glad 7", "sad 5"]);
    expect(await moods.getByText("average of").count()).toBe(0);
    const datapoints = page.getByRole("grid", { name: "Datapoints of the run" });
    await datapoints.getByText("glad", { exact: true }).first().waitFor();
    await datapoints.getByText("Order 3?", { exact: true }).waitFor();

    await inspect("experiment-run");
  });

  test.each(looks)(
    "compare two runs, the worse datapoints first, $theme and $size",
    async (look) => {
      const { page, picture, inspect } = await app.open(path("?base=base&new=better"), look);

      const card = page.getByRole("article", { name: "quality" });
      await card.getByText("11 better").waitFor();
      await card.getByText("1 worse").waitFor();
      await card
        .getByText(/^better by 0\.\d+, 95 % CI .* to 0\.\d+, paired t-test, n = 12$/)
        .waitFor();
      const datapoints = page.getByRole("grid", { name: "Compared datapoints" });
      // Texts without passing ones have no better and worse.
      const mood = page.getByRole("article", { name: "mood" });
      await mood.getByText("2 of 12 datapoints changed", { exact: true }).waitFor();
      const texts = await mood.getByRole("listitem").allInnerTexts();
      expect(texts.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
        "glad 9 → 7",
        "sad 3 → 5",
      ]);
      expect(await datapoints.getByText("mood", { exact: true }).count()).toBe(2);
      // The first datapoint became worse.
      await datapoints.getByRole("row").nth(1).getByText("Order 0?", { exact: true }).waitFor();
      await datapoints.getByRole("row").nth(1).click();
      await page.getByText("is on its way, says base.").first().waitFor();
      await picture("experiment-comparison");
      await page.getByRole("heading", { name: "Outputs" }).scrollIntoViewIfNeeded();

      await inspect("experiment-outputs");
    },
  );

  test("compare the two runs that are selected", async () => {
    const { page } = await app.open(path());
    await page.getByRole("row").filter({ hasText: "Run better" }).getByRole("checkbox").check();
    await page.getByRole("row").filter({ hasText: "Run base" }).getByRole("checkbox").check();

    await page.getByRole("button", { name: "Compare two" }).click();

    await page.getByRole("article", { name: "quality" }).waitFor();
    expect(page.url()).toContain("base=base&new=better");
    const usage = page.getByRole("table").filter({ hasText: "Median duration" });
    await usage.getByText("−$0.120").waitFor();
    const rows = await usage.getByRole("row").allInnerTexts();
    expect(rows.map((row) => row.replaceAll(/\s+/g, " "))).toEqual([
      "Sum or percentile Base 12 sessions New 12 sessions New − base",
      "Errors 0 0 =",
      "Tokens – – –",
      "Cost $0.240 $0.120 −$0.120",
      "Median duration 1.00 s 1.00 s =",
      "p95 duration 1.00 s 1.00 s =",
    ]);
  });

  test("compare selected runs of two pages, and go back from a name", async () => {
    const { page } = await app.open("/app/components");
    // The service is asked for pages of one run each.
    await page.route("**/ListRuns", async (route) => {
      const input = route.request().postDataJSON() as object;
      await route.continue({ postData: JSON.stringify({ ...input, limit: 1 }) });
    });
    await page.goto(app.service.url + path());
    await page.getByRole("row").filter({ hasText: "Run better" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("row").filter({ hasText: "Run base" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Compare two" }).click();
    await page.getByRole("article", { name: "quality" }).waitFor();
    expect(page.url()).toContain("base=base&new=better");

    await page.goBack();
    await page.getByRole("searchbox", { name: "Name of a run" }).fill("better");
    await page.waitForURL(/name=better/);
    await page.goBack();

    await page.waitForURL(/page=2$/);
    expect(await page.getByRole("searchbox", { name: "Name of a run" }).inputValue()).toBe("");
  });

  test.each([
    { search: "page=999", title: "No runs on this page" },
    { search: "name=nothing", title: "No run has “nothing” in its name" },
  ])("lead from $search to the newest runs", async ({ search, title }) => {
    const { page } = await app.open(path(`?${search}`));
    await page.getByRole("heading", { name: title }).waitFor();

    await page.getByRole("button", { name: "Show the newest runs" }).click();

    await page.getByRole("row").filter({ hasText: "Run better" }).waitFor();
  });

  test("start on a dataset that stands behind a hundred newer ones", async () => {
    for (let index = 0; index < 100; index += 1) {
      await app.call("POST", "/v1/datasets", { name: `Newer ${index}` });
    }
    const { page } = await app.open(path());
    await page.getByRole("button", { name: "Start run" }).first().click();
    const dataset = page.getByRole("dialog").getByRole("combobox", { name: "Dataset" });

    await dataset.selectOption("Orders");

    expect(await dataset.locator("option:checked").textContent()).toBe("Orders");
  });

  test("say that the dialog lists the newest datasets alone", async () => {
    const { page } = await app.open("/app/components");
    await page.route("**/ListDatasets**", async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...answer, nextCursor: "next" } });
    });
    await page.goto(app.service.url + path());
    await page.getByRole("button", { name: "Start run" }).first().click();

    const note = "The newest 1,000 datasets are listed; older ones are under Datasets.";
    await page.getByRole("dialog").getByText(note).waitFor();
  });

  test("tell the scores of one metric on two kinds of events apart", async () => {
    const { page } = await app.open(path("?base=base&new=better"));
    const onCalls = page.getByRole("article", { name: "brief on call" });
    await onCalls.getByText("no change", { exact: true }).waitFor();
    await page.getByRole("article", { name: "brief on answer" }).waitFor();

    await page.goto(`${app.service.url}${path("/better")}`);

    await page.getByRole("article", { name: "brief on call" }).waitFor();
    const grid = page.getByRole("grid", { name: "Datapoints of the run" });
    const third = grid.getByRole("row").filter({ hasText: "Order 3?" });
    const header = grid.getByRole("columnheader", { name: "brief on call" });
    await third.getByText("false", { exact: true }).waitFor();
    // Numbers begin with the greatest.
    await header.getByRole("button").dblclick();
    await grid.getByRole("row").nth(1).getByText("Order 3?", { exact: true }).waitFor();
  });

  test("of a run that failed can be resumed, but not by a viewer", async () => {
    const execution = {
      run_id: "better",
      state: "failed",
      progress: { datapoints: 12, failed: 1 },
    };
    const answer = JSON.stringify({ data: { ...execution, error: "The provider failed." } });
    for (const { userId, count } of [
      { userId: "", count: 1 },
      { userId: await app.addMember("project_viewer"), count: 0 },
    ]) {
      const { page } = await app.open(path(), { userId });
      await page.route("**/GetExecution**", (route) =>
        route.fulfill({ contentType: "application/json", body: answer }),
      );
      await page.getByRole("row").filter({ hasText: "Run better" }).click();
      await page.getByText("The provider failed.").waitFor();

      expect(await page.getByRole("button", { name: "Resume run" }).count()).toBe(count);
    }
  });

  test("show what a run has got while its models are called, also without evaluators", async () => {
    await app.call("POST", "/v1/runs", { run_id: "fresh", name: "Run fresh", status: "running" });
    const execution = { run_id: "fresh", state: "running", progress: { datapoints: 1, left: 1 } };
    const { page } = await app.open(path("/fresh"));
    await page.route("**/GetExecution**", (route) =>
      route.fulfill({
        contentType: "application/json",
        body: JSON.stringify({ data: execution }),
      }),
    );
    await page.reload();
    await page.getByText("No datapoint here.").waitFor();
    await page.getByText("0 done, 0 failed, 1 left").waitFor();

    await app.call("POST", "/events", {
      event: {
        event_id: "fresh-0",
        session_id: "fresh-0",
        event_type: "session",
        source: "evaluation",
        inputs: { question: "Order 99?" },
        metadata: { run_id: "fresh", datapoint_id: "fresh-datapoint" },
      },
    });

    // The result of a run at which nothing happens is read every ten seconds.
    await page.getByText("Order 99?", { exact: true }).waitFor({ timeout: 6_000 });
  });

  test("show no cost where no price of a call is known", async () => {
    const { page } = await app.open("/app/components");
    const execution = { state: "completed", progress: { datapoints: 1, done: 1 }, cost: 0 };
    await page.route("**/GetExecution**", (route) =>
      route.fulfill({ json: { data: { run_id: "better", ...execution } } }),
    );
    await page.goto(app.service.url + path("/better"));

    const progress = page.getByRole("region", { name: "Progress" });
    const cost = progress.locator('dt:text-is("Cost of calls") + dd');
    await cost.waitFor();
    expect(await cost.textContent()).toBe("–");
  });

  test("keep no fault of a cancelling that came too late", async () => {
    await app.call("POST", "/v1/runs", { run_id: "late", name: "Run late", status: "running" });
    const { page } = await app.open("/app/components");
    let state = "running";
    await page.route("**/GetExecution**", (route) =>
      route.fulfill({ json: { data: { run_id: "late", state, progress: { datapoints: 1 } } } }),
    );
    const json = { code: "failed_precondition", message: "the execution has ended" };
    await page.route("**/CancelExecution", (route) => route.fulfill({ status: 400, json }));
    await page.goto(app.service.url + path("/late"));
    const progress = page.getByRole("region", { name: "Progress" });
    await progress.getByRole("button", { name: "Cancel run" }).click();
    await progress.getByText("the execution has ended").waitFor();

    state = "completed";

    await progress.getByText("completed", { exact: true }).waitFor();
    expect(await progress.getByRole("alert").count()).toBe(0);
  });

  test("show how a run ended at once", async () => {
    await app.call("POST", "/v1/runs", { run_id: "ending", name: "Run ending", status: "running" });
    const { page } = await app.open(path("/ending"));
    let state = "running";
    const readAt: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/GetRunResult")) readAt.push(state);
    });
    await page.route("**/GetExecution**", (route) =>
      route.fulfill({
        contentType: "application/json",
        body: JSON.stringify({ data: { run_id: "ending", state, progress: { datapoints: 1 } } }),
      }),
    );
    await page.reload();
    const progress = page.getByRole("region", { name: "Progress" });
    await progress.getByText("running", { exact: true }).waitFor();

    state = "completed";
    await progress.getByText("completed", { exact: true }).waitFor();

    await expect.poll(() => readAt, { timeout: 2_000 }).toContain("completed");
  });
});

// Evaluators in a real browser, on a real Temporal: faults of a trial in the editor, health, why
// one was disabled, and a backfill that is paused, resumed and cancelled.

import { beforeAll, describe, expect, test } from "vitest";
import { givenWorker } from "../support/given-worker.ts";
import { patience } from "../support/patience.ts";
import { givenApp, looks } from "./support/given-app.ts";

const flags = () => ({ "evaluator-failures": "3" });
const app = givenApp({ flags });
givenWorker("workflows in the web app", () => app.service.database, flags);

const path = (page: string): string => `/app/p/${app.service.projectId}/${page}`;

/** What a workflow does waits for a schedule, on a busy machine. */
const workflowMs = 180_000;

/** The first run on a machine makes what later ones start from. */
const runMs = 90_000;

/** Sends calls of one name, which evaluators of the same name run on. */
async function giveCalls(name: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    event_type: "model",
    event_name: name,
    source: "production",
    inputs: { question: `Order ${index}?` },
    outputs: { content: "On its way." },
    start_time: Date.now() - 60_000 + index,
    duration: 1_000,
  }));
  await app.call("POST", "/events/batch", { events });
}

async function giveEvaluator(name: string, criteria: string, more: object = {}): Promise<string> {
  const made = await app.call("POST", "/v1/metrics", {
    name,
    type: "PYTHON",
    return_type: "boolean",
    criteria,
    sampling_percentage: 100,
    filters: { filterArray: [{ field: "event_name", operator: "is", value: name }] },
    ...more,
  });
  return (made as { metric_id: string }).metric_id;
}

describe("a trial shows faults", () => {
  beforeAll(() => giveCalls("tried", 1));

  const failing = "def evaluate(event):\n    return event['outputs']['absent']\n";
  let id: string;
  beforeAll(async () => {
    id = await giveEvaluator("tried", failing);
  });

  const options = { timeout: 4 * runMs };
  test.each(looks)("of code at its lines, $theme and $size", options, async (look) => {
    const { page, inspect } = await app.open(path(`evaluators/${id}`), look);
    const code = page.locator(".cm-content");
    const form = page.getByRole("region", { name: "Definition", exact: true });
    const alert = form.getByRole("alert");
    const run = page.getByRole("button", { name: "Run on 1", exact: true });
    const marks = form.locator(".cm-lintRange-error");
    await code.waitFor();

    await run.click();
    await alert.getByText(/EXCEPTION: KeyError: 'absent'$/).waitFor({ timeout: runMs });
    await alert.getByText("Line 2:", { exact: true }).waitFor();
    expect(await marks.innerText()).toContain("return event['outputs']['absent']");
    await inspect("evaluator-trial-fault");

    await code.press("Control+End");
    await page.keyboard.type("result = = True");
    // Line 2 of the changed code may be another one.
    await alert.getByText("Line 2:", { exact: true }).waitFor({ state: "detached" });
    await run.click();
    await alert.getByText(/^Line 3, column \d+:$/).waitFor({ timeout: runMs });

    await code.press("ControlOrMeta+a");
    await page.keyboard.type("result = True");
    await run.click();
    const trial = page.getByRole("region", { name: "Try it" });
    await trial.getByText("true", { exact: true }).waitFor({ timeout: runMs });
    await alert.getByText("Line", { exact: false }).waitFor({ state: "detached" });
  });

  test("of fields beside them", async () => {
    const { page } = await app.open(path("evaluators/new"));
    await page.getByText("Judge", { exact: true }).click();
    await page.getByLabel("Provider").fill("openai");

    await page.getByRole("button", { name: "Run on 1", exact: true }).click();

    const model = page.getByLabel("Model", { exact: true });
    await expect.poll(() => model.getAttribute("aria-invalid"), patience).toBe("true");
  });
});

describe("the health of an evaluator", () => {
  test("tells its runs, and why it was disabled", { timeout: 2 * workflowMs }, async () => {
    const on = { enabled_in_prod: true };
    await giveEvaluator("well", "def evaluate(event):\n    return True\n", on);
    const id = await giveEvaluator("ill", "def evaluate(event):\n    return 1 / 0\n", on);
    const first = await app.open(path(`evaluators/${id}`));
    await first.page.getByText("runs on events as they come", { exact: true }).waitFor();

    await giveCalls("well", 2);
    await giveCalls("ill", 3);

    const reason = /^disabled after 3 failures in a row: EXCEPTION: ZeroDivisionError/;
    await first.page.getByText(reason).waitFor({ timeout: workflowMs });
    // The form, which was read before, follows.
    const isOn = first.page.getByRole("switch", { name: "Run on events as they come" });
    await expect.poll(() => isOn.isChecked(), patience).toBe(false);
    const scored = first.page.getByRole("row").filter({ hasText: "well" });
    await first.page.getByRole("link", { name: "Evaluators", exact: true }).first().click();
    await scored.getByText("2 scored", { exact: true }).waitFor({ timeout: workflowMs });
    for (const look of looks) {
      const { page, inspect } = await app.open(path(`evaluators/${id}`), look);
      await page.getByText(reason).waitFor();
      await page.getByText("3 of 3", { exact: true }).waitFor();
      await inspect("evaluator-disabled");
      await page.goto(app.service.url + path("evaluators"));
      const row = page.getByRole("row").filter({ hasText: "ill" });
      await row.getByText(/^disabled after 3 failures in a row/).waitFor();
      await inspect("evaluators-health");
    }
  });
});

describe("the scores of an evaluator", () => {
  const dayMs = 86_400_000;
  const scores = {
    depth: [0.4, 0.6, 0.8],
    polite: [true, false, true],
    mood: ["glad", "sad", "glad"],
  };
  const ids = new Map<string, string>();
  beforeAll(async () => {
    for (const [name, given] of Object.entries(scores)) {
      const events = given.map((score, daysAgo) => ({
        event_type: "model",
        event_name: "scored",
        source: "production",
        config: { model: "gpt-5-mini" },
        inputs: {},
        metrics: { [name]: score },
        start_time: Date.now() - 60_000 - daysAgo * dayMs,
        duration: 1_000,
      }));
      await app.call("POST", "/events/batch", { events });
      const [first] = given;
      const kinds = { number: "float", boolean: "boolean", string: "string" };
      const return_type = kinds[typeof first as keyof typeof kinds];
      ids.set(
        name,
        await giveEvaluator(name, "def evaluate(event):\n    return 1\n", { return_type }),
      );
    }
  });

  test.each(looks)("stand in the list, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path("evaluators"), look);
    const rowOf = (name: string) => page.getByRole("row").filter({ hasText: name });

    await rowOf("depth").getByText("0.6", { exact: true }).waitFor();

    const course = rowOf("depth").getByRole("img", { name: "Average of each day" });
    expect(await course.getAttribute("aria-label")).toMatch(/0\.8, 0\.6, 0\.4(, none)?$/);
    await rowOf("polite").getByText("66.7 %", { exact: true }).waitFor();
    await rowOf("mood").getByLabel("no average").waitFor();
    await inspect("evaluators-scores");
  });

  test.each(looks)("have charts of their own, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path(`evaluators/${ids.get("depth")}`), look);
    await page
      .getByText("Average in 7 days")
      .locator("..")
      .getByText("0.6", { exact: true })
      .waitFor();

    await page.getByRole("tab", { name: "Scores" }).click();

    const overTime = page.getByRole("region", { name: "Average score over time" });
    await overTime.getByRole("img").waitFor();
    const byModel = page.getByRole("region", { name: "Average score by model" });
    await byModel
      .getByRole("button", { name: /gpt-5-mini/ })
      .getByText("0.6")
      .waitFor();
    await page.getByRole("region", { name: "Distribution of scores" }).getByText("0.8").waitFor();
    await inspect("evaluator-scores");
  });

  test("are counted by value where they are texts", async () => {
    const { page } = await app.open(path(`evaluators/${ids.get("mood")}?tab=scores`));

    const byValue = page.getByRole("region", { name: "Scores by value" });
    await byValue.getByRole("button", { name: /glad.* 2$/ }).waitFor();

    await page.getByRole("button", { name: "Last 7 days" }).click();
    await page.getByRole("button", { name: "Last 24 hours" }).click();
    await byValue.getByRole("button", { name: /glad.* 1$/ }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Last 24 hours" }).waitFor();
  });

  test("say where they come from before there are any", async () => {
    const id = await giveEvaluator("unheard", "def evaluate(event):\n    return True\n");

    const { page } = await app.open(path(`evaluators/${id}?tab=scores`));

    await page.getByText("No scores yet").waitFor();
  });
});

describe("the cost of a judge", () => {
  test.each([
    { judge_cost: 0, judge_unpriced: 3, cost: "–" },
    { judge_cost: 0.5, judge_unpriced: 1, cost: "$0.500" },
  ])("is $cost where it is known of all but $judge_unpriced calls", async ({ cost, ...sums }) => {
    const made = await app.call("POST", "/v1/metrics", {
      name: `judge of ${sums.judge_unpriced}`,
      type: "LLM",
      return_type: "boolean",
      model_provider: "openai",
      model_name: "no-price",
      criteria: "Is it kind?",
    });
    const { metric_id: id } = made as { metric_id: string };
    const { page } = await app.open("/app/components");
    await page.route("**/GetMetricStatus**", (route) =>
      route.fulfill({ json: { success: true, data: { enabled: true, scored: 3, ...sums } } }),
    );

    await page.goto(app.service.url + path(`evaluators/${id}`));

    const valueOf = (label: string) => page.locator(`dt:text-is("${label}") + dd`).textContent();
    const calls = sums.judge_unpriced === 1 ? "1 call" : "3 calls";
    expect(await valueOf("Without a known price")).toBe(calls);
    expect(await valueOf("Cost of the judge")).toBe(cost);
  });
});

describe("a backfill", () => {
  test("is paused, resumed and cancelled", { timeout: workflowMs }, async () => {
    const events = 400;
    // All of it takes minutes, so that it is under way at each click.
    const slow = "import time\ndef evaluate(event):\n    time.sleep(0.5)\n    return True\n";
    const id = await giveEvaluator("slow", slow);
    await giveCalls("slow", events);
    const { page, inspect } = await app.open(path(`evaluators/${id}?tab=backfills`));
    const row = page.getByRole("list", { name: "Backfills" }).getByRole("listitem");

    await page.getByRole("button", { name: "Start backfill" }).click();
    await row.getByText(/^[1-9]\d* scored, 0 failed, 0 skipped$/).waitFor({ timeout: workflowMs });
    await row.getByRole("button", { name: "Pause", exact: true }).click();
    await row.getByText("paused", { exact: true }).waitFor({ timeout: workflowMs });
    await inspect("backfill-paused");
    const viewer = await app.open(path(`evaluators/${id}?tab=backfills`), {
      userId: await app.addMember("project_viewer"),
    });
    await viewer.page.getByText("paused", { exact: true }).waitFor();
    const acts = viewer.page.getByRole("button", { name: /^(Start|Pause|Resume|Cancel)/ });
    expect(await acts.count()).toBe(0);
    await row.getByRole("button", { name: "Resume", exact: true }).click();
    await row.getByText("running", { exact: true }).waitFor({ timeout: workflowMs });
    await row.getByRole("button", { name: "Cancel", exact: true }).click();
    await row.getByText("cancelled", { exact: true }).waitFor({ timeout: workflowMs });

    expect(await row.getByRole("button", { name: /^(Pause|Resume|Cancel)$/ }).count()).toBe(0);
    const read = (await app.call("GET", `/v1/metrics/${id}/backfills`)) as {
      data: readonly { state: string; progress: { done: number } }[];
    };
    expect(read.data).toMatchObject([{ state: "cancelled" }]);
    expect(read.data[0]?.progress.done).toBeLessThan(events);
  });
});

describe("the page of an evaluator", () => {
  test("shows the definition where a link names a tab that it lacks", async () => {
    const type = { type: "HUMAN", return_type: "float" };
    const id = await giveEvaluator("judged by people", "How kind is it?", type);
    const { page } = await app.open(path(`evaluators/${id}?tab=backfills`));

    await page.getByRole("tab", { name: "Definition", selected: true }).waitFor();
    await page.getByRole("tabpanel").getByText("How kind is it?").waitFor();
  });

  test("keeps no fault of a pause that came too late", async () => {
    const id = await giveEvaluator("soon over", "def evaluate(event):\n    return True\n");
    const { page } = await app.open("/app/components");
    let state = "running";
    await page.route("**/ListBackfills**", (route) =>
      route.fulfill({ json: { data: [{ id: "one", state, progress: { matched: 1 } }] } }),
    );
    const json = { code: "failed_precondition", message: "the backfill has completed" };
    await page.route("**/PauseBackfill", (route) => route.fulfill({ status: 400, json }));
    await page.goto(app.service.url + path(`evaluators/${id}?tab=backfills`));
    const row = page.getByRole("list", { name: "Backfills" }).getByRole("listitem");
    await row.getByRole("button", { name: "Pause", exact: true }).click();
    await row.getByText("the backfill has completed").waitFor();

    state = "completed";

    await row.getByText("completed", { exact: true }).waitFor();
    expect(await row.getByRole("alert").count()).toBe(0);
  });
});

describe("a person who may only read", () => {
  test("is shown no control that changes or runs an evaluator", async () => {
    const id = await giveEvaluator("read", "def evaluate(event):\n    return True\n");
    const criteria = "def evaluate(event):\n    return False\n";
    await app.call("PUT", "/v1/metrics", { metric_id: id, criteria });
    const userId = await app.addMember("project_viewer");
    const { page, inspect } = await app.open(path("evaluators"), { userId });
    const row = page.getByRole("row").filter({ hasText: "read" });
    await row.getByText("off", { exact: true }).waitFor();
    expect(await page.getByRole("switch").count()).toBe(0);

    await row.getByRole("link").first().click();
    await page.getByText("You may read this. Project Admin or Project Member").waitFor();
    expect(await page.getByRole("textbox", { name: "Name", exact: true }).isDisabled()).toBe(true);
    expect(await page.getByRole("switch").isDisabled()).toBe(true);
    await inspect("evaluator-read-only");
    for (const [tab, shown] of [
      ["Definition", page.getByRole("region", { name: "Definition", exact: true })],
      ["Versions", page.getByRole("heading", { name: /^What / })],
      ["Backfills", page.getByRole("heading", { name: "No backfill yet" })],
    ] as const) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      await shown.waitFor();
      if (tab === "Versions") {
        const versions = page.getByRole("list", { name: "Versions" });
        await versions.getByRole("button").last().click();
        await page.getByRole("heading", { name: /the current one$/ }).waitFor();
      }
      const acts = /^(Save|Delete|Undo|Run on|Restore|Deploy|Start)/;
      expect(await page.getByRole("button", { name: acts }).count(), tab).toBe(0);
      expect(await page.getByRole("alert").filter({ hasText: /./ }).count(), tab).toBe(0);
    }
  });
});

describe("an unsaved draft", () => {
  test("stays when another person saves a version, and keeps that person's change", async () => {
    const id = await giveEvaluator("shared", "def evaluate(event):\n    return True\n");
    const { page } = await app.open(path(`evaluators/${id}`));
    const description = page.getByRole("textbox", { name: "Description", exact: true });
    await description.fill("half a thought");

    await app.call("PUT", `/v1/metrics/${id}`, {
      criteria: "def evaluate(event):\n    return 1\n",
    });
    await page.clock.install();
    await page.getByRole("link", { name: "Playground" }).first().click();
    await page.getByRole("heading", { name: "Playground", exact: true }).waitFor();
    await page.clock.fastForward(60_000);
    await page.goBack();

    await page.getByText("The evaluator was changed meanwhile.").waitFor();
    expect(await description.inputValue()).toBe("half a thought");
    await page.getByRole("button", { name: "Save as a new version" }).click();
    await page.getByText("Saved and deployed a new version").waitFor();
    const metrics = JSON.stringify(await app.call("GET", `/v1/metrics?id=${id}`));
    expect(metrics).toContain("half a thought");
    expect(metrics).toContain("return 1");
    await page.getByText("return 1").waitFor();
    expect(await page.getByRole("button", { name: "Undo changes" }).count()).toBe(0);
  });
});

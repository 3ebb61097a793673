// The page of a session in a real browser: tree, flame graph, conversation, the chosen event, keys,
// copying, scores in place, the sessions beside it, and two sessions side by side.

import { execFile } from "node:child_process";
import { env } from "node:process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { patience } from "../support/patience.ts";
import { agentTrace, imageSide, question } from "./support/agent-trace.ts";
import type { TestApp } from "./support/app.ts";
import { allLooks, givenApp, looks } from "./support/given-app.ts";

const minuteMs = 60_000;

/** Sessions from the newest to the oldest; each second one is another agent's. */
const sessionIds = ["newest", "newer-other", "middle", "older-other", "oldest"];

async function prepare(app: TestApp): Promise<void> {
  const nowMs = Date.now();
  const events = sessionIds.flatMap((sessionId, index) => {
    const trace = agentTrace({
      sessionId,
      startMs: nowMs - (index + 1) * minuteMs,
      ...(index === 0 && { answer: "The bank pays tomorrow.", extraTool: "ask_bank" }),
    });
    const name = sessionId.endsWith("other") ? "triage" : "refund-agent";
    return trace.map((event) => ({
      ...event,
      ...(event["event_type"] === "session" && { event_name: name }),
    }));
  });
  await app.call("POST", "/events/batch", { events });
  const session = { session_id: "empty", session_name: "idle", source: "production" };
  await app.call("POST", "/session/start", { session });
  await app.call("POST", "/v1/metrics", {
    name: "kindness",
    type: "HUMAN",
    return_type: "float",
    criteria: "How kind is the answer, from 0 to 1?",
  });
}

const app = givenApp({ prepare });

const pathOf = (sessionId: string, search = ""): string =>
  `/app/p/${app.service.projectId}/traces/${sessionId}${search}`;

const tree = (page: Page) => page.getByRole("tree", { name: "Events" });
const row = (page: Page, name: string) =>
  tree(page).getByRole("treeitem").filter({ hasText: name });
const chosen = (page: Page) => page.getByRole("region", { name: "Chosen event" });
const chosenName = (page: Page) => chosen(page).getByRole("heading", { level: 2 });

// Run in the page, where the element is an image or a sound.
const widthOf = (element: unknown) => (element as { naturalWidth: number }).naturalWidth;
const isCutOff = (element: unknown) => {
  const { scrollWidth, clientWidth } = element as { scrollWidth: number; clientWidth: number };
  return scrollWidth > clientWidth;
};
const lengthOf = (element: unknown) => (element as { duration: number }).duration;

/** Waits until an event of this name is the chosen one. */
async function isChosen(page: Page, name: string): Promise<void> {
  await expect.poll(() => chosenName(page).textContent(), patience).toBe(name);
}

const fits = (page: Page): Promise<unknown> =>
  page.evaluate("document.documentElement.scrollWidth <= innerWidth");

describe("a session", () => {
  test.each(allLooks)("is shown in three views, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(pathOf("middle", "?event=middle-try2"), look);
    await row(page, "issue_refund").last().waitFor();
    await chosen(page).getByText("PaymentError: the bank answered 503 again").waitFor();
    await inspect("session-tree");
    expect(await fits(page)).toBe(true);

    await page.keyboard.press("2");
    await page.locator(".flame-scroller canvas").waitFor();
    await inspect("session-flame");
    expect(await fits(page)).toBe(true);

    await page.keyboard.press("3");
    const talk = page.getByRole("group", { name: "Conversation" });
    await talk.getByText("I have asked the bank again.").waitFor();
    await inspect("session-chat");
    expect(await fits(page)).toBe(true);
  });

  test("stands the bars of all levels on one axis", async () => {
    const { page } = await app.open(pathOf("middle"));
    await row(page, "answer").waitFor();

    const axes = page.locator(".trace-head .trace-time, .trace-row .trace-time");
    const lefts = await axes.evaluateAll((all) =>
      (all as unknown as { getBoundingClientRect(): { left: number } }[]).map(
        (one) => one.getBoundingClientRect().left,
      ),
    );

    expect(lefts.length).toBeGreaterThan(4);
    expect(new Set(lefts).size).toBe(1);
  });

  test("has room for the estimate of a small call", async () => {
    const [sessionId, session] = ["small", { source: "production", session_id: "small" }];
    const usage = { prompt_tokens: 20, completion_tokens: 9 };
    const call = { event_type: "model", event_name: "small call", inputs: {}, metadata: usage };
    const config = { provider: "openai", model: "gpt-4o-mini" };
    await app.call("POST", "/events", { event: { ...call, ...session, config } });
    const { page } = await app.open(pathOf(sessionId));

    const cost = row(page, "small call").last().locator('[data-column="cost"]');
    await cost.getByText("~<$0.0001").waitFor();
    expect(await cost.evaluate(isCutOff)).toBe(false);
  });

  test("is walked by keys, folded, and searched", async () => {
    const { page, findings } = await app.open(pathOf("middle"));
    await row(page, "answer").waitFor();

    for (const key of ["ArrowDown", "j", "j"]) await page.keyboard.press(key);
    await isChosen(page, "find_order");
    await page.keyboard.press("k");
    await isChosen(page, "decide");
    // Left goes to the parent, then folds it; right unfolds it, then goes to its first child.
    await page.keyboard.press("ArrowLeft");
    await isChosen(page, "plan");
    await page.keyboard.press("ArrowLeft");
    await row(page, "decide").waitFor({ state: "hidden" });
    expect(await row(page, "plan").getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await isChosen(page, "decide");
    await page.keyboard.press("Shift+O");
    await expect.poll(() => tree(page).getByRole("treeitem").count(), patience).toBe(5);
    await page.keyboard.press("End");
    await isChosen(page, "answer");

    // The next error lies in a folded branch, which opens.
    await page.keyboard.press("e");
    await chosen(page).getByText("PaymentError: the bank answered 503", { exact: true }).waitFor();
    await page.keyboard.press("o");
    await expect.poll(() => tree(page).getByRole("treeitem").count(), patience).toBe(12);

    await page.keyboard.press("/");
    await page.keyboard.type("503 again");
    await page.getByRole("status").getByText("1 hit", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await chosen(page).getByText("the bank answered 503 again").waitFor();
    await page.keyboard.press("Escape");

    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys" });
    for (const words of ["Next event", "Show as flame graph", "Older session", "Next error"]) {
      await keys.getByText(words, { exact: true }).waitFor();
    }
    expect(await findings()).toEqual([]);
  });

  test("is coloured by time, tokens or cost in its flame graph, and zoomed", async () => {
    const { page } = await app.open(pathOf("middle", "?view=flame"));
    const graph = page.getByRole("application");
    await graph.locator("canvas").waitFor();
    const box = await graph.boundingBox();
    const legend = page.locator(".flame-legend");
    const colors = page.getByRole("radiogroup", { name: "Colour by" });
    await legend.getByText("2.30 s").waitFor();
    const click = (share: number, rowNumber: number) =>
      graph.click({ position: { x: share * (box?.width ?? 0), y: (rowNumber + 0.5) * 24 } });

    // The photo is looked at from 2.5 to 5 of 9 seconds, one row under the session.
    await click(3.7 / 9, 1);
    await isChosen(page, "look at the photo");
    await click(3.7 / 9, 1);
    const zoom = page.getByRole("navigation", { name: "Zoom" });
    await zoom.getByRole("button", { name: "look at the photo", exact: true }).waitFor();
    // Its branch fills the width now: the model ran nearly all the time, beside the tool.
    await click(0.5, 2);
    await isChosen(page, "describe photo");
    await page.getByText("model describe photo · 2.30 s (26 %) · 1,960 tokens · $0.0061").waitFor();
    await colors.getByText("Tokens").click();
    await legend.getByText("1,960").waitFor();
    await colors.getByText("Cost").click();
    await legend.getByText("$0.0061").waitFor();
    await graph.focus();
    await page.keyboard.press("Backspace");
    await zoom.getByRole("button", { name: "look at the photo" }).waitFor({ state: "hidden" });
    await page.keyboard.press("ArrowUp");
    await isChosen(page, "look at the photo");
    expect(page.url()).toContain("color=cost");
  });

  test("is read as a conversation: each message once, calls beside their results", async () => {
    const { page } = await app.open(pathOf("middle", "?view=chat"));
    const talk = page.getByRole("group", { name: "Conversation" });
    await talk.getByText("I have asked the bank again.").waitFor();

    expect(await talk.getByText(question).count()).toBe(1);
    const decide = talk.getByRole("region", { name: "Call decide" });
    const result = decide.getByRole("group", { name: "Result" });
    await result.getByText("delivered").waitFor();
    expect(await result.getByText("lamp").count()).toBe(0);
    await result.getByRole("button", { name: "Unfold 0" }).click();
    await result.getByText("lamp").waitFor();
    await result.getByRole("button", { name: "Fold lines" }).click();
    await result.getByText("1 item").waitFor();
    await talk.getByText("Sent again: 3 earlier messages").waitFor();
    await talk.getByRole("button", { name: /^model describe photo/ }).click();
    await isChosen(page, "describe photo");
  });

  test("reads a call to Gemini as messages, and any other call by its line", async () => {
    const call = { session_id: "shapes", event_type: "model", source: "production" };
    const events = [
      {
        ...call,
        event_id: "shapes-gemini",
        event_name: "gemini",
        inputs: { contents: [{ role: "user", parts: [{ text: "Where is the hive?" }] }] },
        outputs: { candidates: [{ content: { role: "model", parts: [{ text: "Up there." }] } }] },
      },
      {
        ...call,
        event_id: "shapes-other",
        event_name: "other",
        inputs: { query: "Which bees dance?" },
        outputs: { rows: ["workers"] },
      },
    ];
    await app.call("POST", "/events/batch", { events });
    const { page } = await app.open(pathOf("shapes", "?view=chat&event=shapes-gemini"));
    const talk = page.getByRole("group", { name: "Conversation" });
    const gemini = talk.getByRole("region", { name: "Call gemini" });
    await gemini.getByText("Where is the hive?").waitFor();
    await gemini.getByText("Up there.").waitFor();
    const other = talk.getByRole("region", { name: "Call other" });
    await other.getByText("Which bees dance?").waitFor();
    await other.getByText("rows: [workers]").waitFor();
    await chosen(page).getByRole("tab", { name: "Messages" }).waitFor();
    await chosen(page).getByText("Up there.").waitFor();
  });

  test("shows what a model thought before its answer", async () => {
    const event = {
      session_id: "thought",
      event_id: "thought-call",
      event_type: "model",
      event_name: "think",
      source: "production",
      inputs: { messages: [{ role: "user", content: "How far is the meadow?" }] },
      outputs: { role: "assistant", content: "A mile.", reasoning: "Bees fly three miles." },
    };
    await app.call("POST", "/events", { event });
    const { page, findings } = await app.open(pathOf("thought", "?event=thought-call"));

    const reasoning = chosen(page).getByRole("group", { name: "Reasoning" });
    await reasoning.getByText("Bees fly three miles.").waitFor();
    await chosen(page).getByText("A mile.").waitFor();
    expect(await findings()).toEqual([]);
  });

  test("shows images and sounds as such, once they are seen", async () => {
    const { page } = await app.open(pathOf("middle", "?event=middle-describe"));
    const image = chosen(page).getByRole("img", { name: "Sent in the message" });
    await chosen(page).getByText("What is broken?").waitFor();
    expect(await image.count()).toBe(0);

    await chosen(page).locator('[data-media="image"]').scrollIntoViewIfNeeded();

    await expect.poll(() => image.evaluate(widthOf), patience).toBe(imageSide);
    await chosen(page).locator('[data-media="audio"]').scrollIntoViewIfNeeded();
    await expect.poll(() => chosen(page).locator("audio").evaluate(lengthOf), patience).toBe(0.5);
    await row(page, "resize_photo").click();
    await expect.poll(() => image.count(), patience).toBe(2);
  });

  test("takes feedback and human scores in place", async () => {
    const { page, inspect } = await app.open(pathOf("middle", "?event=middle-answer&tab=scores"));
    const feedback = chosen(page).getByRole("form", { name: "Feedback" });
    await feedback.getByRole("button", { name: "Bad" }).click();
    await feedback.getByRole("textbox", { name: "Comment" }).fill("promises too much");
    await feedback.getByRole("textbox", { name: "Ground truth" }).fill("We will write to you.");
    await feedback.getByRole("button", { name: "Save feedback" }).click();
    await page.getByText("Saved the feedback.").waitFor();
    await row(page, "answer").getByText("has feedback").waitFor({ state: "attached" });
    await chosen(page).getByRole("textbox", { name: "Score of kindness" }).fill("0.25");
    const why = chosen(page).getByRole("textbox", { name: "Explanation of kindness" });
    await why.fill("It blames the customer");
    const save = chosen(page).getByRole("button", { name: "Save score" });
    await save.click();
    await page.getByText("Saved the score of kindness.").waitFor();
    const shown = chosen(page).locator(".scores .text-view");
    await shown.getByText("It blames the customer").waitFor();
    await inspect("session-scores");

    expect(await app.call("GET", "/v1/events/middle-answer")).toMatchObject({
      event: {
        feedback: {
          thumbs_up: false,
          comment: "promises too much",
          ground_truth: "We will write to you.",
        },
        metrics: { kindness: 0.25, kindness_explanation: "It blames the customer" },
      },
    });
    await why.fill("");
    await save.click();
    await shown.waitFor({ state: "detached" });
  });

  test("adds the chosen event to a new dataset", async () => {
    const { page, findings } = await app.open(pathOf("oldest", "?event=oldest-answer"));
    await isChosen(page, "answer");
    await page.keyboard.press("d");
    const dialog = page.getByRole("dialog", { name: "Add to dataset" });

    await dialog.getByRole("textbox", { name: "Name" }).fill("good answers");
    expect(await findings()).toEqual([]);
    await dialog.getByRole("button", { name: "Add 1 event" }).click();

    await page.getByText("1 event added to “good answers”.").waitFor();
    await dialog.waitFor({ state: "detached" });
    expect(await app.call("GET", "/v1/datasets?name=good answers")).toMatchObject({
      datasets: [{ name: "good answers", num_datapoints: 1 }],
    });
  });

  test("takes no feedback and no score of a viewer", async () => {
    const userId = await app.addMember("project_viewer");
    const { page, findings } = await app.open(pathOf("oldest", "?event=oldest-answer&tab=scores"), {
      userId,
    });
    const feedback = chosen(page).getByRole("form", { name: "Feedback" });
    await feedback.getByText("You may read this. Project Admin or Project Member").waitFor();
    await chosen(page).getByText("How kind is the answer, from 0 to 1?").waitFor();
    await page.getByRole("button", { name: "More for this event" }).click();
    await page.getByRole("menuitem", { name: "Copy as JSON" }).waitFor();

    const acts = page.getByRole("menuitem", { name: /^(Add to a dataset|Open in the playground)/ });
    expect(await acts.count()).toBe(0);
    await page.keyboard.press("Escape");
    expect(await chosen(page).getByRole("button", { name: /^Save/ }).count()).toBe(0);
    expect(await feedback.getByRole("button", { name: "Good" }).isDisabled()).toBe(true);
    const comment = feedback.getByRole("textbox", { name: "Comment" });
    expect(await comment.getAttribute("readonly")).not.toBe(null);
    expect(await chosen(page).getByLabel("Score of kindness").count()).toBe(0);
    expect(await page.getByRole("alert").filter({ hasText: /\S/ }).count()).toBe(0);
    expect(await findings()).toEqual([]);
  });

  test("keeps unsaved feedback while another tab of the event is open", async () => {
    const { page } = await app.open(pathOf("middle", "?event=middle-find&tab=scores"));
    const feedback = chosen(page).getByRole("form", { name: "Feedback" });
    await feedback.getByRole("button", { name: "Good" }).click();
    await feedback.getByRole("textbox", { name: "Comment" }).fill("half a thought");

    await chosen(page).getByRole("tab", { name: "Raw" }).click();
    await feedback.waitFor({ state: "detached" });
    await chosen(page).getByRole("tab", { name: "Scores" }).click();

    const comment = feedback.getByRole("textbox", { name: "Comment" });
    expect(await comment.inputValue()).toBe("half a thought");
    await feedback.getByRole("button", { name: "Good", pressed: true }).waitFor();
    const asked = page.waitForEvent("dialog");
    // `page.reload()` would wait for the page that never comes.
    await page.evaluate("void setTimeout(() => location.reload())");
    const dialog = await asked;
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
    expect(await comment.inputValue()).toBe("half a thought");
  });

  test("is copied as curl, as filter and as link", async () => {
    const { page } = await app.open(pathOf("middle", "?event=middle-find"));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await chosen(page).getByText("delivered").first().waitFor();
    const copied = async (item: string): Promise<string> => {
      await chosen(page).getByRole("button", { name: "More for this event" }).click();
      await page.getByRole("menuitem", { name: item }).click();
      await page
        .getByText(`Copied the ${item.slice("Copy as ".length)}`)
        .first()
        .waitFor();
      return page.evaluate<string>("navigator.clipboard.readText()");
    };

    const curl = await copied("Copy as curl");
    const { stdout } = await promisify(execFile)("sh", ["-c", curl], {
      env: { ...env, WAGGLE_API_KEY: app.service.projectKey },
    });
    expect(JSON.parse(stdout)).toMatchObject({ event: { event_id: "middle-find" } });
    const filters: unknown[] = [JSON.parse(await copied("Copy as filter"))];
    expect(await app.call("POST", "/v1/events/search", { filters })).toMatchObject({ count: 5 });
    const link = await copied("Copy as link");
    const other = await page.context().newPage();
    await other.goto(link);
    await isChosen(other, "find_order");
  });
});

describe("a deep session", () => {
  test.each(["wide", "narrow"] as const)(
    "leaves room for the names of its steps, %s",
    async (size) => {
      const id = `deep-${size}`;
      const steps = Array.from({ length: 30 }, (_, depth) => ({
        event_id: `${id}-${depth}`,
        session_id: id,
        ...(depth > 0 && { parent_id: `${id}-${depth - 1}` }),
        event_type: "chain",
        event_name: `step ${depth}`,
        source: "test",
        inputs: {},
        start_time: Date.now() - minuteMs,
        end_time: Date.now(),
      }));
      await app.call("POST", "/events/batch", { events: steps });
      const { page } = await app.open(pathOf(id), { size });

      const step = row(page, "step 15");
      await step.scrollIntoViewIfNeeded();

      expect(await step.locator(".trace-step").evaluate(isCutOff)).toBe(false);
      expect(await step.locator(".trace-name").evaluate(isCutOff)).toBe(false);
    },
  );
});

describe("the sessions beside one", () => {
  test("are those of the list that led there, with its filters", async () => {
    const filters = [{ field: "event_name", operator: "is", value: "refund-agent" }];
    const search = `?filters=${encodeURIComponent(JSON.stringify(filters))}`;
    const { page } = await app.open(pathOf("", search).replace("/?", "?"));
    const list = page.getByRole("grid", { name: "Sessions" });
    await expect.poll(() => list.locator(".table-row").count(), patience).toBe(3);
    await list.locator(".table-row").first().click();
    await page.waitForURL("**/traces/newest?**");

    // Exact, since "No older session in the list" stands there until the neighbours are known.
    const older = page.getByRole("button", { name: "Older session", exact: true });
    const newer = page.getByRole("button", { name: "Newer session", exact: true });
    await older.waitFor();
    expect(
      await page.getByRole("button", { name: "No newer session in the list" }).isDisabled(),
    ).toBe(true);
    await page.keyboard.press("]");
    await page.waitForURL("**/traces/middle?**");
    // The address changes before the page does, whose button still leads to this session.
    await page.locator(".page-header").getByText("middle", { exact: true }).waitFor();
    await older.click();
    await page.waitForURL("**/traces/oldest?**");
    await page.getByRole("button", { name: "No older session in the list" }).waitFor();
    await newer.waitFor();
    await page.keyboard.press("[");
    await page.waitForURL("**/traces/middle?**");
    await page.getByRole("link", { name: "Traces", exact: true }).last().click();
    await expect.poll(() => list.locator(".table-row").count(), patience).toBe(3);
  });
});

describe("the way back from a session", () => {
  test("leads to the events with their filters that led there", async () => {
    const filters = [{ field: "event_name", operator: "is", value: "find_order" }];
    const search = `?tab=events&filters=${encodeURIComponent(JSON.stringify(filters))}`;
    const { page } = await app.open(pathOf("", search).replace("/?", "?"));
    const list = page.getByRole("grid", { name: "Events" });
    await expect.poll(() => list.locator(".table-row").count(), patience).toBe(5);
    await list.locator(".table-row").first().click();
    await page.waitForURL("**/traces/newest?**");

    // Not the link of the sidebar, which is there before the session's.
    await page.locator(".page-breadcrumb a").click();

    await expect.poll(() => list.locator(".table-row").count(), patience).toBe(5);
    expect(await page.getByRole("tab", { name: "Events", selected: true }).count()).toBe(1);
  });
});

describe("two sessions", () => {
  test.each(looks)("stand side by side, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(pathOf("middle"), look);
    await row(page, "answer").waitFor();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByRole("textbox", { name: "Id of the other session" }).fill("newest");
    await page.keyboard.press("Enter");

    const steps = page.getByRole("grid", { name: "Steps of both sessions" });
    const added = steps.getByRole("row").filter({ hasText: "ask_bank" });
    await added.getByText("not in this session").waitFor();
    await expect.poll(() => steps.getByRole("row").count(), patience).toBe(14);
    await steps.getByRole("row").filter({ hasText: "answer" }).first().click();
    const outputs = page.getByRole("region", { name: "Outputs of the chosen step" });
    await outputs.getByText("I have asked the bank again.").waitFor();
    await outputs.getByText("The bank pays tomorrow.").waitFor();
    await outputs.getByText("outputs differ").waitFor();
    await inspect("session-compare");
    expect(await fits(page)).toBe(true);
    const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
    // As a window of 1440 pixels at 200 %.
    await page.setViewportSize({ width: 720, height: 450 });
    const absent = await added.getByText("not in this session").boundingBox();
    expect(absent?.height).toBeLessThan(30);
    await page.setViewportSize({ width, height });

    await page.keyboard.press("s");
    await expect.poll(() => page.url(), patience).toContain("a=newest");
    await steps.getByRole("row", { selected: true }).getByText("answer").first().waitFor();
    await outputs.getByText("outputs differ").waitFor();
    await added.click();
    await outputs.getByText("in one session only").waitFor();
  });
});

describe("two sessions of the same cost", () => {
  test("differ by nothing, although they add it up in another order", async () => {
    const costs = { thrice: [0.1, 0.2, 0.3], backwards: [0.3, 0.2, 0.1] };
    const events = Object.entries(costs).flatMap(([id, parts]) =>
      parts.map((cost, at) => ({
        session_id: id,
        event_type: "model",
        event_name: "call",
        source: "test",
        inputs: {},
        metadata: { cost },
        start_time: Date.now() - minuteMs + at * 1_000,
        end_time: Date.now() - minuteMs + at * 1_000 + 500,
      })),
    );
    await app.call("POST", "/events/batch", { events });
    const { page } = await app.open(pathOf("compare", "?a=thrice&b=backwards"));

    const totals = page.getByRole("row").filter({ hasText: "B − A" });
    await totals.getByRole("cell").last().getByText("=", { exact: true }).waitFor();
  });
});

describe("the search of a session", () => {
  test("asks once for what was typed", async () => {
    const { page } = await app.open(pathOf("middle"));
    await row(page, "answer").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      const text = `${request.url()} ${request.postData() ?? ""}`;
      if (text.includes("any_text")) asked.push(text);
    });
    // Time stands still, so no key can be the last one for long.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60 * minuteMs);
    const field = page.getByRole("searchbox", { name: "Search in the session" });
    await field.pressSequentially("503 again");
    await page.getByRole("status").getByText("searching").waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("q"), patience).toBe("503 again");
    expect(asked).toEqual([]);

    await page.clock.resume();

    await page.getByRole("status").getByText("1 hit", { exact: true }).waitFor();
    expect(asked).toEqual([expect.stringContaining("503 again")]);
  });
});

describe("a session page without a trace to show", () => {
  test("says that the event of the address is not in the session", async () => {
    const { page, findings } = await app.open(pathOf("middle", "?event=gone"));
    const notice = page.getByRole("status").filter({ hasText: "is not in this session" });
    await notice.waitFor();
    expect(await notice.textContent()).toBe("The event gone is not in this session.");
    expect(await findings()).toEqual([]);

    await row(page, "plan").click();

    await notice.waitFor({ state: "detached" });
  });

  test("says that it has no events, that there is none, or what it waits for", async () => {
    const { page, inspect } = await app.open(pathOf("empty"));
    await page.getByRole("heading", { name: "No events" }).waitFor();
    await inspect("session-empty");

    await page.goto(app.service.url + pathOf("not-there"));
    await page.getByRole("alert").waitFor();
    await inspect("session-error");

    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route("**/ListSessionSkeleton**", async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(app.service.url + pathOf("middle"));
    await page.getByText("Loading the session").waitFor();
    await inspect("session-loading");
    goOn();
    await row(page, "answer").waitFor();
  });
});

describe("a session that runs", () => {
  test("shows the events that come, and keeps the chosen one", async () => {
    const [sessionId, nowMs] = ["running", Date.now()];
    const events = agentTrace({ sessionId, startMs: nowMs - 1_000 });
    await app.call("POST", "/events/batch", { events });
    const { page } = await app.open(pathOf(sessionId, `?event=${sessionId}-find`));
    await isChosen(page, "find_order");
    expect(await row(page, "late_tool").count()).toBe(0);

    const root = events.find((event) => event["event_type"] === "session");
    await app.call("POST", "/events", {
      event: {
        event_type: "tool",
        event_name: "late_tool",
        source: "production",
        session_id: sessionId,
        parent_id: root?.["event_id"],
        inputs: {},
        start_time: Date.now(),
        duration: 5,
      },
    });

    await row(page, "late_tool").waitFor();
    await isChosen(page, "find_order");
  });
});

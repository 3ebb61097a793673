// Annotation queues in a real browser: made, and reviewed by keys alone.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { patience } from "../support/patience.ts";
import type { TestApp } from "./support/app.ts";
import { givenApp, looks } from "./support/given-app.ts";

let queueId: string;
/** A queue of the third event alone. */
let otherQueueId: string;

async function prepare(app: TestApp): Promise<void> {
  const events = ["first", "second", "third"].map((word, index) => ({
    event_id: `reviewed-${index}`,
    event_type: "model",
    event_name: "answer",
    source: "test",
    inputs: {
      chat_history: [{ role: "user", content: `The ${word} question` }],
      ...(word === "third" && { document: "Bees dance in the dark." }),
    },
    outputs: {
      role: "assistant",
      content: `The ${word} answer`,
      ...(word === "third" && { sources: ["hive.md"] }),
    },
    start_time: Date.now() - 60_000 + index,
    end_time: Date.now() - 59_000,
    ...(word === "third" && { error: "the provider timed out" }),
  }));
  await app.call("POST", "/events/batch", { events });
  await app.call("POST", "/v1/metrics", {
    name: "helpful",
    type: "HUMAN",
    criteria: "Does the answer help?",
    return_type: "boolean",
  });
  await app.call("POST", "/v1/metrics", {
    name: "tone",
    type: "HUMAN",
    criteria: "How does it sound?",
    return_type: "categorical",
    categories: [
      { category: "kind", score: 1 },
      { category: "cold", score: 0 },
    ],
  });
  const made = (await app.call("POST", "/v1/queues", {
    name: "Answers",
    event_ids: ["reviewed-0", "reviewed-1"],
  })) as { queue: { id: string } };
  queueId = made.queue.id;
  const other = (await app.call("POST", "/v1/queues", {
    name: "One event",
    event_ids: ["reviewed-2"],
  })) as { queue: { id: string } };
  otherQueueId = other.queue.id;
}

const app = givenApp({ prepare });

const focusOf = (page: Page): Promise<unknown> =>
  page.evaluate("document.activeElement?.textContent");

const path = (rest = ""): string => `/app/p/${app.service.projectId}/queues${rest}`;

describe("queues", () => {
  test.each(looks)("are listed, opened and reviewed in, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path(), look);
    await page.getByRole("row").filter({ hasText: "Answers" }).waitFor();
    await inspect("queues");

    await page.getByRole("row").filter({ hasText: "Answers" }).click();
    await page.getByRole("grid", { name: "Events of the queue" }).waitFor();
    await inspect("queue");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByText("The first answer").waitFor();

    await inspect("queue-review");
  });

  test("say in the list how far they are, and lead to the next event at once", async () => {
    const events = ["one", "two", "three", "four"].map((word) => ({
      event_id: `listed-${word}`,
      event_type: "model",
      event_name: "answer",
      source: "production",
      inputs: {},
      outputs: { content: `The answer of ${word}` },
      start_time: Date.now() - 60_000,
    }));
    await app.call("POST", "/events/batch", { events });
    const event_ids = events.map(({ event_id }) => event_id);
    const made = { name: "Half done", event_ids };
    const { queue } = (await app.call("POST", "/v1/queues", made)) as { queue: { id: string } };
    const { item } = (await app.call("POST", `/v1/queues/${queue.id}/claim`, {})) as {
      item: { event_id: string };
    };
    const scores = [{ metric: "helpful", value: true }];
    const review = { event_id: item.event_id, scores };
    await app.call("POST", `/v1/queues/${queue.id}/complete`, review);
    const { page } = await app.open(path());
    const row = page.getByRole("row").filter({ hasText: "Half done" });
    await row.getByText("1 of 4", { exact: true }).waitFor();
    await row.getByText("25 %", { exact: true }).waitFor();

    await row.getByRole("link", { name: "Review Half done" }).click();

    await page.waitForURL(new RegExp(`/queues/${queue.id}/annotate$`));
    await page.getByText(/^The answer of/).waitFor();
    await app.call("DELETE", `/v1/queues/${queue.id}`);
  });

  test("show the question of each event, and lead to the event in its session", async () => {
    const { page } = await app.open(path(`/${queueId}`));
    const row = page.getByRole("row").filter({ hasText: "The second question" });

    await row.click();

    await page.waitForURL(/\/traces\/[^/]+\?event=.*reviewed-1/);
    const details = page.getByRole("region", { name: "Chosen event" });
    await details.getByText("The second answer").first().waitFor();
  });

  test.each([
    ["the list", "", "Answers", /\/queues\/[^/]+$/],
    ["one", () => `/${queueId}`, "The second question", /\/traces\/[^/]+\?event=reviewed-1$/],
  ])("have links in %s, which open in a new tab", async (_, rest, text, address) => {
    const { page } = await app.open(path(typeof rest === "string" ? rest : rest()));
    const row = page.getByRole("row").filter({ hasText: text });
    const link = row.getByRole("link").filter({ hasText: text });
    // Playwright does not report every tab that a click opens, so the browser is asked for them.
    const session = await page.context().browser()?.newBrowserCDPSession();
    const tabs = async () => {
      const targets = (await session?.send("Target.getTargets"))?.targetInfos ?? [];
      return targets.filter(({ url }) => address.test(url));
    };
    const opensTab = async (click: () => Promise<void>): Promise<string | undefined> => {
      await click();
      await expect.poll(tabs, patience).toHaveLength(1);
      const [tab] = await tabs();
      await session?.send("Target.closeTarget", { targetId: tab?.targetId ?? "" });
      await expect.poll(tabs, patience).toEqual([]);
      return tab?.url;
    };
    await link.waitFor();
    const before = page.url();

    const opened = [
      await opensTab(() => link.click({ modifiers: ["ControlOrMeta"] })),
      await opensTab(() => link.click({ button: "middle" })),
    ];

    const href = app.service.url + ((await link.getAttribute("href")) ?? "");
    expect(opened).toEqual([href, href]);
    expect(page.url()).toBe(before);
    // The keys of the table go on after a click on a link.
    expect(await page.locator('[role="grid"]:focus').count()).toBe(1);
    await link.click();
    await page.waitForURL(href);
  });

  test("say that the criteria could not be read, and read them again", async () => {
    const { page } = await app.open(path());
    await page.route("**/ListMetrics**", (route) => route.abort());
    await page.goto(app.service.url + path(`/${queueId}/annotate`));
    await page.getByRole("alert").getByText("The service does not answer.").waitFor();
    expect(await page.getByText("Loading the criteria").count()).toBe(0);

    await page.unroute("**/ListMetrics**");
    await page.getByRole("button", { name: "Try again" }).click();

    await page.getByText("The first answer").waitFor();
  });

  test("name the type of evaluator that they need as its form does", async () => {
    const { page } = await app.open(path());
    await page.route("**/ListMetrics**", (route) => route.fulfill({ json: {} }));

    await page.goto(app.service.url + path(`/${queueId}/annotate`));

    await page.getByText("Create an evaluator of the type People first").waitFor();
  });

  test("that are gone say so, although nothing could be filled in either", async () => {
    const { page } = await app.open(path());
    await page.route("**/ListMetrics**", (route) => route.fulfill({ json: {} }));

    await page.goto(app.service.url + path(`/${crypto.randomUUID()}/annotate`));

    await page.getByRole("alert").getByText("It was deleted, or it is not open to you").waitFor();
    expect(await page.getByText("Nothing to fill in").count()).toBe(0);
  });

  test("offer no act once another person has deleted them", async () => {
    const made = (await app.call("POST", "/v1/queues", {
      name: "Short-lived",
      event_ids: ["reviewed-0"],
    })) as { queue: { id: string } };
    const { page } = await app.open(path(`/${made.queue.id}`));
    await page.getByRole("grid", { name: "Events of the queue" }).waitFor();
    await page.getByRole("button", { name: "Delete queue" }).waitFor();

    await app.call("DELETE", `/v1/queues/${made.queue.id}`);

    await page.getByRole("alert").getByText("It was deleted, or it is not open to you").waitFor();
    expect(await page.getByRole("button", { name: /Review|Change|Delete/ }).count()).toBe(0);
  });

  test("release an event by Enter on Release, and store no score", async () => {
    const { page } = await app.open(path(`/${queueId}/annotate`));
    await page.getByText("The first answer").waitFor();
    await page.keyboard.press("1");
    await page.getByText("1 of 2 given").waitFor();
    await page.getByRole("button", { name: "Release" }).focus();

    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "The event was released" }).waitFor();
    expect(await focusOf(page)).toBe("Look for the next event");
    const { event } = (await app.call("GET", "/v1/events/reviewed-0")) as {
      event: { metrics?: Record<string, unknown> };
    };
    expect(event.metrics ?? {}).toEqual({});
  });

  test("show what stands beside the messages of an event", async () => {
    const { page } = await app.open(path(`/${otherQueueId}/annotate`));
    const event = page.getByRole("article", { name: "Event" });
    await event.getByText("The third question").waitFor();
    await event.getByText("The third answer").waitFor();

    await event.getByText("Bees dance in the dark.").waitFor();
    await event.getByText("hive.md").waitFor();
    expect(await event.getByText("chat_history").count()).toBe(0);
    expect(await event.getByText("content", { exact: true }).count()).toBe(0);
  });

  test("keep the score of a key that follows a click, and are completed by Enter", async () => {
    const { page } = await app.open(path(`/${otherQueueId}/annotate`));
    await page.getByText("The third answer").waitFor();
    const failure = page.getByRole("group", { name: "Error of the event" });
    await failure.getByText("the provider timed out").waitFor();
    const helpful = page.getByRole("group", { name: "helpful" });
    await helpful.getByRole("button").first().click();
    await helpful.getByRole("button", { pressed: true }).waitFor();

    await page.keyboard.press("Enter");
    await page.keyboard.press("2");
    await helpful.getByRole("button").nth(1).and(page.locator("[aria-pressed=true]")).waitFor();
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Nothing left to review" }).waitFor();
    const { event } = (await app.call("GET", "/v1/events/reviewed-2")) as {
      event: { metrics: Record<string, unknown> };
    };
    expect(event.metrics).toMatchObject({ helpful: false });
  });

  test("are reviewed by keys alone, and the scores stand on the events", async () => {
    const { page } = await app.open(path(`/${queueId}/annotate`));
    await page.getByText("The second answer").waitFor();

    await page.keyboard.press("2");
    await page.getByText("1 of 2 given").waitFor();
    await page.keyboard.press("Enter");
    // Released before, so it comes last.
    await page.getByText("The first answer").waitFor();
    await page.keyboard.press("1");
    await page.keyboard.press("j");
    await page.keyboard.press("2");
    await page.getByText("2 of 2 given").waitFor();
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Nothing left to review" }).waitFor();
    await page.getByText(/^Add events by hand/).waitFor();
    expect(await focusOf(page)).toBe("Look for the next event");
    const { event } = (await app.call("GET", "/v1/events/reviewed-0")) as {
      event: { metrics: Record<string, unknown> };
    };
    expect(event.metrics).toMatchObject({ helpful: true, tone: "cold" });
  });

  test("take why a score was given, and show what each person gave and why", async () => {
    const events = [
      {
        event_id: "explained",
        event_type: "model",
        event_name: "answer",
        source: "test",
        inputs: { question: "Explained question" },
        outputs: {},
      },
    ];
    await app.call("POST", "/events/batch", { events });
    const made = { name: "Explained", event_ids: ["explained"], reviewers_per_event: 2 };
    const { queue } = (await app.call("POST", "/v1/queues", made)) as { queue: { id: string } };
    const { page, findings } = await app.open(path(`/${queue.id}/annotate`));
    await page.getByText("Explained question").waitFor();
    const why = page.getByRole("textbox", { name: "Explanation of helpful" });
    expect(await why.count()).toBe(0);
    await page.keyboard.press("1");
    await why.waitFor();
    await page.keyboard.press("e");
    // Keys of the form are letters here.
    await page.keyboard.type("sources jar", { delay: 0 });
    await page.keyboard.press("Escape");
    expect(await why.inputValue()).toBe("sources jar");
    expect(await findings()).toEqual([]);

    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Nothing left to review" }).waitFor();
    const { event } = (await app.call("GET", "/v1/events/explained")) as {
      event: { metrics: Record<string, unknown> };
    };
    expect(event.metrics).toMatchObject({ helpful: true, helpful_explanation: "sources jar" });
    const scores = [{ metric: "helpful", value: false, explanation: "It names no source" }];
    const review = { event_id: "explained", reviewer: "Ann", scores };
    await app.call("POST", `/v1/queues/${queue.id}/complete`, review);
    await page.goto(app.service.url + path(`/${queue.id}`));
    await page.getByRole("button", { name: "Scores of explained" }).click();
    const given = page.getByRole("dialog").getByRole("region", { name: "helpful" });
    await given.getByText("different").waitFor();
    const people = await given.getByRole("listitem").allTextContents();
    expect(people).toHaveLength(2);
    expect(people[0]).toMatch(/Yes.*sources jar/);
    expect(people[1]).toMatch(/Ann.*No.*It names no source/);
    expect(await findings()).toEqual([]);
  });

  test("give up no event whose review is being stored", async () => {
    const eventIds = ["hasty-0", "hasty-1"];
    const events = eventIds.map((event_id, index) => ({
      event_id,
      event_type: "model",
      event_name: "answer",
      source: "test",
      inputs: { question: `Hasty question ${index}` },
      outputs: {},
    }));
    await app.call("POST", "/events/batch", { events });
    const made = { name: "Hasty", event_ids: eventIds };
    const { queue } = (await app.call("POST", "/v1/queues", made)) as { queue: { id: string } };
    const { page } = await app.open(path(`/${queue.id}/annotate`));
    const hold = Promise.withResolvers<void>();
    const released: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/ReleaseQueueItem")) released.push(request.url());
    });
    await page.route("**/CompleteQueueItem", async (route) => {
      await hold.promise;
      return route.continue();
    });
    await page.getByText("Hasty question 0").waitFor();
    await page.keyboard.press("1");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Saving" }).waitFor();

    await page.keyboard.press("s");
    hold.resolve();

    await page.getByText("Hasty question 1").waitFor();
    expect(released).toEqual([]);
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "The event was released" }).waitFor();
    expect(released).toHaveLength(1);
  });

  test("say of a review that came too late only while its event is shown", async () => {
    const eventIds = ["late-0", "late-1"];
    const events = eventIds.map((event_id, index) => ({
      event_id,
      event_type: "model",
      event_name: "answer",
      source: "test",
      inputs: { question: `Late question ${index}` },
      outputs: {},
    }));
    await app.call("POST", "/events/batch", { events });
    const made = { name: "Hurried", event_ids: eventIds, claim_seconds: 1 };
    const { queue } = (await app.call("POST", "/v1/queues", made)) as { queue: { id: string } };
    const { page } = await app.open(path(`/${queue.id}/annotate`));
    await page.getByText("Late question 0").waitFor();
    const scores = [{ metric: "helpful", value: true }];
    const review = { event_id: "late-0", reviewer: "Ann", scores };
    // The person's claim holds the place for a second.
    const complete = () =>
      app.call("POST", `/v1/queues/${queue.id}/complete`, review).then(
        () => "completed",
        () => "held",
      );
    await expect.poll(complete, patience).toBe("completed");
    await page.keyboard.press("1");
    await page.getByText("1 of 2 given").waitFor();
    await page.keyboard.press("Enter");
    const refusal = page.getByRole("alert").getByText("the event has all its reviews");
    await refusal.waitFor();
    await page.keyboard.press("s");

    await page.getByRole("button", { name: "Look for the next event" }).click();

    await page.getByText("Late question 1").waitFor();
    await page.getByText("0 of 2 given").waitFor();
    expect(await refusal.count()).toBe(0);
  });

  test("are only read by a viewer", async () => {
    const userId = await app.addMember("project_viewer");
    const { page, findings } = await app.open(path(`/${queueId}`), { userId });
    await page.getByRole("row").filter({ hasText: "The second question" }).waitFor();
    const acts = page.getByRole("button", { name: /^(Review|Change|Delete)/ });
    expect(await acts.count()).toBe(0);
    await page.keyboard.press("r");
    expect(new URL(page.url()).pathname).toBe(path(`/${queueId}`));

    await page.goto(`${app.service.url}${path(`/${queueId}/annotate`)}`);
    await page
      .getByText("Your role may not review events. Project Admin or Project Member may.")
      .waitFor();

    expect(await page.getByRole("alert").filter({ hasText: /\S/ }).count()).toBe(0);
    expect(await page.getByRole("form", { name: "Scores" }).count()).toBe(0);
    expect(await findings()).toEqual([]);
  });

  test("are made by a person", async () => {
    const { page, findings } = await app.open(path());
    await page.getByRole("button", { name: "Create queue" }).first().click();
    await page.getByRole("textbox", { name: "Name" }).fill("By hand");
    await page.getByRole("spinbutton", { name: "Reviewers an event" }).fill("2");
    expect(await findings()).toEqual([]);

    await page.getByRole("dialog").getByRole("button", { name: "Create queue" }).click();

    await page.getByRole("heading", { name: "Agreement of reviewers" }).waitFor();
    await page.getByText("No events yet. Add events by hand").waitFor();
    const { queues } = (await app.call("GET", "/v1/queues")) as { queues: unknown[] };
    expect(queues).toContainEqual(
      expect.objectContaining({ name: "By hand", reviewers_per_event: 2 }),
    );
  });

  test("keep what another person changed in them meanwhile", async () => {
    const made = (await app.call("POST", "/v1/queues", { name: "Both" })) as {
      queue: { id: string };
    };
    const { page } = await app.open(path(`/${made.queue.id}`));
    await page.getByRole("heading", { name: "Both" }).waitFor();
    await page.getByRole("button", { name: "Change queue" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Both of us");
    await app.call("PUT", `/v1/queues/${made.queue.id}`, {
      description: "Be kind",
      enabled: false,
    });

    await dialog.getByRole("button", { name: "Save queue" }).click();

    await page.getByRole("heading", { name: "Both of us" }).waitFor();
    expect(await app.call("GET", `/v1/queues/${made.queue.id}`)).toMatchObject({
      name: "Both of us",
      description: "Be kind",
      enabled: false,
    });
  });

  test("keep their filters when something else is changed", async () => {
    const filterArray = [
      { field: "error", operator: "exists" },
      { field: "source", operator: "is", value: "nowhere" },
    ];
    const made = (await app.call("POST", "/v1/queues", {
      name: "Failing calls",
      filters: { filterArray },
    })) as { queue: { id: string } };
    const { page } = await app.open(path(`/${made.queue.id}`));
    await page.getByRole("button", { name: "Change queue" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("exists", { exact: true }).waitFor();

    await dialog.getByRole("textbox", { name: "Name" }).fill("Failing calls of nobody");
    await dialog.getByRole("button", { name: "Save queue" }).click();

    await page.getByRole("heading", { name: "Failing calls of nobody" }).waitFor();
    const { queues } = (await app.call("GET", "/v1/queues")) as { queues: unknown[] };
    expect(queues).toContainEqual(
      expect.objectContaining({
        name: "Failing calls of nobody",
        filters: { filterArray: filterArray.map((one) => expect.objectContaining(one) as unknown) },
      }),
    );
  });
});

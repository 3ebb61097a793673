// The lists of sessions and events in a real browser: reading, narrowing, following, saving.

import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { patience } from "../support/patience.ts";
import { allLooks, givenApp } from "./support/given-app.ts";
import { seedSessions } from "./support/seed.ts";

const app = givenApp({
  prepare: ({ service }) =>
    seedSessions({ url: service.url, key: service.projectKey, sessions: 260 }),
});

const tracesPath = (search = ""): string => `/app/p/${app.service.projectId}/traces${search}`;

const total = (page: Page, label: string) =>
  page.getByRole("region", { name: "Overview" }).locator(`dt:text-is("${label}") + dd`);

const histogram = (page: Page) => page.getByRole("img", { name: /Calls and errors over time/ });

describe("the traces", () => {
  test.each(allLooks)("list sessions and events, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(tracesPath(), look);

    await page.getByRole("row").filter({ hasText: "Where is my order 4711?" }).first().waitFor();
    await page.getByRole("heading", { name: "What went wrong" }).waitFor({ state: "attached" });

    await page.locator(".histogram rect").first().waitFor();
    await inspect("traces");
    await page.getByRole("tab", { name: "Events" }).click();
    const row = page.getByRole("row").filter({ hasText: "It left our warehouse this morning." });
    await row.first().waitFor();
    await inspect("events");
  });

  test("read on when the end of the list comes near", async () => {
    const { page } = await app.open(tracesPath());
    await page.getByRole("grid", { name: "Sessions" }).focus();

    await expect
      .poll(async () => {
        await page.keyboard.press("End");
        return page.locator('[aria-rowindex="261"][data-active="true"]').count();
      }, patience)
      .toBe(1);

    expect(await total(page, "Sessions").textContent()).toBe("260");
  });

  test.each([2, -2])("have the last hour where the clock is wrong by %d hours", async (hours) => {
    const hourMs = 3_600_000;
    const { page } = await app.open("/app/components");
    await page.clock.install({ time: Date.now() + hours * hourMs });
    const asked = page.waitForRequest("**/ListSessions*");

    await page.goto(app.service.url + tracesPath(`?range=${encodeURIComponent('{"last":60}')}`));

    const { dateRange } = (await asked).postDataJSON() as {
      dateRange: { $gte: number };
    };
    const behindMs = Date.now() - hourMs - dateRange.$gte;
    expect(Math.abs(behindMs)).toBeLessThan(2 * 60_000);
    // Ages are those of the service as well: the newest session is not of hours to come.
    await page.getByRole("row").nth(1).waitFor();
    expect(await page.getByText(/^in \d+[mh]$/).count()).toBe(0);
  });

  test("keep the year of old times, and the seconds of a range that one types", async () => {
    const event = { event_type: "session", event_name: "old", source: "test", inputs: {} };
    await app.call("POST", "/events", {
      event: { ...event, session_id: "old", start_time: Date.UTC(2019, 10, 28, 10, 0, 7, 500) },
    });
    const { page } = await app.open(tracesPath());
    await page.getByRole("button", { name: "Last 24 hours" }).click();

    await page.getByRole("textbox", { name: "From" }).fill("2019-11-28T10:00:05");
    await page.getByRole("textbox", { name: "To" }).fill("2019-11-28T10:00:09");
    await page.getByRole("button", { name: "Apply" }).click();

    const cell = page.getByRole("gridcell").filter({ hasText: "Nov 28, 2019" });
    await cell.waitFor();
    const cut = "[...document.querySelectorAll('[role=gridcell]:has(time)')].filter";
    expect(await page.evaluate(`${cut}((one) => one.scrollWidth > one.clientWidth).length`)).toBe(
      0,
    );
    await page.getByRole("button", { name: /2019.*10:00:05.*10:00:09/ }).waitFor();
  });

  test("call no total exact that counts other filters", async () => {
    const { page } = await app.open(tracesPath("?tab=events"));
    const overview = page.getByRole("region", { name: "Overview" });
    await overview.getByText("exact", { exact: true }).waitFor();
    const held = Promise.withResolvers<void>();
    await page.route("**/QueryChart**", async (route) => {
      await held.promise;
      await route.continue();
    });

    await page.getByText("Tools", { exact: true }).click();

    await overview.getByText("counting…", { exact: true }).waitFor();
    expect(await overview.getByText("exact", { exact: true }).count()).toBe(0);
    held.resolve();
    await overview.getByText("exact", { exact: true }).waitFor();
  });

  test("say that their overview failed, and read it again", async () => {
    const { page, findings } = await app.open(tracesPath());
    await page.route("**/QueryChart**", (route) => route.abort());
    await page.reload();
    const overview = page.getByRole("region", { name: "Overview" });
    await overview.getByText("The service does not answer.").waitFor();
    expect(await overview.getByText(/These filters/).count()).toBe(0);
    expect(await findings()).toEqual([]);

    await page.unroute("**/QueryChart**");
    await overview.getByRole("button", { name: "Try again" }).click();

    await overview.getByRole("alert").waitFor({ state: "detached" });
    await overview.locator(".histogram rect").first().waitFor();
    expect(await total(page, "Sessions").textContent()).toBe("260");
  });

  test("are narrowed by a filter whose values are offered, as the address says", async () => {
    const { page, inspect } = await app.open(tracesPath());
    await page.getByRole("row").filter({ hasText: "support-agent" }).first().waitFor();
    await page.keyboard.press("f");
    await page.getByPlaceholder("Filter by field…").fill("event_name");
    await page.getByRole("option").first().click();
    await page.getByRole("textbox", { name: "Value" }).fill("tri");
    const offered = page.getByRole("list", { name: "Values of event_name" });
    await offered.getByRole("button", { name: "triage" }).waitFor();
    await inspect("traces-filter");

    await offered.getByRole("button", { name: "triage" }).click();

    await expect.poll(() => total(page, "Sessions").textContent(), patience).toBe("52");
    await expect
      .poll(() => page.getByRole("row").filter({ hasText: "support-agent" }).count(), patience)
      .toBe(0);
    await page.reload();
    await expect.poll(() => total(page, "Sessions").textContent(), patience).toBe("52");
  });

  test("are searched by words of inputs and outputs, and say when nothing has them", async () => {
    const { page, inspect } = await app.open(tracesPath("?tab=events"));
    await page.getByRole("row").filter({ hasText: "search_orders" }).first().waitFor();
    await page.keyboard.press("/");

    await page.keyboard.type("ROTATE an api key");

    const calls = page.getByRole("grid", { name: "Events" }).getByRole("row");
    await expect
      .poll(() => calls.filter({ hasText: "Where is my order" }).count(), patience)
      .toBe(0);
    await calls.filter({ hasText: "How do I rotate an API key" }).first().waitFor();
    await page.getByRole("searchbox").fill("no event says this");
    await page.getByRole("heading", { name: "No events here" }).waitFor();
    await inspect("traces-empty");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await calls.filter({ hasText: "search_orders" }).first().waitFor();
  });

  test("of sessions offer the fields of sessions, and lead to the events of a filter", async () => {
    const filters = [{ field: "config.model", operator: "is", value: "gpt-5" }];
    const search = `?filters=${encodeURIComponent(JSON.stringify(filters))}`;
    const { page, findings } = await app.open(tracesPath(search));

    await page.getByRole("heading", { name: "No sessions here" }).waitFor();
    await page.getByText("No session has an error of its own").waitFor();
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("option", { name: /num_errors/ }).waitFor();
    expect(await page.getByRole("option", { name: /config\.model/ }).count()).toBe(0);
    expect(await findings()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Look in the events" }).click();

    const calls = page.getByRole("grid", { name: "Events" }).getByRole("row");
    await calls.filter({ hasText: "answer" }).first().waitFor();
  });

  test("say that a filter by a total has no chart, and list every match", async () => {
    const filters = [{ field: "num_errors", operator: "greater than", value: 0, type: "number" }];
    const search = `?filters=${encodeURIComponent(JSON.stringify(filters))}`;
    const { page } = await app.open(tracesPath(search));

    await page.getByText("num_errors is a total of a session").waitFor();

    const sessions = page.getByRole("grid", { name: "Sessions" }).getByRole("row");
    await sessions.filter({ hasText: "error" }).first().waitFor();
    await page.getByRole("tab", { name: "Events" }).click();
    const events = page.getByRole("grid", { name: "Events" }).getByRole("row");
    await events.filter({ hasText: "rate limit reached" }).first().waitFor();
    await total(page, "Errors").waitFor();
  });

  test("say what went wrong, and show the events of an error", async () => {
    const { page } = await app.open(tracesPath());

    await page.getByRole("button", { name: /^\d+ ?rate limit reached/ }).click();

    await expect.poll(() => page.url(), patience).toContain("tab=events");
    const rows = page.getByRole("grid", { name: "Events" }).getByRole("row");
    await rows.filter({ hasText: "rate limit reached for requests" }).first().waitFor();
    await expect.poll(() => rows.filter({ hasText: "search_orders" }).count(), patience).toBe(0);
    // Not "Calls: 0" beside as many calls as errors. The totals before stay until these are read.
    await page.getByText(/^Calls without error: 0, Errors: [1-9]/).waitFor({ state: "attached" });
    expect(await total(page, "Calls").textContent()).toBe(
      (await total(page, "Errors").textContent())?.split(" ")[0],
    );
  });

  test("zoom into what a brush over the histogram takes", async () => {
    const { page } = await app.open(tracesPath());
    const sessions = async () => Number(await total(page, "Sessions").textContent());
    await expect.poll(sessions, patience).toBe(260);
    const plot = await histogram(page).boundingBox();
    if (!plot) throw new Error("the histogram has no place on the page");
    const middle = plot.y + plot.height / 2;

    await page.mouse.move(plot.x + plot.width * 0.25, middle);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width * 0.5, middle, { steps: 5 });
    await page.mouse.up();

    await expect
      .poll(() => decodeURIComponent(page.url()), patience)
      .toMatch(/"from":\d+,"to":\d+/);
    await expect.poll(sessions, patience).toBeLessThan(100);
    expect(await sessions()).toBeGreaterThan(0);
  });

  test("zoom into a bucket by a click of a hand that trembles", async () => {
    const { page } = await app.open(tracesPath());
    const sessions = async () => Number(await total(page, "Sessions").textContent());
    await expect.poll(sessions, patience).toBe(260);
    const plot = await histogram(page).boundingBox();
    if (!plot) throw new Error("the histogram has no place on the page");
    const [left, middle] = [plot.x + plot.width * 0.4, plot.y + plot.height / 2];

    await page.mouse.move(left, middle);
    await page.mouse.down();
    await page.mouse.move(left + 1, middle + 2);
    await page.mouse.up();

    await expect.poll(sessions, patience).toBeLessThan(60);
    const range = /"from":(\d+),"to":(\d+)/.exec(decodeURIComponent(page.url()));
    expect(Number(range?.[2]) - Number(range?.[1])).toBeLessThan(3_600_000);
  });

  test("load at first less than 300 kB of JavaScript in few files, and no charts", async () => {
    const { page } = await app.open(tracesPath());
    const scripts = new Set<string>();
    page.on("request", (request) => {
      if (request.resourceType() === "script") scripts.add(request.url());
    });

    await page.reload();

    await page.getByRole("row").filter({ hasText: "Where is my order 4711?" }).first().waitFor();
    await page.locator(".histogram rect").first().waitFor();
    await page.waitForLoadState("networkidle");
    const bodies = await Promise.all([...scripts].map(async (url) => (await fetch(url)).text()));
    const sizes = bodies.map((body) => gzipSync(body, { level: 9 }).length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(100_000);
    const loaded = [...scripts].map((url, at) => `${new URL(url).pathname}: ${sizes[at]}`);
    expect(bytes, loaded.join("\n")).toBeLessThan(300_000);
    expect(scripts.size).toBeLessThanOrEqual(16);
    // A class name of uPlot.
    expect(bodies.filter((body) => body.includes("u-over"))).toEqual([]);
  });

  test("zoom into a bucket of the histogram by keys, and out again", async () => {
    const { page } = await app.open(tracesPath());
    const chart = histogram(page);
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");

    await page.keyboard.press("Enter");

    await expect
      .poll(() => decodeURIComponent(page.url()), patience)
      .toMatch(/"from":\d+,"to":\d+/);
    await expect.poll(() => total(page, "Sessions").textContent(), patience).toMatch(/^\d{1,2}$/);
    const hour = decodeURIComponent(page.url());
    await page.getByRole("grid", { name: "Sessions" }).focus();
    await page.keyboard.press("-");
    await expect.poll(() => decodeURIComponent(page.url()), patience).not.toBe(hour);
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Last 7 days" }).click();
    await expect.poll(() => total(page, "Sessions").textContent(), patience).toBe("260");
  });
});

describe("a followed list", () => {
  test("shows new rows at its top, and keeps them waiting below", async () => {
    const { page } = await app.open(tracesPath("?tab=events"));
    await page.getByRole("row").filter({ hasText: "search_orders" }).first().waitFor();
    await page.keyboard.press("l");
    const event = (name: string) => ({
      event_type: "tool",
      event_name: name,
      source: "live",
      session_id: crypto.randomUUID(),
      inputs: { query: `asked of ${name}` },
    });
    await app.call("POST", "/events/batch", { events: [event("just-now")] });
    const row = page.getByRole("row").filter({ hasText: "just-now" });
    await row.filter({ hasText: "asked of just-now" }).waitFor();

    const grid = page.getByRole("grid", { name: "Events" });
    await grid.hover();
    await page.mouse.wheel(0, 900);
    await expect.poll(() => row.count(), patience).toBe(0);
    await app.call("POST", "/events/batch", { events: [event("a-little-later")] });
    await page.getByRole("button", { name: "1 new" }).click();

    await page.getByRole("row").filter({ hasText: "a-little-later" }).waitFor();
    await page.locator('[aria-rowindex="2"]').filter({ hasText: "a-little-later" }).waitFor();
  });
});

describe("a list that is followed through a burst", () => {
  test("says that it is live, misses no row, and can be paused", async () => {
    const { page, picture, inspect } = await app.open(tracesPath("?tab=events&q=burst&live=true"));
    await page.getByText("Live: new rows come in at the top.").waitFor();
    const grid = page.getByRole("grid", { name: "Events" });
    const burst = (round: number, count: number) => {
      const sessionId = crypto.randomUUID();
      const events = Array.from({ length: count }, (_, index) => ({
        event_type: "tool",
        event_name: `burst-${round}-${index}`,
        source: "live",
        session_id: sessionId,
        inputs: { query: `burst asked ${index}` },
        start_time: Date.now() + index / 1_000,
      }));
      return app.call("POST", "/events/batch", { events });
    };
    await burst(1, 1);
    await grid.getByRole("row").filter({ hasText: "burst-1-0" }).waitFor();

    // More than a page at once: the list begins anew at the newest page, and is read on from there.
    await burst(2, 250);
    const newest = grid.getByRole("row").filter({ hasText: "burst-2-249" });
    await newest.filter({ hasText: "burst asked 249" }).waitFor();
    await inspect("traces-live");
    await grid.focus();
    await expect
      .poll(async () => {
        await page.keyboard.press("End");
        const last = page.locator('[aria-rowindex="252"][data-active="true"]');
        return last.filter({ hasText: "burst-1-0" }).count();
      }, patience)
      .toBe(1);

    await page.route("**/SearchEvents**", (route) => route.abort());
    await page.getByText(/^Not live just now: /).waitFor();
    await picture("traces-not-live");
    await page.unroute("**/SearchEvents**");
    await page.getByText("Live: new rows come in at the top.").waitFor();

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Live: new rows come in at the top.").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Live", pressed: false }).waitFor();
  });
});

describe("saved views", () => {
  test("are saved, applied, renamed and deleted", async () => {
    const { page, findings } = await app.open(tracesPath("?tab=events&kind=tool&q=4711"));
    await page.getByRole("row").filter({ hasText: "search_orders" }).first().waitFor();
    await page.keyboard.press("s");
    await page.getByRole("textbox", { name: "Name" }).fill("Tools of order 4711");
    expect(await findings()).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Tools of order 4711" }).waitFor();

    await page.goto(app.service.url + tracesPath());
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Tools of order 4711" }).click();
    await page.getByRole("tab", { name: "Events", selected: true }).waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("4711");
    expect(await page.getByRole("radio", { name: "Tools" }).isChecked()).toBe(true);

    await page.getByRole("button", { name: "Tools of order 4711" }).click();
    await page.getByRole("menuitem", { name: "Rename or share…" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Order 4711");
    await page.getByRole("checkbox", { name: "Share with everyone in the project" }).check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Order 4711", exact: true }).click();
    await page.getByRole("menuitem", { name: "Delete the view…" }).click();
    await page.getByRole("button", { name: "Delete view" }).click();
    await page.getByRole("button", { name: "Views" }).waitFor();
    expect(await app.call("GET", "/v1/views")).toMatchObject({ data: [] });
  });

  test("say so when they cannot be updated", async () => {
    const view = { name: "Tools", page: "traces", state: { settings: { tab: "events" } } };
    const { data } = (await app.call("POST", "/v1/views", { ...view, shared: true })) as {
      readonly data: { readonly id: string };
    };
    const { page } = await app.open(tracesPath(`?view=${data.id}`));
    await page.getByRole("button", { name: "Tools changed" }).click();
    await app.call("DELETE", `/v1/views/${data.id}`);

    await page.getByRole("menuitem", { name: "Update to what is shown" }).click();

    await page.getByRole("alert").filter({ hasText: "The view was not updated" }).waitFor();
  });

  test("are applied by a viewer, who may not change them", async () => {
    const view = { name: "Tools", page: "traces", shared: true };
    await app.call("POST", "/v1/views", { ...view, state: { settings: { tab: "events" } } });
    const userId = await app.addMember("project_viewer");
    const { page, findings } = await app.open(tracesPath(), { userId });
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Tools" }).click();
    await page.getByRole("tab", { name: "Events", selected: true }).waitFor();

    await page.getByRole("button", { name: "Tools", exact: true }).click();

    await page.getByRole("menuitemcheckbox", { name: "Tools", checked: true }).waitFor();
    expect(await page.getByRole("menuitem").count()).toBe(0);
    expect(await findings()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("s");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

describe("selected rows", () => {
  test("of two sessions are compared", async () => {
    const { page, findings } = await app.open(tracesPath());
    await page.getByRole("row").filter({ hasText: "support-agent" }).first().waitFor();
    const boxes = page.getByRole("grid", { name: "Sessions" }).getByRole("checkbox");
    const bar = page.getByRole("region", { name: "Selection" });
    const compare = bar.getByRole("button", { name: "Compare" });
    await boxes.nth(1).click();
    await bar.getByText("1 selected").waitFor();
    expect(await compare.isDisabled()).toBe(true);
    expect(await compare.getAttribute("title")).toBe("Select two sessions to compare them");
    await boxes.nth(2).click();
    await bar.getByText("2 selected").waitFor();
    expect(await findings()).toEqual([]);

    await compare.click();

    const steps = page.getByRole("grid", { name: "Steps of both sessions" });
    await steps.getByRole("row").nth(1).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/traces\/compare$/);
  });

  test("go nowhere by a person who may only read", async () => {
    const userId = await app.addMember("project_viewer");
    const { page } = await app.open(tracesPath("?tab=events&kind=model"), { userId });
    await page.getByRole("row").filter({ hasText: "answer" }).first().waitFor();
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    const bar = page.getByRole("region", { name: "Selection" });

    await bar.getByRole("button", { name: "Copy ids" }).waitFor();

    expect(await bar.getByRole("button", { name: /^Add/ }).count()).toBe(0);
  });

  test("go into a new dataset and a new queue, by keys", async () => {
    const { page, findings, picture } = await app.open(tracesPath("?tab=events&kind=model"));
    await page.getByRole("row").filter({ hasText: "answer" }).first().waitFor();
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await page.getByRole("region", { name: "Selection" }).getByText("2 selected").waitFor();
    await picture("traces-selected");

    await page.getByRole("button", { name: "Add to dataset" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("orders");
    expect(await findings()).toEqual([]);
    await page.getByRole("button", { name: "Add 2 events" }).click();
    await page.getByText("2 events added to “orders”.").waitFor();
    expect(await app.call("GET", "/v1/datasets?name=orders")).toMatchObject({
      datasets: [{ name: "orders", num_datapoints: 2 }],
    });

    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Add to queue" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("to-review");
    await page.getByRole("button", { name: "Add 1 event" }).click();
    await page.getByText("1 event added to “to-review”.").waitFor();
    expect(await app.call("GET", "/v1/queues")).toMatchObject({ queues: [{ name: "to-review" }] });
  });

  test("are among the datapoints of a dataset that was seen a moment before", async () => {
    await app.call("POST", "/v1/datasets", { name: "seen before" });
    const { page } = await app.open(tracesPath("?tab=events&kind=model"));
    const event = page.getByRole("row").filter({ hasText: "answer" }).first();
    await event.waitFor();
    await page.getByRole("link", { name: "Datasets" }).click();
    await page.getByRole("row").filter({ hasText: "seen before" }).click();
    await page.getByText("No datapoints yet").waitFor();
    await page.goBack();
    await page.goBack();
    await event.waitFor();
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Add to dataset" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox").selectOption({ label: "seen before" });
    await dialog.getByRole("button", { name: "Add 1 event" }).click();
    await page.getByText("1 event added to “seen before”.").waitFor();

    await page.goForward();
    await page.goForward();

    await page.getByText("1 datapoint in version").waitFor();
    await page.getByRole("grid", { name: "Datapoints" }).getByRole("row").nth(1).waitFor();
  });

  test("go into the new dataset that a failed attempt has made", async () => {
    const { page } = await app.open(tracesPath("?tab=events&kind=model"));
    await page.getByRole("row").filter({ hasText: "answer" }).first().waitFor();
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Add to dataset" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox").selectOption({ label: "New dataset…" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("tried twice");
    await page.route("**/CreateDatapointsFromEvents", (route) => route.abort());
    await dialog.getByRole("button", { name: "Add 1 event" }).click();
    await dialog.getByRole("alert").getByText("The service does not answer.").waitFor();
    await page.unroute("**/CreateDatapointsFromEvents");

    await dialog.getByRole("button", { name: "Add 1 event" }).click();

    await page.getByText("1 event added to “tried twice”.").waitFor();
    const { datasets } = (await app.call("GET", "/v1/datasets?name=tried twice")) as {
      datasets: readonly unknown[];
    };
    expect(datasets).toEqual([expect.objectContaining({ num_datapoints: 1 })]);
  });
});

// Comes last, since the tests above count the sessions that were seeded.
describe("a session without a payload", () => {
  /** Sends two calls of a session that is made for them alone, and returns its id. */
  async function giveCalls(name: string): Promise<string> {
    const session_id = `${name}-${Date.now()}`;
    const call = (at: number, question: string, answer: string) => ({
      session_id,
      event_type: "model",
      event_name: name,
      source: "test",
      inputs: { question },
      outputs: { answer },
      // The newest of all, since an evaluator shows the newest events alone.
      start_time: Date.now() - 100 + at,
      duration: 90,
    });
    await app.call("POST", "/events/batch", {
      events: [call(0, "The first?", "One."), call(1, "The second?", "Two.")],
    });
    return session_id;
  }

  test("is shown by its newest call", async () => {
    await giveCalls("reply");
    const { page } = await app.open(tracesPath());

    const row = page.getByRole("row").filter({ hasText: "The second?" });
    await row.filter({ hasText: "Two." }).filter({ hasText: "reply" }).waitFor();
    expect(await row.getByText("unknown").count()).toBe(0);
    await row.click();
    await page.getByRole("heading", { name: "reply" }).first().waitFor();
    await page.getByText("Two.", { exact: true }).first().waitFor();
    const root = page.getByRole("treeitem").first();
    await root.filter({ hasText: "reply" }).waitFor();
    expect(await page.getByText("unknown").count()).toBe(0);
    await root.click();
    await page.waitForURL(/event=/);
    await page.getByRole("heading", { name: "reply" }).first().waitFor();
    expect(await page.getByText("unknown").count()).toBe(0);
  });

  test.each(["wide", "narrow"] as const)("is shown so when two are compared, %s", async (size) => {
    const [first] = [await giveCalls("first-reply"), await giveCalls("second-reply")];
    const { page, picture } = await app.open(tracesPath(`/${first}`), { size });
    await page.getByRole("button", { name: "Compare", exact: true }).click();

    const choice = page.getByRole("link", { name: /^second-reply .*The second\?$/ }).first();
    await choice.waitFor();
    await picture("compare-choices");
    await choice.click();

    const totals = page.getByRole("table").first();
    await totals.getByRole("link", { name: "first-reply" }).waitFor();
    await totals.getByRole("link", { name: "second-reply" }).waitFor();
  });

  test("is shown so among the events of an evaluator", async () => {
    await giveCalls("explained");
    const criteria = "def evaluate(event):\n    return True\n";
    const made = (await app.call("POST", "/v1/metrics", {
      name: "short",
      type: "PYTHON",
      return_type: "boolean",
      criteria,
    })) as { metric_id: string };
    const evaluator = `${app.projectUrl}/evaluators/${made.metric_id}`;
    const { page, picture } = await app.open(new URL(evaluator).pathname);
    const line = page.getByText("explained · Two.", { exact: true });

    await page.goto(`${evaluator}?tab=why`);
    const session = page.getByRole("listitem").filter({ hasText: "session" });
    await session.filter({ hasText: "explained · Two." }).first().waitFor();
    await picture("evaluator-why");

    expect(await line.count()).toBe(2);
  });
});

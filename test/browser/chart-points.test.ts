// From the points of a chart to the events behind them, by pointer, keys and table.

import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { givenApp } from "./support/given-app.ts";

const hourMs = 3_600_000;
/** Three whole hours, of which the one in the middle has events. */
const fromMs = Math.floor(Date.now() / hourMs - 4) * hourMs;
const models = ["large", "large", "large", "small"];
/** Models of an earlier hour, more than there are colours. */
const manyModels = Array.from({ length: 8 }, (_, index) => `model ${index + 1}`);

const app = givenApp({
  prepare: async (started) => {
    await started.call("POST", "/events/batch", {
      events: [...eventsAt(fromMs + hourMs, models), ...eventsAt(fromMs - hourMs, manyModels)],
    });
  },
});

const eventsAt = (hourStartMs: number, names: readonly string[]) =>
  names.map((model, index) => ({
    event_type: "model",
    event_name: "answer",
    source: "production",
    config: { model },
    inputs: {},
    outputs: { role: "assistant", content: model },
    start_time: hourStartMs + index * 60_000,
    end_time: hourStartMs + index * 60_000 + 1_000,
  }));

async function openChart(startMs = fromMs) {
  const question = {
    kind: "time_series",
    unit: "hour",
    splitBy: "model",
    filters: [],
    measures: [{ metric: "event_count" }],
  };
  const range = { from: startMs, to: startMs + 3 * hourMs - 1 };
  const search = new URLSearchParams({
    name: "Calls",
    question: JSON.stringify(question),
    range: JSON.stringify(range),
  });
  const opened = await app.open(`/app/p/${app.service.projectId}/charts/edit?${search.toString()}`);
  await opened.page.locator(".plot-canvas canvas").waitFor();
  return opened;
}

/** Returns what the list of events is asked for, once the page is there. */
async function openedEvents(page: Page) {
  await page.waitForURL("**/traces?**");
  const search = new URL(page.url()).searchParams;
  const filters = JSON.parse(search.get("filters") ?? "[]") as { field: string; value?: unknown }[];
  const model = filters.find(({ field }) => field === "config.model");
  return { range: JSON.parse(search.get("range") ?? "null") as unknown, model: model?.value };
}

const hour = { from: fromMs + hourMs, to: fromMs + 2 * hourMs - 1 };

describe("a click at a stack of bars opens the events of", () => {
  test.each([
    { part: "the series at its bottom", height: 1.5, model: "large", movedPx: 0 },
    { part: "the series at its top", height: 3.5, model: "small", movedPx: 0 },
    { part: "a series although it moves by two pixels", height: 3.5, model: "small", movedPx: 2 },
  ])("$part", async ({ height, model, movedPx }) => {
    const { page } = await openChart();
    const box = await page.locator(".u-over").boundingBox();
    if (!box) throw new Error("the chart is not on the screen");
    const x = box.x + box.width / 2;
    // The axis ends a little above the tallest stack.
    const y = box.y + box.height * (1 - height / (models.length * 1.06));

    await page.mouse.move(x, y);
    await page.getByRole("status").getByText("small", { exact: true }).waitFor();
    await page.mouse.down();
    await page.mouse.move(x + movedPx, y);
    await page.mouse.up();

    expect(await openedEvents(page)).toMatchObject({ range: hour, model });
  });
});

/** Reads the colours in each part of the stack in the middle, but for the edges of a part. */
const colorsOfParts = (count: number) => `(() => {
  const canvas = document.querySelector(".plot-canvas canvas");
  const place = canvas.getBoundingClientRect();
  const over = document.querySelector(".u-over").getBoundingClientRect();
  const ratio = canvas.width / place.width;
  const x = (over.left + over.width / 2 - place.left) * ratio;
  const partPx = over.height / (${count} * 1.06);
  return Array.from({ length: ${count} }, (_, index) => {
    const top = over.bottom - place.top - (index + 1) * partPx + 2;
    const box = [x, top * ratio, 1, (partPx - 4) * ratio];
    const { data } = canvas.getContext("2d").getImageData(...box);
    const starts = Array.from({ length: data.length / 4 }, (_, pixel) => pixel * 4);
    return [...new Set(starts.map((start) => data.slice(start, start + 3).join(" ")))];
  });
})()`;

test("bars whose colours repeat are striped, each in the colour of its series", async () => {
  const { page } = await openChart(fromMs - 2 * hourMs);
  await page.getByText("model 8", { exact: true }).first().waitFor();

  const colors: string[][] = await page.evaluate(colorsOfParts(manyModels.length));

  expect(colors.map((found) => found.length)).toEqual([1, 1, 1, 1, 1, 1, 2, 2]);
  expect(colors[6]).toContain(colors[0]?.[0]);
  expect(colors[7]).toContain(colors[1]?.[0]);
});

describe("the events behind a point are opened", () => {
  test.each([
    { by: "of all series", keys: ["ArrowRight", "ArrowRight", "Enter"], model: undefined },
    {
      by: "of a picked series",
      keys: ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "Enter"],
      model: "small",
    },
  ])("by keys $by", async ({ keys, model }) => {
    const { page, findings } = await openChart();
    await page.getByRole("img", { name: /^Calls\. .*Enter opens the events/ }).focus();

    for (const key of keys.slice(0, -1)) await page.keyboard.press(key);
    expect(await findings()).toEqual([]);
    await page.keyboard.press("Enter");

    expect(await openedEvents(page)).toMatchObject({ range: hour, model });
  });

  test("from the table of the numbers", async () => {
    const { page, findings } = await openChart();
    await page.getByRole("button", { name: "Show the numbers" }).click();
    const numbers = page.getByRole("group", { name: "Numbers of Calls" });
    expect(await findings()).toEqual([]);

    await numbers.getByRole("row").nth(2).getByRole("button", { name: "1", exact: true }).click();

    expect(await openedEvents(page)).toMatchObject({ range: hour, model: "small" });
  });
});

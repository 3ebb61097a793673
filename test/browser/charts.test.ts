// Charts, alerts and evaluators in a real browser.

import type { Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { anAlert, encryptionKeyFlag, startReceiver } from "../support/alerts.ts";
import { providersOf } from "../support/chats.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { patience } from "../support/patience.ts";
import { givenApp, looks } from "./support/given-app.ts";
import { seedSessions } from "./support/seed.ts";
import { findSideways } from "./support/sideways.ts";

const receiver = givenStarted(startReceiver);
const standIn = givenStarted(startOpenAiStandIn);

const app = givenApp({
  flags: () => ({
    "encryption-keys": encryptionKeyFlag,
    "webhook-private-hosts": receiver.host,
    providers: providersOf(standIn),
  }),
  prepare: ({ service }) =>
    seedSessions({ url: service.url, key: service.projectKey, sessions: 40 }),
});

const path = (page: string): string => `/app/p/${app.service.projectId}/${page}`;

describe("the charts", () => {
  test.each(looks)("have an overview without any set-up, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path("charts"), look);

    const tile = (name: string) => page.getByRole("region", { name, exact: true });
    await tile("Calls of models").getByText("100", { exact: true }).waitFor();
    await tile("Calls by model").getByText("gpt-5-mini", { exact: true }).waitFor();
    await tile("Calls by model").locator("canvas").waitFor();

    await inspect("charts-overview");
  });

  test("are drawn in a browser whose language is no locale, counts with whole ticks", async () => {
    const { page, picture } = await app.open("/app");
    await page.addInitScript(
      'Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix" })',
    );

    await page.goto(app.service.url + path("charts"));

    const errors = page.getByRole("region", { name: "Errors over time", exact: true });
    await errors.locator("canvas").waitFor();
    await picture("charts-errors");
  });

  test("are built by picking, saved, arranged by keys, and lead to their events", async () => {
    const { page, inspect } = await app.open(path("charts"));
    await page.getByRole("button", { name: "Overview" }).click();
    await page.getByRole("menuitem", { name: "New dashboard" }).click();
    await page.getByLabel("Name").fill("Shop");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "“Shop” has no charts yet" }).waitFor();

    await page.getByRole("link", { name: "New chart" }).click();
    await page.getByLabel("Name of the chart").fill("Tools");
    await page.getByText("Bars", { exact: true }).click();
    await page.getByText("Pick the field to split by").waitFor();
    await page.getByRole("button", { name: "Split by: Nothing" }).click();
    await page.getByPlaceholder("Find a field…").fill("event_name");
    await page.getByRole("option").first().click();
    const bars = page.getByRole("list", { name: "Tools" });
    await bars.getByRole("button", { name: /^search_orders events \d+$/ }).waitFor();
    await bars.getByText("events", { exact: true }).first().waitFor();
    const kinds = "[...document.querySelectorAll('[aria-label=\"Kind of chart\"] label > span')]";
    const widths = await page.evaluate<number[]>(`${kinds}.map((kind) => kind.offsetWidth)`);
    expect(widths).toHaveLength(5);
    expect(Math.max(...widths) - Math.min(...widths)).toBeLessThanOrEqual(1);
    await page.getByText(/events matched, every value is exact/).waitFor();
    await inspect("charts-builder");
    await page.getByRole("button", { name: "Save" }).click();

    await page.getByRole("region", { name: "Tools" }).waitFor();
    await page.getByRole("button", { name: "Arrange" }).click();
    await page.getByRole("button", { name: /^Move Tools/ }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("Tools: column 2, row 1, 6 wide, 5 high").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Done" }).click();
    await bars.getByRole("button", { name: /search_orders/ }).click();

    await page.waitForURL("**/traces?**");
    expect(decodeURIComponent(page.url())).toContain('"value":"search_orders"');
  });
});

describe("a dashboard", () => {
  type Stored = { readonly id: string; readonly layout: { readonly tiles: readonly unknown[] } };

  async function storedDashboard(id: string): Promise<Stored | undefined> {
    const { data } = (await app.call("GET", "/v1/dashboards")) as { data: readonly Stored[] };
    return data.find((one) => one.id === id);
  }

  async function create(what: "charts" | "dashboards", body: unknown): Promise<string> {
    const made = await app.call("POST", `/v1/${what}`, body);
    return (made as { data: { id: string } }).data.id;
  }

  test("that is gone takes no new chart, which would come onto another", async () => {
    const { page } = await app.open(path(`charts?dashboard=gone`));

    await page.getByRole("heading", { name: "This dashboard is gone" }).waitFor();

    expect(await page.getByRole("link", { name: "New chart" }).count()).toBe(0);
    await page.keyboard.press("n");
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: /^Charts/ }).waitFor();
    expect(await page.getByRole("option", { name: "New chart" }).count()).toBe(0);
  });

  test("with a long name leaves the page as wide as a phone's window", async () => {
    const id = await create("dashboards", { name: "N".repeat(200) });
    const { page } = await app.open(path(`charts?dashboard=${id}`), { size: "narrow" });
    await page.getByRole("heading", { name: /has no charts yet/ }).waitFor();

    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await findSideways(page)).toEqual([]);

    await page.getByRole("button", { name: /^N+$/ }).click();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    const menu = 'document.querySelector("[role=menu]")';
    expect(await page.evaluate(`${menu}.scrollWidth <= ${menu}.clientWidth`)).toBe(true);
    await app.call("DELETE", `/v1/dashboards/${id}`);
  });

  test.each(["Done", "Traces", "closing the tab"])(
    "keeps a change of its layout on %s right after it",
    async (way) => {
      const chart = await create("charts", { name: `Calls ${way}`, metric: "event_count" });
      const tile = { chart_id: chart, x: 0, y: 0, w: 6, h: 5 };
      const id = await create("dashboards", { name: `Moved ${way}`, layout: { tiles: [tile] } });
      const { page } = await app.open(path(`charts?dashboard=${id}&arrange=true`));
      await page.getByRole("button", { name: `Move Calls ${way}` }).focus();
      // Time stands still, so the change cannot settle.
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 3_600_000);

      await page.keyboard.press("ArrowRight");
      const role = way === "Done" ? "button" : "link";
      if (way === "closing the tab") await page.close();
      else await page.getByRole(role, { name: way, exact: true }).first().click();

      await expect
        .poll(async () => (await storedDashboard(id))?.layout.tiles, patience)
        .toEqual([{ ...tile, x: 1 }]);
    },
  );

  test("keeps the layout that another tab has saved meanwhile", async () => {
    const chart = await create("charts", { name: "Calls of both", metric: "event_count" });
    const tile = { chart_id: chart, x: 0, y: 0, w: 6, h: 5 };
    const id = await create("dashboards", { name: "Of two tabs", layout: { tiles: [tile] } });
    const { page } = await app.open(path(`charts?dashboard=${id}&arrange=true`));
    const handle = page.getByRole("button", { name: "Move Calls of both" });
    const tiles = async () => (await storedDashboard(id))?.layout.tiles;
    await handle.waitFor();
    // The page reads what it saved; were that read later, the page would show the other layout.
    const renewed = page.waitForResponse("**/ListDashboards*");
    await handle.press("ArrowRight");
    await expect.poll(tiles, patience).toEqual([{ ...tile, x: 1 }]);
    await renewed;

    const other = { ...tile, x: 3, w: 5 };
    await app.call("PATCH", `/v1/dashboards/${id}`, { layout: { tiles: [other] } });
    await handle.press("ArrowRight");

    const notice = page.getByText("was changed elsewhere, so your last change was not saved");
    await notice.waitFor();
    expect(await tiles()).toEqual([other]);
    // The next change is one of the layout that is shown now.
    await handle.press("ArrowRight");
    await expect.poll(tiles, patience).toEqual([{ ...other, x: 4 }]);
    await notice.waitFor({ state: "detached" });
  });

  test.each(["Try again", "Done"])("saves a change that failed at first, on %s", async (button) => {
    const chart = await create("charts", { name: `Late ${button}`, metric: "event_count" });
    const tile = { chart_id: chart, x: 0, y: 0, w: 6, h: 5 };
    const id = await create("dashboards", { name: `Saved ${button}`, layout: { tiles: [tile] } });
    const { page } = await app.open(path(`charts?dashboard=${id}&arrange=true`));
    const busy = { code: "unavailable", message: "the service is busy" };
    const save = "**/waggle.v1.DashboardService/UpdateDashboard";
    await page.route(save, (route) => route.fulfill({ status: 503, json: busy }));

    await page.getByRole("button", { name: `Move Late ${button}` }).press("ArrowRight");
    await page.getByRole("alert").getByText("the service is busy").waitFor();
    await page.unroute(save);
    await page.getByRole("button", { name: button, exact: true }).click();

    await expect
      .poll(async () => (await storedDashboard(id))?.layout.tiles, patience)
      .toEqual([{ ...tile, x: 1 }]);
    await page.getByRole("alert").waitFor({ state: "detached" });
  });

  test("keeps the new chart that another person has added meanwhile", async () => {
    const chart = await create("charts", { name: "Ours", metric: "event_count" });
    const tile = { chart_id: chart, x: 0, y: 0, w: 6, h: 5 };
    const id = await create("dashboards", { name: "Of two people", layout: { tiles: [tile] } });
    const { page } = await app.open(path(`charts?dashboard=${id}&arrange=true`));
    const handle = page.getByRole("button", { name: "Move Ours" });
    await handle.waitFor();

    const theirs = await create("charts", { name: "Theirs", metric: "event_count" });
    const added = { chart_id: theirs, x: 6, y: 0, w: 6, h: 5 };
    await app.call("PATCH", `/v1/dashboards/${id}`, { layout: { tiles: [tile, added] } });
    await handle.press("Shift+ArrowDown");
    await page.getByRole("region", { name: "Theirs" }).waitFor();
    await handle.press("Shift+ArrowDown");

    await expect
      .poll(async () => (await storedDashboard(id))?.layout.tiles, patience)
      .toEqual([{ ...tile, h: 6 }, added]);
  });

  test("keeps a chart that the list of charts does not have yet", async () => {
    const chart = await create("charts", { name: "Listed", metric: "event_count" });
    const tile = { chart_id: chart, x: 0, y: 0, w: 6, h: 5 };
    const id = await create("dashboards", { name: "Renamed late", layout: { tiles: [tile] } });
    const { page } = await app.open(path(`charts?dashboard=${id}&arrange=true`));
    const handle = page.getByRole("button", { name: "Move Listed" });
    await handle.waitFor();

    const unlisted = await create("charts", { name: "Not listed", metric: "event_count" });
    const added = { chart_id: unlisted, x: 6, y: 0, w: 6, h: 5 };
    await app.call("PATCH", `/v1/dashboards/${id}`, { layout: { tiles: [tile, added] } });
    // A new name has the dashboards read again, and not the charts.
    await page.getByRole("button", { name: "Renamed late" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Renamed");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Arrange" }).click();
    await handle.press("Shift+ArrowDown");

    await expect
      .poll(async () => (await storedDashboard(id))?.layout.tiles, patience)
      .toEqual([{ ...tile, h: 6 }, added]);
  });

  test("shows its charts on while they cannot be read again, and says so", async () => {
    const calls = await create("charts", { name: "Calls on", metric: "event_count" });
    const tile = { chart_id: calls, x: 0, y: 0, w: 6, h: 5 };
    const id = await create("dashboards", { name: "On a wall", layout: { tiles: [tile] } });
    const { page } = await app.open(path(`charts?dashboard=${id}`));
    const region = page.getByRole("region", { name: "Calls on" });
    const picture = region.getByRole("img");
    await picture.waitFor();

    await page.route("**/QueryChart", (route) => route.abort());
    await page.clock.install();
    await page.clock.fastForward(120_000);
    const notice = region.getByText("Not up to date: The service does not answer.");
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000);
        return notice.isVisible();
      }, patience)
      .toBe(true);

    expect(await picture.isVisible()).toBe(true);
    await page.unroute("**/QueryChart");
    await page.clock.fastForward(120_000);
    await notice.waitFor({ state: "detached" });
  });

  test("keeps what is in its smallest tiles within them", async () => {
    const names = ["time_series", "scalar", "categorical"];
    const measures = ["event_count", "duration", "cost"].map((metric) => ({ metric }));
    const charts = await Promise.all(
      names.map((kind) =>
        create("charts", {
          name: `Small ${kind}`,
          metric: "event_count",
          shown: { kind, measures, ...(kind === "categorical" && { split_by: "event_name" }) },
        }),
      ),
    );
    const gone = await create("charts", { name: "Small fault", metric: "metrics.not_sent_so_far" });
    const tiles = [...charts, gone].map((chart_id, at) => ({
      chart_id,
      x: at * 2,
      y: 0,
      w: 2,
      h: 2,
    }));
    const id = await create("dashboards", { name: "Small", layout: { tiles } });
    const { page } = await app.open(path(`charts?dashboard=${id}`));
    await page
      .getByRole("region", { name: "Small time_series" })
      .getByRole("img")
      .first()
      .waitFor();
    await page.getByText("No event has the field").waitFor();
    const overflows = `
      [...document.querySelectorAll(".dashboard-tile-content")]
        .map((one) => getComputedStyle(one).overflowY)`;

    expect(await page.evaluate(overflows)).toEqual(tiles.map(() => "auto"));
    const small = page.getByRole("region", { name: "Small time_series" });
    await small.getByRole("button", { name: "Show the numbers" }).click();
    await small.getByRole("table").waitFor();
    const first = page.locator(".scalars li").first();
    const list = page.locator(".scalars");
    const [inner, outer] = [await first.boundingBox(), await list.boundingBox()];
    expect(inner?.y).toBeGreaterThanOrEqual(outer?.y ?? Infinity);
  });

  test("says how many names a legend leaves out", async () => {
    const { page, picture } = await app.open("/app");
    type Series = { readonly split?: string | null };
    await page.route("**/QueryChart**", async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { data?: { data?: { series?: Series[] } } };
      const { data } = json.data ?? {};
      const [first] = data?.series ?? [];
      const splits = Array.from({ length: 24 }, (_, at) => `a name of some length ${at}`);
      if (data && first?.split) data.series = splits.map((split) => ({ ...first, split }));
      await route.fulfill({ response, json });
    });
    await page.goto(app.service.url + path("charts?dashboard=overview"));
    const more = page.getByText(/^\+\d+ more$/).first();
    await more.waitFor();
    await picture("charts-legend");

    // The names within the legend, and those that it counts.
    const counted = `(() => {
      const legend = document.querySelector('.chart-legend[data-more="true"]');
      const end = legend?.getBoundingClientRect().bottom + 1;
      const names = [...(legend?.querySelectorAll("[data-color]") ?? [])];
      const seen = names.filter((name) => name.getBoundingClientRect().bottom < end).length;
      return [seen > 0, seen + Number(/\\d+/.exec(legend?.lastElementChild?.textContent))];
    })()`;
    await expect.poll(() => page.evaluate(counted), patience).toEqual([true, 24]);
  });

  test("shows the names of its large numbers whole", async () => {
    const { page } = await app.open(path("charts?dashboard=overview"));
    for (const name of ["Calls of models", "Error rate", "Cost with estimates", "Slow calls"]) {
      const tile = page.getByRole("region", { name, exact: true });
      const list = tile.locator(".scalars");
      await list.getByRole("button").waitFor();

      const cutPx = await list.evaluate(
        (one: { readonly scrollHeight: number; readonly clientHeight: number }) =>
          one.scrollHeight - one.clientHeight,
      );

      expect(cutPx).toBe(0);
    }
  });

  test("has the focus back at its menu once a dialog of that closes", async () => {
    const { page } = await app.open(path("charts?dashboard=overview"));
    const menu = page.getByRole("button", { name: "Overview", exact: true });
    await menu.press("Enter");
    await page.getByRole("menuitem", { name: "New dashboard" }).press("Enter");
    await page.getByRole("dialog").waitFor();

    await page.keyboard.press("Escape");

    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect
      .poll(() => page.evaluate("document.activeElement.innerText"), patience)
      .toBe("Overview");
  });

  test("gets a new chart once, although placing it failed at first", async () => {
    const id = await create("dashboards", { name: "Placed late" });
    const { page } = await app.open(path(`charts/edit?dashboard=${id}`));
    await page.getByLabel("Name of the chart").fill("Once");
    await page.route("**/UpdateDashboard**", (route) => route.abort(), { times: 1 });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The service does not answer.").waitFor();

    await page.getByLabel("Name of the chart").fill("Only once");
    await page.getByRole("button", { name: "Save" }).click();

    await page.getByRole("region", { name: "Only once" }).waitFor();
    const { data } = (await app.call("GET", "/v1/charts")) as {
      data: readonly { id: string; name: string }[];
    };
    const charts = data.filter(({ name }) => /once/i.test(name));
    expect(charts).toMatchObject([{ name: "Only once" }]);
    expect((await storedDashboard(id))?.layout.tiles).toMatchObject([{ chart_id: charts[0]?.id }]);
  });
});

describe("the charts, for a viewer,", () => {
  test("are read without the controls that the role does not permit", async () => {
    const userId = await app.addMember("project_viewer");
    const { id: chart } = await create("charts", { name: "Calls read", metric: "event_count" });
    const tiles = [{ chart_id: chart, x: 0, y: 0, w: 6, h: 5 }];
    const { id } = await create("dashboards", { name: "Read only", layout: { tiles } });
    const look = { userId };
    const { page, findings, picture } = await app.open(
      path(`charts?dashboard=${id}&arrange=true`),
      look,
    );
    const acts = page.getByRole("button", { name: /^(Acts|Add|Arrange|Done|Move|Take|Keep|Save)/ });
    await page.getByRole("region", { name: "Calls read" }).locator("canvas").first().waitFor();
    expect(await acts.count()).toBe(0);
    expect(await page.getByText("New chart").count()).toBe(0);
    await page.getByRole("button", { name: "Read only" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Overview" }).waitFor();
    expect(await page.getByRole("menuitem").count()).toBe(0);
    await page.getByRole("menuitemcheckbox", { name: "Overview" }).click();
    await page.getByRole("region", { name: "Calls of models", exact: true }).waitFor();
    expect(await acts.count()).toBe(0);
    expect(await page.getByRole("button", { name: /^Change/ }).count()).toBe(0);
    expect(await findings()).toEqual([]);

    await page.goto(app.service.url + path(`charts/edit?chart=${chart}`));
    await page.getByText("You may read this. Project Admin or Project Member").waitFor();

    // The question can be changed, to look at other numbers, and not saved.
    const saves = page.getByRole("button", { name: /^(Save|Delete|Keep)/ });
    expect(await saves.count()).toBe(0);
    await picture("chart-edit-viewer");
    expect(await page.getByRole("alert").filter({ hasText: /\S/ }).count()).toBe(0);
    expect(await findings()).toEqual([]);
  });

  test("can be scrolled by keys before the charts have come", async () => {
    const look = { userId: await app.addMember("project_viewer") };
    const { page, findings } = await app.open(path("charts?dashboard=overview"), look);
    await page.getByRole("region", { name: "Calls of models", exact: true }).waitFor();
    await page.route("**/QueryChart**", () => undefined);
    await page.reload();
    await page.getByRole("region", { name: "Calls of models", exact: true }).waitFor();

    expect(await findings()).toEqual([]);
  });

  async function create(what: "charts" | "dashboards", body: unknown): Promise<{ id: string }> {
    return ((await app.call("POST", `/v1/${what}`, body)) as { data: { id: string } }).data;
  }
});

describe("the overview", () => {
  test("has the averages of scores, and is kept with them as a dashboard", async () => {
    const { page, picture } = await app.open(path("charts?dashboard=overview"));
    const scores = page.getByRole("region", { name: "Average of helpfulness", exact: true });
    await scores.locator("canvas").waitFor();

    await page.getByRole("button", { name: "Keep it as a dashboard of your own" }).click();

    await page.getByRole("button", { name: "Arrange" }).waitFor();
    await scores.getByText("avg metrics.helpfulness", { exact: true }).waitFor();
    await scores.locator("canvas").waitFor();
    expect(await page.getByRole("alert").filter({ hasText: /\S/ }).count()).toBe(0);
    await picture("charts-kept");
  });
});

describe("the alerts", () => {
  test.each(looks)("show what they would have done, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path("alerts/edit"), look);
    await page.getByLabel("Name", { exact: true }).fill(`Slow answers ${look.size}`);
    await page.getByLabel("Threshold").fill("1");
    await page.getByText(/It would have been met in [1-9]\d* of the last/).waitFor();
    await page.getByLabel("Address").fill("http://127.0.0.1:1/hook");
    await inspect("alert-edit");

    await page.keyboard.press("Control+Enter");

    await page
      .getByText(/public/)
      .first()
      .waitFor();
    expect(await page.getByLabel("Threshold").inputValue()).toBe("1");
    const fault = page.getByRole("region", { name: "Preview" }).getByRole("alert");
    expect(await fault.innerText()).toMatch(/^Address: /);
    const address = page.getByLabel("Address");
    expect(await address.evaluate("document.activeElement.type")).toBe("url");
    const top = (await address.boundingBox())?.y ?? -1;
    expect(top > 0 && top < 844).toBe(true);
  });
});

describe("an alert that is not saved", () => {
  test("is kept from being left, unless the person says so", async () => {
    const { page, findings } = await app.open(path("alerts/edit"));
    await page.getByLabel("Name", { exact: true }).fill("Half an alert");
    const asked = page.getByRole("dialog", { name: "Leave without saving?" });
    const link = page.getByRole("navigation").getByRole("link", { name: "Traces" });
    await link.click();
    await asked.waitFor();
    expect(await findings()).toEqual([]);

    await asked.getByRole("button", { name: "Stay" }).click();
    await asked.waitFor({ state: "detached" });
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Half an alert");
    const question = page.waitForEvent("dialog");
    // `page.reload` would wait for a page that never comes.
    await page.evaluate("void setTimeout(() => location.reload())");
    const dialog = await question;
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Half an alert");
    await link.click();
    await asked.getByRole("button", { name: "Leave" }).click();

    await page.getByRole("heading", { name: "Traces", exact: true }).waitFor();
  });

  test("is left without a question when nothing was typed", async () => {
    const { page } = await app.open(path("alerts/edit"));
    await page.getByLabel("Name", { exact: true }).waitFor();

    await page.getByRole("navigation").getByRole("link", { name: "Traces" }).click();

    await page.getByRole("heading", { name: "Traces", exact: true }).waitFor();
  });
});

describe("an alert", () => {
  test("keeps what another person changed in it meanwhile", async () => {
    const made = await app.call("POST", "/v1/alerts", anAlert(receiver.url));
    const { id } = (made as { data: { id: string } }).data;
    const { page } = await app.open(path(`alerts/edit?alert=${id}`));
    await page.getByLabel("Name", { exact: true }).fill("Renamed");
    await app.call("PATCH", `/v1/alerts/${id}`, { minimum_sample_size: 7 });

    await page.getByRole("button", { name: "Save alert" }).click();

    await page.getByRole("heading", { name: "Renamed" }).waitFor();
    expect(await app.call("GET", `/v1/alerts/${id}`)).toMatchObject({
      data: { name: "Renamed", minimum_sample_size: 7 },
    });
  });

  test("shows the values of past periods before its first check", async () => {
    const made = await app.call("POST", "/v1/alerts", anAlert(receiver.url));
    const { id } = (made as { data: { id: string } }).data;
    const { page, inspect } = await app.open(path(`alerts/${id}`));
    await page.getByText("No check yet.").waitFor();

    const preview = page.getByRole("region", { name: "Preview" });
    await preview.getByRole("figure", { name: "Values of past periods" }).waitFor();

    await preview.getByText(/^It would have been met in \d+ of the last 72 hours\.$/).waitFor();
    await inspect("alert-unchecked");
    await app.call("PATCH", `/v1/alerts/${id}`, { minimum_sample_size: 7 });
    await page.reload();
    await preview.getByText(/72 hours; those with fewer than 7 events say nothing\.$/).waitFor();
    await app.call("DELETE", `/v1/alerts/${id}`);
  });

  test("sends a test, is muted, paused and resumed", async () => {
    const made = await app.call("POST", "/v1/alerts", anAlert(receiver.url));
    const { id } = (made as { data: { id: string } }).data;
    const { page, inspect } = await app.open(path(`alerts/${id}`));

    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("The target accepted the test notification").waitFor();
    expect(receiver.received.at(-1)?.body).toContain("slow models");
    receiver.answer(500);
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByRole("dialog", { name: "The test did not arrive" }).getByText(/500/).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("tab", { name: "Deliveries" }).click();
    const deliveries = page.getByRole("grid", { name: "Deliveries" });
    await deliveries.getByText("delivered", { exact: true }).waitFor();
    await deliveries.getByText("failed", { exact: true }).waitFor();
    await inspect("alert-deliveries");

    await page.keyboard.press("m");
    await page.getByText("Muted: checks go on, nothing is sent.").waitFor();
    await page.keyboard.press("p");
    await page.getByText("Paused: it is not checked.").waitFor();
    const facts = page.getByRole("region", { name: "Condition" });
    expect(await facts.getByText("Next check").locator("..").locator("time").count()).toBe(0);
    await page.getByRole("button", { name: "More acts" }).click();
    await page.getByRole("menuitem", { name: /Resume/ }).click();
    await page.getByText("Muted: checks go on, nothing is sent.").waitFor();
    await page.keyboard.press("m");
    await page.getByText("Muted: checks go on, nothing is sent.").waitFor({ state: "detached" });

    const read = await app.call("GET", `/v1/alerts/${id}`);
    expect(read).toMatchObject({ data: { is_active: true, is_muted: false } });
  });
});

describe("the condition of an alert", () => {
  test("has its filters as they are, one without a value too", async () => {
    const made = await app.call("POST", "/v1/alerts", {
      ...anAlert(receiver.url),
      filters: [
        { field: "event_type", operator: "is", value: "model" },
        { field: "error", operator: "not exists" },
        { field: "event_name", operator: "is not", value: null },
      ],
    });
    const { id } = (made as { data: { id: string } }).data;
    const { page } = await app.open(path(`alerts/${id}`));

    const facts = page.getByRole("region", { name: "Condition" });
    await facts.getByText("event_type is model").waitFor();

    await facts.getByText("error not exists", { exact: true }).waitFor();
    await facts.getByText("event_name is not null", { exact: true }).waitFor();
  });
});

describe("the checks of an alert", () => {
  test("have a picture for each unit of its measures", async () => {
    const projections = ["duration", "cost"];
    const made = await app.call("POST", "/v1/alerts", anAlert(receiver.url, { projections }));
    const { id } = (made as { data: { id: string } }).data;
    const values = [2_000, 0.5].map((value, at) => ({ projection: projections[at], value }));
    const checks = [12, 13].map((hour) => ({
      outcome: "critical",
      sampleSize: 3,
      values,
      evaluatedAt: `2026-09-21T${hour + 1}:00:05Z`,
      windowStart: `2026-09-21T${hour}:00:00Z`,
      windowEnd: `2026-09-21T${hour + 1}:00:00Z`,
    }));
    const { page, inspect } = await app.open("/app/components");
    await page.route("**/ListAlertEvaluations**", (route) =>
      route.fulfill({ json: { success: true, data: checks } }),
    );

    await page.goto(app.service.url + path(`alerts/${id}`));

    const pictures = page.getByRole("figure");
    await pictures.first().waitFor();
    await inspect("alert-units");
    const shown: string[] = [];
    for (const picture of await pictures.all()) {
      await picture.getByRole("button", { name: "Show the numbers" }).click();
      shown.push(...(await picture.getByRole("row").nth(1).getByRole("cell").allInnerTexts()));
    }
    // Each with the threshold in its unit.
    expect(shown).toEqual(["2.00 s", "1.00 s", "$0.500", "$1,000.00"]);
  });
});

describe("an alert, for a viewer,", () => {
  test("has no control that the role does not permit", async () => {
    const userId = await app.addMember("project_viewer");
    const made = await app.call("POST", "/v1/alerts", anAlert(receiver.url));
    const { id } = (made as { data: { id: string } }).data;
    const { page, findings } = await app.open(path(`alerts/${id}`), { userId });
    await page.getByRole("region", { name: "Condition" }).waitFor();
    const acts = page.getByRole("button", { name: /^(Test|Change|More acts|Save)/ });
    expect(await acts.count()).toBe(0);
    for (const key of ["m", "p"]) await page.keyboard.press(key);
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await page.getByText("Nothing was sent yet").waitFor();
    expect(await page.getByText("Press Test above").count()).toBe(0);

    await page.goto(app.service.url + path(`alerts/edit?alert=${id}`));
    await page
      .getByText("Your role may not change alerts. Project Admin or Project Member may.")
      .waitFor();

    expect(await page.getByLabel("Name", { exact: true }).count()).toBe(0);
    expect(await acts.count()).toBe(0);
    expect(await page.getByRole("alert").filter({ hasText: /\S/ }).count()).toBe(0);
    expect(await findings()).toEqual([]);
    const read = await app.call("GET", `/v1/alerts/${id}`);
    expect(read).toMatchObject({ data: { is_active: true, is_muted: false } });
  });
});

/** Makes an evaluator and returns its id. */
async function createEvaluator(fields: object): Promise<string> {
  const made = await app.call("POST", "/v1/metrics", fields);
  return (made as { metric_id: string }).metric_id;
}

describe("the evaluators", () => {
  test("judge chosen events by a model before they are saved", async () => {
    const { page, inspect } = await app.open(path("evaluators/new"));
    await page.getByLabel("Start from").selectOption("is json");
    await page.locator(".cm-content").getByText("json.loads").waitFor();
    await page.getByText("Judge", { exact: true }).click();
    await page.locator(".cm-content").getByText("Rate how well").waitFor();
    await page.getByLabel("Start from").selectOption("polite");
    await page.locator(".cm-content").getByText("friendly and respectful").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("polite");
    await page.getByLabel("Name", { exact: true }).fill("kind");
    await page.getByLabel("Start from").selectOption("helpfulness");
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("kind");
    await page.getByLabel("Provider").fill("openai");
    await page.getByLabel("Model", { exact: true }).fill("gpt-4o-echo");
    await page.locator(".cm-content").fill("Is {{outputs.content}} kind? [[4]]");
    const trial = page.getByRole("region", { name: "Try it" });
    const boxes = trial.getByRole("checkbox");
    await boxes.first().waitFor();
    for (const index of [1, 2]) await boxes.nth(index).uncheck();

    await page.getByRole("button", { name: "Run on 1" }).click();

    await trial.getByText("4", { exact: true }).waitFor();
    await trial.getByText(/gpt-4o-echo/).waitFor();
    expect(standIn.requests.at(-1)?.text).toContain("Is It left our warehouse this morning. kind?");
    await inspect("evaluator-judge");
  });

  test("judge events twice, and show which scores differ", async () => {
    const id = await createEvaluator({
      name: "steady",
      type: "LLM",
      criteria: "Is {{outputs.content}} steady? [[4]]",
      model_provider: "openai",
      model_name: "gpt-4o-echo",
      scale: 5,
      threshold: { min: 3 },
      filters: { filterArray: [{ field: "event_type", operator: "is", value: "model" }] },
    });
    const { page, inspect } = await app.open(path(`evaluators/${id}?tab=consistency`));
    // Answers of the stand-in depend on the request alone, so one of them is changed here.
    const changeOne = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      const json = (await response.json()) as object;
      await route.fulfill({ response, json: { ...json, result: 2, passed: false } });
    };
    await page.route("**/RunMetric", changeOne, { times: 1 });
    await page.getByLabel("Number of events").selectOption("10");

    await page.getByRole("button", { name: "Make 20 calls" }).click();

    await page.getByText("10 events scored twice.", { exact: true }).waitFor();
    const numbers = page.getByRole("list", { name: "Agreement with itself" });
    await numbers.getByText("9 of 10", { exact: true }).waitFor();
    await numbers.getByText("0.2", { exact: true }).waitFor();
    const differing = page.locator('tr[data-differs="true"]');
    expect(await differing.count()).toBe(1);
    const cells = await differing.getByRole("cell").allInnerTexts();
    expect(cells.slice(1).toSorted()).toEqual(["2", "4"]);
    await inspect("evaluator-consistency");
  });

  test("show what a version changed, and restore the old one", async () => {
    const id = await createEvaluator({
      name: "long",
      type: "PYTHON",
      return_type: "boolean",
      criteria: "def evaluate(event):\n    return True\n",
    });
    const criteria = "def evaluate(event):\n    return False\n";
    await app.call("PUT", `/v1/metrics/${id}`, { criteria });
    const { page, findings } = await app.open(path(`evaluators/${id}?tab=versions`));
    await page.getByRole("heading", { name: "What v2 changed in v1" }).waitFor();
    await page.getByText("return False").waitFor();

    await page.getByRole("list", { name: "Versions" }).getByRole("button", { name: /^v1/ }).click();
    await page.getByRole("button", { name: "Restore as a new version" }).click();

    await page.getByText("The definition of v1 is the current one now").waitFor();
    await page
      .getByRole("list", { name: "Versions" })
      .getByRole("button", { name: /^v3/ })
      .waitFor();
    expect(await findings()).toEqual([]);
    const { data } = (await app.call("GET", `/v1/metrics/${id}/versions`)) as {
      data: { name: string; deployed: boolean; content: { criteria: string } }[];
    };
    expect(data.find(({ deployed }) => deployed)).toMatchObject({
      name: "v3",
      content: { criteria: expect.stringContaining("return True") as string },
    });
  });

  test("keep edited code while another tab is open, and forget it once saved", async () => {
    const id = await createEvaluator({
      name: "drafted",
      type: "PYTHON",
      return_type: "boolean",
      criteria: "def evaluate(event):\n    return True\n",
    });
    const { page } = await app.open(path(`evaluators/${id}`));
    const code = page.locator(".cm-content");
    const look = async (): Promise<void> => {
      await page.getByRole("tab", { name: "Versions" }).click();
      await page.getByRole("list", { name: "Versions" }).waitFor();
      await page.getByRole("tab", { name: "Definition" }).click();
    };
    const type = async (text: string): Promise<void> => {
      await code.press("Control+End");
      await page.keyboard.type(text);
    };
    await type("# half a thought");

    await look();
    await code.getByText("# half a thought").waitFor();
    await page.getByRole("button", { name: "Undo changes" }).click();
    await code.getByText("# half a thought").waitFor({ state: "detached" });
    await look();
    await code.getByText("return True").waitFor();
    expect(await code.getByText("# half a thought").count()).toBe(0);

    await type("# a whole one");
    await look();
    await page.getByRole("button", { name: "Save as a new version" }).click();
    await page.getByText("Saved and deployed a new version").waitFor();
    await page.getByRole("button", { name: "Undo changes" }).waitFor({ state: "hidden" });
    await code.getByText("# a whole one").waitFor();
  });

  test("say why they did not score an event", async () => {
    const id = await createEvaluator({
      name: "of_tools",
      type: "PYTHON",
      return_type: "boolean",
      enabled_in_prod: true,
      criteria: "def evaluate(event):\n    return True\n",
      filters: {
        filterArray: [{ field: "event_type", operator: "is", value: "chain", type: "string" }],
      },
    });
    const { page, findings } = await app.open(path(`evaluators/${id}?tab=why`));

    await page.getByRole("list", { name: "Newest events" }).getByRole("button").first().click();

    const explanation = page.getByRole("region", { name: "Explanation" });
    await explanation
      .getByText(/filter/i)
      .first()
      .waitFor();
    await explanation
      .getByText(/event_type/)
      .first()
      .waitFor();
    expect(await findings()).toEqual([]);
  });

  test("name the switch that is off, and say that no event has an id", async () => {
    const id = await createEvaluator({
      name: "switched_off",
      type: "PYTHON",
      return_type: "boolean",
      enabled_in_prod: false,
      criteria: "def evaluate(event):\n    return True\n",
    });
    const { page } = await app.open(path(`evaluators/${id}?tab=why`));
    await page.getByRole("list", { name: "Newest events" }).getByRole("button").first().click();
    await page.getByText(/“Run on events as they come” is off\. Turn it on for/).waitFor();

    await page.getByLabel("Id of an event").fill("no-such-event");
    await page.getByRole("button", { name: "Explain" }).click();

    const alert = page.getByRole("alert");
    await alert.getByText("No event has this id").waitFor();
    expect((await alert.boundingBox())?.height).toBeLessThan(80);
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("button", { name: /^v1\s*current/ }).waitFor();
  });

  test.each(looks)("are tried before they are saved, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path("evaluators/new"), look);
    await page.getByLabel("Name", { exact: true }).fill(`short_${look.theme}`);
    await page.getByRole("button", { name: /^Run on [1-9]/ }).click();
    await page.getByText("passed", { exact: true }).first().waitFor();
    await inspect("evaluator-new");

    await page.getByRole("button", { name: "Create evaluator" }).click();

    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("heading", { name: "v1, the first version" }).waitFor();
    await page.getByRole("tab", { name: "Backfills" }).click();
    await page.getByRole("heading", { name: "No backfill yet" }).waitFor();
    await page.getByRole("tab", { name: "Why" }).click();
    await page.getByRole("list", { name: "Newest events" }).getByRole("button").first().click();
    await page.getByRole("region", { name: "Explanation" }).waitFor();
    await inspect("evaluator-why");
  });
});

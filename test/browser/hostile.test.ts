// Hostile payloads in a real browser: the page shows them as text. No script runs, no request goes
// to another host, the policy of the page holds, and the page stays usable.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { patience } from "../support/patience.ts";
import type { TestApp } from "./support/app.ts";
import { givenApp, looks } from "./support/given-app.ts";

const attack = "globalThis.attacked = true; document.title = 'attacked'";
const markup = [
  `<script>${attack}</script>`,
  `<img src=x onerror="${attack}">`,
  `<svg onload="${attack}"></svg>`,
  `<iframe srcdoc="<script>parent.attacked = true</script>"></iframe>`,
  `<style>* { display: none }</style>`,
  `<meta http-equiv="refresh" content="0;url=http://attacker.invalid/">`,
  `<a href="javascript:${attack}">press me</a>`,
  `[press me](javascript:${attack}) ![pixel](http://attacker.invalid/pixel.png)`,
  `<link rel="stylesheet" href="http://attacker.invalid/style.css">`,
  "</textarea></script></style><plaintext>",
].join("\n");
const rightToLeft = "שלום \u202Etxt.exe\u202C مرحبا \u2066isolated";
const emoji = "👩‍👩‍👧‍👦🏳️‍🌈 \u{1F9EA} z\u0301\u0323\u0308algo";
const megabyte = "word ".repeat(210_000);

const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${attack}" width="40" height="40">
  <script>${attack}</script><image href="http://attacker.invalid/pixel.png"/>
  <foreignObject><iframe src="javascript:${attack}"/></foreignObject><rect width="40" height="40"/>
</svg>`;
const svgUrl = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
const addresses = [
  `javascript:${attack}`,
  "http://attacker.invalid/pixel.png",
  "//attacker.invalid/pixel.png",
  `data:text/html;base64,${Buffer.from(`<script>${attack}</script>`).toString("base64")}`,
  `data:image/svg+xml,${encodeURIComponent(svg)}`,
];

/** Returns an object in an object, as deep as asked. */
function nested(levels: number): unknown {
  return Array.from({ length: levels }).reduce<unknown>((inner) => ({ [markup]: inner }), "end");
}

/** Levels that the service takes at most are 128; these stand in a bucket of the event. */
const levelsTaken = 120;
const levelsOfText = 200;

const events = [
  {
    event_id: "hostile",
    session_id: "hostile",
    event_type: "session",
    event_name: markup,
    inputs: { [markup]: markup, rightToLeft, emoji },
    outputs: { answer: markup },
    user_properties: { [markup]: rightToLeft },
  },
  {
    event_id: "chat",
    session_id: "hostile",
    event_type: "model",
    event_name: rightToLeft,
    config: { model: markup },
    error: markup,
    inputs: {
      messages: [
        { role: "user", content: markup },
        { role: markup, content: rightToLeft },
        { role: "__proto__", content: emoji },
        { role: "user", content: megabyte },
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: svgUrl } },
            ...addresses.map((url) => ({ type: "image_url", image_url: { url } })),
          ],
        },
      ],
    },
    outputs: {
      role: "assistant",
      content: emoji,
      tool_calls: [
        { id: "1", function: { name: markup, arguments: JSON.stringify({ markup }) } },
        // Text may be deeper than a payload.
        { id: "2", function: { name: "deep", arguments: JSON.stringify(nested(levelsOfText)) } },
      ],
    },
    metadata: { [markup]: markup, cost: 0.01 },
  },
  {
    event_id: "deep",
    session_id: "hostile",
    event_type: "tool",
    event_name: emoji,
    inputs: { deep: nested(levelsTaken), megabyte, list: Array.from({ length: 20_000 }, () => 1) },
    outputs: { photo: svgUrl, ...Object.fromEntries(addresses.entries()) },
  },
];

/** Names that an empty object seems to have. */
const inherited = ["constructor", "__proto__"];

async function prepare(app: TestApp): Promise<void> {
  for (const name of inherited) {
    const metric = { name, type: "HUMAN", return_type: "boolean", criteria: markup };
    await app.call("POST", "/v1/metrics", metric);
  }
  const startMs = Date.now() - 60_000;
  for (const [index, event] of events.entries()) {
    const times = { start_time: startMs + index, end_time: startMs + index + 100 };
    const body = { events: [{ source: markup, ...event, ...times }] };
    await app.call("POST", "/events/batch", body);
  }
}

const app = givenApp({ prepare });

const chosen = (page: Page) => page.getByRole("region", { name: "Chosen event" });
const traces = (): string => `/app/p/${app.service.projectId}/traces`;

// Run in the page, where the element is an image or a sound.
const widthOf = (element: unknown) => (element as { naturalWidth: number }).naturalWidth;

/** Returns where both brackets around a share, "(0 %)", are drawn. Runs in the page. */
function placesOfBrackets(element: unknown): readonly number[] {
  type Text = { readonly data?: string };
  type Range = {
    setStart(text: Text, at: number): void;
    setEnd(text: Text, at: number): void;
    getBoundingClientRect(): { readonly left: number };
  };
  const { document } = globalThis as unknown as { document: { createRange(): Range } };
  const { childNodes } = element as { readonly childNodes: Iterable<Text> };
  const text = [...childNodes].findLast(({ data = "" }) => data.includes(" %)"));
  if (!text?.data) return [];
  return [text.data.lastIndexOf("("), text.data.lastIndexOf(" %)")].map((at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().left;
  });
}

/** Expects that no payload has run or changed the page. */
async function expectUnharmed(page: Page): Promise<void> {
  expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
  expect(await page.title()).toContain("· Waggle");
  const markupMade = "#main :is(script, iframe, style, meta, link, object, [onload], [onerror])";
  expect(await page.locator(markupMade).count()).toBe(0);
  expect(await page.locator('#main a[href*="script:"], #main a[href*="attacker"]').count()).toBe(0);
  expect(await page.locator('#main img:not([src^="data:image/"])').count()).toBe(0);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
}

describe("hostile payloads", () => {
  test.each(looks)("are text in the views of a session, $theme and $size", async (look) => {
    const { page, findings, picture } = await app.open(`${traces()}/hostile?event=chat`, look);
    await chosen(page).getByText("<script>globalThis.attacked").first().waitFor();
    await picture("hostile-tree");
    await expectUnharmed(page);
    expect(await findings()).toEqual([]);

    const more = chosen(page).getByRole("button", { name: "Show more" });
    await more.first().click();
    await chosen(page).getByText("KB more").or(chosen(page).getByText("MB more")).first().waitFor();
    await chosen(page).locator('[data-media="image"]').scrollIntoViewIfNeeded();
    // A picture made of markup is drawn as a picture, in which nothing runs.
    await expect
      .poll(() => chosen(page).getByRole("img").last().evaluate(widthOf), patience)
      .toBe(40);
    await chosen(page).getByText("deep", { exact: true }).scrollIntoViewIfNeeded();
    await expectUnharmed(page);

    for (const key of ["2", "3"]) {
      await page.keyboard.press(key);
      const view = key === "2" ? page.getByRole("application") : page.locator(".conversation");
      await view.waitFor();
      if (key === "3") await view.getByText("<script>globalThis.attacked").first().waitFor();
      await picture(key === "2" ? "hostile-flame" : "hostile-chat");
      await expectUnharmed(page);
    }
  });

  test("are unfolded, read raw and searched, and the page stays usable", async () => {
    const { page, picture } = await app.open(`${traces()}/hostile?event=deep&tab=data`);
    const inputs = chosen(page).getByRole("group", { name: "Inputs" });
    const folded = inputs.getByRole("button", { name: /^Unfold/, expanded: false });
    await inputs.getByText("1 key").first().waitFor();
    for (let level = 0; level < 6; level += 1) await folded.first().click();
    await picture("hostile-data");
    await expectUnharmed(page);
    await chosen(page).getByRole("tab", { name: "Raw" }).click();
    await chosen(page).getByText("The event as the API answers it").waitFor();
    await chosen(page).getByRole("button", { name: "Show more" }).click();
    await chosen(page).getByRole("tab", { name: "Metadata" }).click();
    await chosen(page).getByText("None were logged.").first().waitFor();

    await page.keyboard.press("/");
    await page.keyboard.type("<plaintext>");
    await page.getByRole("status").getByText("3 hits", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("treeitem", { selected: true }).waitFor();
    await expectUnharmed(page);
  });

  test("are names of metrics, of roles and of variables", async () => {
    const { page } = await app.open(`${traces()}/hostile?event=chat&tab=scores`);
    const unscored = chosen(page).locator(".scores li").getByText("not scored");
    await expect.poll(() => unscored.count(), patience).toBe(inherited.length);
    await expectUnharmed(page);

    await page.goto(`${app.service.url}/app/p/${app.service.projectId}/playground`);
    await page.getByLabel("Text of message 1").fill("{{ constructor }}");
    await expect.poll(() => page.getByLabel("constructor").inputValue(), patience).toBe("");
  });

  test("do not turn the numbers that stand beside them", async () => {
    // Older than what the lists show.
    const atMs = Date.now() - 3 * 86_400_000;
    const common = {
      session_id: "turned",
      source: "test",
      event_name: "\u202Egnp.exe",
      inputs: {},
    };
    const times = { start_time: atMs, end_time: atMs + 100 };
    const session = { ...common, ...times, event_id: "turned", event_type: "session" };
    const call = { ...common, ...times, event_id: "turned-0", event_type: "tool" };
    await app.call("POST", "/events/batch", { events: [session, call] });
    const { page } = await app.open(`${traces()}/turned?event=turned-0&view=flame`);
    const told = page.locator(".flame-told").filter({ hasText: "gnp.exe" });
    await told.waitFor();

    const places = await told.evaluate(placesOfBrackets);

    const [opening = Infinity, closing = 0] = places;
    expect(opening).toBeLessThan(closing);
  });

  test("are text in the lists and beside one another", async () => {
    const { page, findings, picture } = await app.open(traces());
    const first = page.getByRole("grid", { name: "Sessions" }).getByRole("row").nth(1);
    await first.getByText("<script>").first().waitFor();
    await page.getByRole("heading", { name: "What went wrong" }).waitFor({ state: "attached" });
    await picture("hostile-sessions");
    await expectUnharmed(page);
    expect(await findings()).toEqual([]);
    await page.getByRole("tab", { name: "Events" }).click();
    const calls = page.getByRole("grid", { name: "Events" });
    await expect.poll(() => calls.getByRole("row").count(), patience).toBe(3);
    await expect.poll(() => calls.locator(".skeleton").count(), patience).toBe(0);
    await picture("hostile-events");
    await expectUnharmed(page);

    await page.goto(`${app.service.url}${traces()}/compare?a=hostile&b=hostile&row=a.chat`);
    await page.getByText("same outputs").waitFor();
    await picture("hostile-compare");
    await expectUnharmed(page);
    expect(await findings()).toEqual([]);
  });

  test("deeper than 128 levels are refused by name, and stored events are not harmed", async () => {
    const body = { events: [{ ...events[2], event_id: "deeper", inputs: { deep: nested(200) } }] };

    const sending = app.call("POST", "/events/batch", body);

    await expect(sending).rejects.toThrow(/answered 400/);
  });
});

// Every address of the app, in light and dark, wide and narrow: nothing that axe-core calls
// serious, nothing that the browser complains of, nothing that scrolls sideways (in settings and in
// a narrow window no table either), no control over another. The addresses come from the app's own
// router, so that a new page without a row here fails.

import { expect, test } from "vitest";
import { anAlert, encryptionKeyFlag } from "../support/alerts.ts";
import type { OpenPage, TestApp } from "./support/app.ts";
import { givenApp } from "./support/given-app.ts";
import { findOverlaps } from "./support/overlaps.ts";
import { findSideways } from "./support/sideways.ts";
import { seedSessions } from "./support/seed.ts";

type Seeded = Readonly<Record<"dataset" | "metric" | "prompt" | "queue" | "alert", string>>;

let seeded: Seeded;

async function prepare(app: TestApp): Promise<void> {
  const { service } = app;
  await seedSessions({ url: service.url, key: service.projectKey, sessions: 12 });
  const call = (path: string, body: unknown) =>
    app.call("POST", path, body) as Promise<Record<string, never>>;
  const events = ["base", "new"].map((run) => ({
    event_id: `of-${run}`,
    session_id: `of-${run}`,
    event_type: "session",
    event_name: "asked",
    source: "evaluation",
    inputs: { question: "Where is my order?" },
    outputs: { answer: `It is on its way, says ${run}.` },
    metadata: { run_id: run, datapoint_id: "of-orders" },
    metrics: { quality: run === "base" ? 0.4 : 0.6 },
    start_time: Date.now() - 60_000,
    end_time: Date.now() - 59_000,
  }));
  const dataset = (await call("/v1/datasets", { name: "Orders" }))["result"]?.["insertedId"];
  const dataset_id = String(dataset);
  await call(`/v1/datasets/${dataset_id}/datapoints`, {
    data: [{ question: "Where is my order?" }],
    mapping: { inputs: ["question"] },
  });
  for (const run of ["base", "new"]) {
    await call("/v1/runs", { run_id: run, name: `Run ${run}`, status: "completed", dataset_id });
  }
  await call("/events/batch", { events });
  const metric = await call("/v1/metrics", {
    name: "short",
    type: "PYTHON",
    return_type: "boolean",
    criteria: "def evaluate(event):\n    return True\n",
  });
  await call("/v1/metrics", {
    name: "helpful",
    type: "HUMAN",
    return_type: "boolean",
    criteria: "Does it help?",
  });
  const queue = await call("/v1/queues", { name: "Answers", event_ids: ["of-base", "of-new"] });
  const prompt = await call("/v1/configurations", {
    name: "greeting",
    provider: "openai",
    env: ["dev"],
    parameters: {
      call_type: "chat",
      model: "gpt-4o-mini",
      template: [{ role: "system", content: "Greet {{ name }}." }],
    },
  });
  await giveSettings(app);
  const alert = await call("/v1/alerts", anAlert("http://127.0.0.1:9/"));
  seeded = {
    dataset: dataset_id,
    metric: String(metric["metric_id"]),
    prompt: String(prompt["insertedId"]),
    queue: String(queue["queue"]?.["id"]),
    alert: String(alert["data"]?.["id"]),
  };
}

/** Gives rows to the tables of settings. */
async function giveSettings(app: TestApp): Promise<void> {
  const { service } = app;
  const project = `/v1/projects/${service.projectId}`;
  await app.call("POST", `${project}/provider_credentials`, {
    name: "our-own-account",
    provider: "openai",
    api_key: "sk-x",
    base_url: "https://models.of-a-long-name.example.com/v1",
  });
  const response = await fetch(`${service.url}${project}/members`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.controlPlaneKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ email: "ada.of-a-long-name@example.com", role: "project_viewer" }),
  });
  if (!response.ok) throw new Error(await response.text());
}

const app = givenApp({
  flags: () => ({ "encryption-keys": encryptionKeyFlag, "webhook-private-hosts": "127.0.0.1:9" }),
  prepare,
});

type Visit = {
  /** After the pattern: what `$…` of it stands for is filled in. */
  readonly search?: string;
  /** Text that the page shows when it has what it needs. */
  readonly shows: string | RegExp;
};

const project = "/app/p/$projectId";
const settingsTabs = ["general", "members", "keys", "providers", "budgets", "masking", "retention"];
const orgTabs = ["general", "members", "keys", "key-policy", "providers", "archivals", "audit"];

/** Every route with the addresses that are looked at. */
const visits: Readonly<Record<string, readonly Visit[]>> = {
  // These three lead on to the traces.
  "/": [{ shows: "support-agent" }],
  "/app": [],
  [project]: [],
  [`${project}/traces`]: [
    { shows: "support-agent" },
    { search: "?tab=events", shows: "search_orders" },
  ],
  [`${project}/traces/$sessionId`]: ["tree", "flame", "chat"].map((view) => ({
    search: `?view=${view}`,
    shows: "asked",
  })),
  [`${project}/traces/compare`]: [{ search: "?a=of-base&b=of-new", shows: "asked" }],
  [`${project}/charts`]: [{ shows: "Calls of models" }],
  [`${project}/charts/edit`]: [{ shows: /events matched/ }],
  [`${project}/alerts`]: [{ shows: "slow models" }],
  [`${project}/alerts/edit`]: [{ shows: "New alert" }],
  [`${project}/alerts/$alertId`]: [{ shows: "slow models" }],
  [`${project}/evaluators`]: [{ shows: "helpful" }],
  [`${project}/evaluators/$metricId`]: [
    ...["edit", "versions", "backfills", "reliability", "why"].map((tab) => ({
      search: `?tab=${tab}`,
      shows: "short",
    })),
  ],
  [`${project}/playground`]: [{ shows: "Playground" }],
  [`${project}/settings`]: settingsTabs.map((tab) => ({
    search: `?tab=${tab}`,
    shows: "Project settings",
  })),
  [`${project}/datasets`]: [{ shows: "Orders" }],
  [`${project}/datasets/$datasetId`]: [
    { shows: "Where is my order?" },
    { search: "?tab=versions", shows: "v1" },
  ],
  [`${project}/experiments`]: [
    { shows: "Run base" },
    { search: "?base=base&new=new", shows: "quality" },
  ],
  [`${project}/experiments/$runId`]: [{ shows: "quality" }],
  [`${project}/prompts`]: [{ shows: "greeting" }],
  [`${project}/prompts/$promptId`]: [{ shows: "Variables" }],
  [`${project}/queues`]: [{ shows: "Answers" }],
  [`${project}/queues/$queueId`]: [{ shows: "Agreement of reviewers" }],
  [`${project}/queues/$queueId/annotate`]: [{ shows: "Does it help?" }],
  "/app/settings": [
    { shows: "Choose a scope" },
    ...orgTabs.map((tab) => ({ search: `?level=org&id=$orgId&tab=${tab}`, shows: "Audit log" })),
  ],
  "/app/components": [{ shows: "Components" }],
  "/reference": [{ shows: "API reference" }],
  "/reference/docs/$name": [{ shows: "Archivals" }],
  "/app/signed-in": [{ shows: "You are signed in. You can close this window." }],
};

function fill(pattern: string): string {
  const values: Readonly<Record<string, string>> = {
    projectId: app.service.projectId,
    orgId: app.service.project.orgId,
    sessionId: "of-base",
    runId: "new",
    name: "web",
    alertId: seeded.alert,
    metricId: seeded.metric,
    datasetId: seeded.dataset,
    promptId: seeded.prompt,
    queueId: seeded.queue,
  };
  return pattern.replaceAll(/\$(\w+)/g, (_, name: string) => values[name] ?? "");
}

/**
 * Opens another address as a link of the app does, without loading the app anew, and returns what
 * is wrong there.
 */
async function show({ page }: OpenPage, href: string, shows: Visit["shows"]) {
  // The page before may show the same text, as the tabs of settings do.
  await page.evaluate(`new Promise((resolve) => {
    const stop = __TSR_ROUTER__.subscribe("onResolved", () => (stop(), resolve()));
    __TSR_ROUTER__.history.push(${JSON.stringify(href)});
  })`);
  try {
    await page.getByRole("main").getByText(shows).first().waitFor({ state: "attached" });
    await page.locator(".loading, .skeleton").first().waitFor({ state: "detached" });
    return [];
  } catch {
    return [`does not show ${shows}, but: ${await page.innerText("body")}`];
  }
}

/** Shows an address and returns everything that is wrong with its page, in light and dark. */
async function look(opened: OpenPage, href: string, shows: Visit["shows"]) {
  const { page, findings } = opened;
  const found = await show(opened, href, shows);
  if (found.length > 0) return found;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await findings()).map((finding) => `${colorScheme}: ${finding}`));
  }
  found.push(...(await findOverlaps(page)));
  const isNarrow = (page.viewportSize()?.width ?? 0) < 700;
  if (isNarrow || href.includes("/settings")) found.push(...(await findSideways(page)));
  const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  return isWide === true ? [...found, "scrolls sideways"] : found;
}

test("every route has a row", async () => {
  const { page } = await app.open("/app/components");

  const routes = await page.evaluate<string[]>("Object.keys(__TSR_ROUTER__.routesByPath)");

  expect(Object.keys(visits).toSorted()).toEqual(routes.toSorted());
});

/** A visit of all addresses takes a hundred looks at a page. */
const visitsMs = 400_000;

/** Every parameter that a page reads, cut or of another form. */
const unreadable: readonly (readonly [string, readonly string[]])[] = [
  ["1", ["range"]],
  ['[{"field":"event_na', ["filters"]],
  ["garbage", ["tab", "view", "kind", "color", "level", "show"]],
  ["{}", ["q", "event", "zoom", "columns", "version", "page", "log", "live"]],
  ["[1]", ["dashboard", "chart", "name", "alert", "state", "env"]],
  ["[1]", ["from", "to", "row", "datapoint", "prompt"]],
  ['{"kind":', ["question", "arrange"]],
];

test("every page opens at an unreadable address", { timeout: visitsMs }, async () => {
  const opened = await app.open("/app/components");
  const rest = unreadable.flatMap(([value, names]) =>
    names.map((name) => `${name}=${encodeURIComponent(value)}`),
  );
  const found: string[] = [];

  for (const [pattern, [visit]] of Object.entries(visits)) {
    if (!visit) continue;
    const { search = "?", shows } = visit;
    const wrong = await show(opened, `${fill(pattern + search)}&${rest.join("&")}`, shows);
    found.push(...wrong.map((one) => `${pattern}: ${one}`));
  }

  expect(found).toEqual([]);
});

test("a page says which parts of its address are unreadable, until it changes", async () => {
  const path = `/app/p/${app.service.projectId}/traces?range=1&filters=garbage`;
  const { page, findings } = await app.open(path);
  const note = page.getByText("The address cannot be read at “range” and “filters”");
  await note.waitFor();
  await page.getByRole("button", { name: "Last 24 hours" }).waitFor();
  expect(await findings()).toEqual([]);

  await page.getByRole("button", { name: "Live", exact: true }).click();

  await note.waitFor({ state: "detached" });
});

test.each(["wide", "narrow"] as const)(
  "every page is accessible, %s",
  async (size) => {
    const opened = await app.open("/app/components", { size });
    const found: string[] = [];

    for (const [pattern, all] of Object.entries(visits)) {
      for (const { search = "", shows } of all) {
        const wrong = await look(opened, fill(pattern + search), shows);
        found.push(...wrong.map((one) => `${pattern}${search}: ${one}`));
      }
    }

    expect(found).toEqual([]);
  },
  visitsMs,
);

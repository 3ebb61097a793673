// Administration in a real browser: scopes, members, keys, providers, budgets, retention, audit.

import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { callRoute } from "../support/call-route.ts";
import { patience } from "../support/patience.ts";
import { givenApp, looks } from "./support/given-app.ts";

const app = givenApp({
  flags: () => ({
    "encryption-keys": `k1:${Buffer.alloc(32, 7).toString("base64")}`,
    "webhook-private-hosts": "127.0.0.1:9",
  }),
});

const path = (tab: string): string => `/app/p/${app.service.projectId}/settings?tab=${tab}`;

type Control = {
  readonly offsetWidth: number;
  readonly style: { width: string };
};

/** Returns whether a select is not narrower than it would be by itself. */
function isAsWideAsItsText(select: Control): boolean {
  const shown = select.offsetWidth;
  select.style.width = "max-content";
  const own = select.offsetWidth;
  select.style.width = "";
  return shown >= own;
}

describe("the settings of a project", () => {
  test.each(looks)("show each part, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path("general"), look);
    const tabs = [
      "General",
      "Members",
      "Keys",
      "Ingestion",
      "Providers",
      "Budgets",
      "Masking",
      "Retention",
    ];
    for (const tab of tabs) {
      await page.getByRole("tab", { name: tab }).click();
      const panel = page.getByRole("tabpanel");
      const shown = panel.getByRole("button").or(panel.getByText("Nothing was sent"));
      await shown.first().waitFor();
      await inspect(`settings-${tab.toLowerCase()}`);
    }
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test.each([
    ["keys", "ListProjectApiKeys"],
    ["members", "ListMembers"],
  ])("say beside the button that no more %s can be read", async (tab, rpc) => {
    await app.addMember("project_viewer");
    const { page } = await app.open("/app/components");
    const json = { code: "unavailable", message: "The database is away." };
    await page.route(`**/${rpc}`, async (route) => {
      if ((route.request().postData() ?? "").includes("cursor")) {
        return route.fulfill({ status: 503, json });
      }
      const answer = (await (await route.fetch()).json()) as object;
      return route.fulfill({ json: { ...answer, nextCursor: "next" } });
    });
    await page.goto(app.service.url + path(tab));

    await page.getByRole("button", { name: `Show more ${tab}` }).click();

    await page.locator("table ~ [role=alert]").getByText("The database is away.").waitFor();
    expect(await page.getByRole("row").count()).toBeGreaterThan(1);
  });

  test("read the deletions again after a failure, and claim nothing meanwhile", async () => {
    const { page } = await app.open("/app/components");
    const json = { code: "unavailable", message: "The database is away." };
    await page.route("**/ListRetentionRuns", (route) => route.fulfill({ status: 503, json }));
    await page.goto(app.service.url + path("retention"));
    await page.getByText("The database is away.").waitFor();
    expect(await page.getByText("None so far.").count()).toBe(0);
    await page.unroute("**/ListRetentionRuns");

    await page.getByRole("button", { name: "Try again" }).click();

    await page.getByText("None so far.").waitFor();
  });

  test("show the value of a new key once, and revoke the key", async () => {
    const { page, inspect } = await app.open(path("keys"));
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("nightly job");
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await page.getByRole("heading", { name: "The key nightly job" }).waitFor();
    const value = await page.getByRole("dialog").getByRole("code").textContent();
    await inspect("settings-key-once");
    const me = await fetch(`${app.service.url}/v1/me`, {
      headers: { authorization: `Bearer ${value ?? ""}` },
    });
    expect(me.status).toBe(200);
    await page.getByRole("button", { name: "I have copied it" }).click();

    await page.getByRole("button", { name: "Revoke nightly job" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();

    await page
      .getByRole("row", { name: /nightly job/ })
      .getByText(/revoked/)
      .waitFor();
  });

  test("add a member with a role, a budget, a provider and an alias", async () => {
    const { page } = await app.open(path("members"));
    await page.getByRole("button", { name: "Add member" }).click();
    await page.getByRole("textbox", { name: "E-mail" }).fill("ada@example.com");
    await page.getByRole("dialog").getByRole("button", { name: "Add member" }).click();
    const role = page.getByRole("combobox", { name: "Role of ada@example.com" });
    await role.selectOption("project_viewer");
    await expect.poll(() => role.isEnabled(), patience).toBe(true);
    await page.reload();
    await role.waitFor();
    expect(await role.inputValue()).toBe("project_viewer");

    await page.getByRole("tab", { name: "Budgets" }).click();
    await page.getByRole("button", { name: "Add budget" }).click();
    await page.getByRole("textbox", { name: "Amount" }).fill("25");
    await page.getByRole("dialog").getByRole("button", { name: "Add budget" }).click();
    await page.getByRole("progressbar", { name: /of \$25/ }).waitFor();

    await page.getByRole("tab", { name: "Providers" }).click();
    await page.getByRole("button", { name: "Add provider" }).click();
    const provider = page.getByRole("dialog");
    await provider.getByRole("textbox", { name: "Name" }).fill("ours");
    await provider.getByLabel("API key").fill("sk-never-shown");
    await provider.getByRole("button", { name: "Add provider" }).click();
    await page.getByRole("row", { name: /ours/ }).getByText("api_key stored").waitFor();
    expect(await page.content()).not.toContain("sk-never-shown");

    await page.getByRole("button", { name: "Add alias" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("best");
    await page.getByRole("textbox", { name: "Model", exact: true }).fill("openai/gpt-5");
    await page.getByRole("button", { name: "Save alias" }).click();
    await page.getByRole("list", { name: "Aliases" }).getByText("openai/gpt-5").waitFor();

    await page.getByRole("button", { name: "Add alias" }).click();
    await page.getByRole("textbox", { name: "Model", exact: true }).fill("openai/gpt-5-mini");
    await page.getByRole("textbox", { name: "Name" }).fill("best");
    expect(await page.getByRole("button", { name: "Save alias" }).isDisabled()).toBe(true);
    await page.getByText("There is an alias of this name: change that one.").waitFor();
  });

  test("set the price of a model, change it, and say what is wrong with one", async () => {
    const { page } = await app.open(path("providers"));
    await page.getByRole("button", { name: "Add price" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Model").fill("ft:gpt-4o:Acme*");
    await form.getByLabel("Input", { exact: true }).fill("1,5");
    await form.getByLabel("Output", { exact: true }).fill("15");
    await form.getByRole("button", { name: "Save price" }).click();
    await form.getByText("must be a number from 0 to 1000000").waitFor();
    await form.getByLabel("Input", { exact: true }).fill("3.75");
    await form.getByRole("button", { name: "Save price" }).click();
    const row = page.getByRole("row", { name: /ft:gpt-4o:acme\*/ });
    await row.getByText("$3.75").waitFor();
    await row.getByText("$15.00").waitFor();

    await page.getByRole("button", { name: "Change price of ft:gpt-4o:acme*" }).click();
    await form.getByLabel("Input", { exact: true }).fill("0.00005");
    await form.getByLabel("Output", { exact: true }).fill("");
    await form.getByRole("button", { name: "Save price" }).click();
    await row.getByText("$0.00005").waitFor();
    expect(await row.getByText("$15.00").count()).toBe(0);

    await page.getByRole("button", { name: "Add price" }).click();
    await form.getByLabel("Model").fill("FT:gpt-4o:acme*");
    await form.getByText("There is a price of this name: change that one.").waitFor();
    await form.getByRole("button", { name: "Cancel" }).click();

    await page.getByRole("button", { name: "Delete price of ft:gpt-4o:acme*" }).click();
    await form.getByRole("button", { name: "Delete price" }).click();
    await expect.poll(() => row.count(), patience).toBe(0);
  });

  test("tell a webhook of a budget, and see what was sent", async () => {
    const { page } = await app.open(path("budgets"));
    await page.getByRole("button", { name: "Add budget" }).click();
    const form = page.getByRole("dialog", { name: "Add a budget" });
    await form.getByRole("textbox", { name: "Amount" }).fill("5");
    await form.getByRole("combobox", { name: "For each" }).selectOption("DAY");
    await form.getByRole("checkbox", { name: "Tell of 80 % and 100 %" }).check();
    await form.getByRole("textbox", { name: "Address" }).fill("http://127.0.0.1:9/hook");
    await form.getByRole("button", { name: "Add budget" }).click();
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByText("http://127.0.0.1:9/…").waitFor();

    await page.getByRole("button", { name: "Notifications: Each day" }).click();
    const log = page.getByRole("dialog", { name: "Notifications: Each day" });
    await log.getByText("Nothing was sent yet").waitFor();
    await log.getByRole("button", { name: "Test", exact: true }).click();
    const failed = page.getByRole("dialog", { name: "The test did not arrive" });
    await failed.getByRole("button", { name: "Close", exact: true }).last().click();
    await log
      .getByRole("row", { name: /failed/ })
      .getByText("webhook")
      .waitFor();
  });

  test("show a fault once, beside the field and in its words", async () => {
    const { page } = await app.open(path("budgets"));
    const form = page.getByRole("dialog");
    const refused = async (field: Locator, fault: string): Promise<void> => {
      await form.getByText(fault).waitFor();
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await form.getByRole("alert").count()).toBe(0);
      await form.getByRole("button", { name: "Cancel" }).click();
    };
    await page.getByRole("button", { name: "Add budget" }).click();
    await form.getByLabel("Amount").fill("5");
    await form.getByRole("checkbox").check();
    await form.getByRole("button", { name: "Add budget" }).click();
    await refused(form.getByLabel("Address"), "must be an http or https URL");

    await page.getByRole("tab", { name: "Members" }).click();
    await page.getByRole("button", { name: "Add member" }).click();
    await form.getByLabel("E-mail").fill("nobody");
    await form.getByRole("button", { name: "Add member" }).click();
    await refused(form.getByLabel("E-mail"), "must be a valid email address");

    await page.getByRole("tab", { name: "Providers" }).click();
    await page.getByRole("button", { name: "Add provider" }).click();
    await form.getByLabel("API key").fill("k");
    await form.getByLabel("Address").fill("nowhere");
    await form.getByRole("button", { name: "Add provider" }).click();
    await refused(form.getByLabel("Address"), "must be an http or https URL");

    await page.getByRole("button", { name: "Add alias" }).click();
    await form.getByLabel("Name").fill("two words");
    await form.getByLabel("Model", { exact: true }).fill("somewhere");
    await form.getByRole("button", { name: "Save alias" }).click();
    await form.getByText("must be 1 to 64 letters").waitFor();
    await form.getByLabel("Name").fill("words");
    await form.getByRole("button", { name: "Save alias" }).click();
    await form.getByText("“somewhere” must be provider/model").waitFor();
    expect(await form.getByRole("alert").count()).toBe(1);
    await form.getByRole("button", { name: "Cancel" }).click();
  });

  test("leave the focus where a call was started, while it runs and after its fault", async () => {
    const { page } = await app.open(path("members"));
    const hold = Promise.withResolvers<void>();
    await page.route("**/AddMember", async (route) => {
      await hold.promise;
      return route.continue();
    });
    await page.getByRole("button", { name: "Add member" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("E-mail").fill("nobody");
    await form.getByRole("button", { name: "Add member" }).focus();
    await page.keyboard.press("Enter");
    const busy = form.getByRole("button", { name: "Adding…" });
    await busy.waitFor();
    expect(await busy.isDisabled()).toBe(true);
    // Chromium takes the focus from a disabled element in its next frame.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");

    expect(await page.locator(":focus").allInnerTexts()).toEqual(["Adding…"]);
    await page.keyboard.press("Enter");
    hold.resolve();
    await form.getByText("must be a valid email address").waitFor();
    expect(await page.locator(":focus").allInnerTexts()).toEqual(["Add member"]);
  });

  test("name a budget by its key, and tell two of them apart without its name", async () => {
    const keys = ["checkout", "search"].map((name, index) => ({
      keyId: `01a22f82-f17e-7aa2-819e-a01e6382b33${index}`,
      name,
      status: "active",
    }));
    const data = [...keys, { keyId: "01a22f82-f1f8-79e3-9ade-682bde07a2bd" }].map(
      ({ keyId }, index) => ({ id: `b${index}`, keyId, period: "DAY", amount: 5, isActive: true }),
    );
    const { page } = await app.open("/app/components");
    await page.route("**/ListBudgets**", (route) => route.fulfill({ json: { data } }));
    await page.route("**/ListProjectApiKeys**", (route) => route.fulfill({ json: { data: keys } }));
    await page.goto(app.service.url + path("budgets"));

    const budgets = page.getByRole("list", { name: "Budgets" });
    await budgets.getByText("Each day, key “checkout”", { exact: true }).waitFor();
    await budgets.getByText("Each day, key “search”", { exact: true }).waitFor();
    await budgets.getByText("Each day, key 01a22f82…a2bd", { exact: true }).waitFor();
  });

  test("have each role whole, and Remove in view of a window of half a screen", async () => {
    await app.addMember("project_member");
    const { page } = await app.open(path("members"));
    await page.setViewportSize({ width: 1024, height: 768 });
    const { orgId } = app.service.project;
    for (const address of [path("members"), `/app/settings?level=org&id=${orgId}&tab=members`]) {
      await page.route("**/ListMembers**", async (route) => {
        const answer = (await (await route.fetch()).json()) as { data?: object[] };
        const email = "ada.of-a-long-name@example.com";
        const role = address.includes("level=org") ? "org_member" : "project_member";
        const createdBy = "key first control plane key (01a22f82-f1f8-79e3-9ade-682bde07a2bd)";
        const data = [{ userId: "ada", email, role, createdBy }, ...(answer.data ?? [])];
        return route.fulfill({ json: { ...answer, data } });
      });
      await page.goto(app.service.url + address);
      const role = page.getByRole("combobox", { name: /^Role of .*of-a-long-name/ });
      const remove = page.getByRole("button", { name: /^Remove .*of-a-long-name/ });
      const row = page.getByRole("row", { name: /of-a-long-name/ });
      await row.getByText("key first control plane key", { exact: true }).waitFor();

      expect(await role.evaluate(isAsWideAsItsText)).toBe(true);
      const box = await remove.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(1024);
      await page.unroute("**/ListMembers**");
    }
  });

  test("say beside the member why a role was not changed", async () => {
    await app.addMember("project_viewer");
    const { page } = await app.open(path("members"));
    const json = { code: "unavailable", message: "The database is away." };
    await page.route("**/UpdateMember", (route) => route.fulfill({ status: 503, json }));
    const row = page.getByRole("row").last();
    await row.getByRole("combobox").selectOption("project_admin");

    await row.getByRole("alert").getByText("The database is away.").waitFor();
    expect(await page.getByRole("alert").filter({ hasText: /\S/ }).count()).toBe(1);
    expect(await row.getByRole("combobox").inputValue()).toBe("project_viewer");
  });

  test("claim nothing of aliases that cannot be read", async () => {
    const { page } = await app.open("/app/components");
    const json = { code: "unavailable", message: "The database is away." };
    await page.route("**/ListModelAliases**", (route) => route.fulfill({ status: 503, json }));
    await page.goto(app.service.url + path("providers"));

    await page.getByText("The database is away.").waitFor();
    expect(await page.getByText(/^An alias is a name/).count()).toBe(0);
    await page.unroute("**/ListModelAliases**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page
      .getByText(/^An alias is a name/)
      .or(page.getByRole("list"))
      .first()
      .waitFor();
  });

  test("count what was sent and say why some was refused", async () => {
    const { url, ingestionKey } = app.service;
    const caller = { url, headers: { authorization: `Bearer ${ingestionKey}` } };
    const event = { event_type: "tool", event_name: "t", source: "test", inputs: {} };
    const wrong = { ...event, event_type: "a step" };
    await callRoute(caller, "POST /events/batch", { events: [event, wrong, event] });
    await callRoute(caller, "POST /events", { event: wrong });
    const { page, inspect } = await app.open(path("ingestion"));
    const refused = page.getByRole("table", { name: "Refused" });
    const rowOf = (outcome: string) => refused.getByRole("row").filter({ hasText: outcome });
    await rowOf("INVALID_ARGUMENT").filter({ hasText: "event_type" }).waitFor();
    await rowOf("Some events rejected").filter({ hasText: "events[1]" }).waitFor();
    const accepted = page.getByRole("table", { name: "Accepted" });
    await accepted.getByRole("row").filter({ hasText: "CreateEventBatch" }).waitFor();
    await inspect("settings-ingestion");

    await page.getByRole("radio", { name: "7 days" }).check({ force: true });

    await page.waitForURL(/hours=/);
    await page.getByRole("button", { name: "Show the numbers" }).click();
    const numbers = page.getByRole("group", { name: "Numbers of Events by hour" });
    expect(await numbers.getByRole("row").count()).toBe(1 + 168);
  });

  test("mask what comes from now on, after a try, and say which rule is wrong", async () => {
    const { page } = await app.open(path("masking"));
    await page.getByRole("checkbox", { name: "E-mail addresses" }).check();
    await page.getByLabel("Fields whose whole value is replaced").fill("password\n");
    await page.getByLabel("Patterns").fill("EMP-[0-9]+\n(");
    await page.getByRole("button", { name: "Set masking" }).click();
    await page.getByText('must be a regular expression of RE2, not "("').waitFor();
    await page.getByLabel("Patterns").fill("EMP-[0-9]+");
    await page.getByLabel("Sample").fill('{"password": 1, "to": "ada@example.com", "by": "EMP-7"}');
    await page.getByRole("button", { name: "Mask sample" }).click();
    await page.getByText("3 places replaced").waitFor();
    await page.getByText('"to": "[email]"').waitFor();

    await page.getByRole("button", { name: "Set masking" }).click();
    await page.getByText("Events are masked from now on.").waitFor();
    await page.reload();

    await page.getByRole("button", { name: "Mask nothing" }).waitFor();
    expect(await page.getByLabel("Patterns").inputValue()).toBe("EMP-[0-9]+");
    expect(await page.getByRole("checkbox", { name: "E-mail addresses" }).isChecked()).toBe(true);
    expect(await page.getByRole("button", { name: "Set masking" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Mask nothing" }).click();
    await expect.poll(() => page.getByLabel("Patterns").inputValue(), patience).toBe("");
  });

  test("keep masking rules that another tab has set meanwhile, and set replacements", async () => {
    const { url, projectId, controlPlaneKey: key } = app.service;
    const other = { url, headers: { authorization: `Bearer ${key}` } };
    const call = (method: string, body?: object) =>
      callRoute(other, `${method} /v1/projects/${projectId}/masking`, body);
    const rulesOf = async () => ((await call("GET")).json["data"] as { rules: unknown }).rules;
    const put = (...rules: readonly object[]) => call("PUT", { rules });
    await put({ key: "token" }, { key: "old", replacement: "" });
    const { page, inspect } = await app.open(path("masking"));
    await page.getByRole("checkbox", { name: "IP addresses" }).check();
    await page.getByText("What stands in place").click();
    expect(await page.getByRole("textbox", { name: "old" }).inputValue()).toBe("");
    expect(await page.getByRole("textbox", { name: "token" }).getAttribute("placeholder")).toBe(
      "[masked]",
    );
    await page.getByRole("textbox", { name: "IP addresses" }).fill("[address]");
    await page.getByRole("textbox", { name: "token" }).fill("***");
    await inspect("settings-masking-replacements");
    await put({ key: "token" }, { detector: "iban" });

    await page.getByRole("button", { name: "Set masking" }).click();

    await page.getByText("The masking was changed meanwhile.").waitFor();
    expect(await rulesOf()).toEqual([{ key: "token" }, { detector: "iban" }]);
    await page.getByRole("button", { name: "Set masking" }).click();
    await page.getByText("Events are masked from now on.").waitFor();
    expect(await rulesOf()).toEqual([
      { key: "token", replacement: "***" },
      { detector: "iban" },
      { detector: "ip_address", replacement: "[address]" },
    ]);
    await page.getByText("was changed meanwhile").waitFor({ state: "detached" });
    await put({ key: "token" });
    await page.getByRole("button", { name: "Mask nothing" }).click();
    await page.getByText("The masking was changed meanwhile, and is shown anew.").waitFor();
    expect(await rulesOf()).toEqual([{ key: "token" }]);
    await page.getByText("What stands in place").click();
    await page.getByRole("textbox", { name: "token" }).waitFor();
    await page.getByRole("button", { name: "Mask nothing" }).click();
    await expect.poll(rulesOf, patience).toEqual([]);
  });

  test("ask nothing about a retention that cannot be, and forget an earlier fault", async () => {
    const { page } = await app.open(path("retention"));
    const days = page.getByLabel("Days");
    const set = page.getByRole("button", { name: "Set retention" });
    for (const impossible of ["0", "1.5", "3651", "many"]) {
      await days.fill(impossible);
      await page.getByText("Must be a whole number, 1 to 3,650.").waitFor();
      expect(await set.isDisabled()).toBe(true);
    }

    const json = { code: "unavailable", message: "The database is away." };
    await page.route("**/PutRetention", (route) => route.fulfill({ status: 503, json }));
    await days.fill("3000");
    await set.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Set retention" }).click();
    await dialog.getByText("The database is away.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await days.fill("3001");
    await set.click();
    await dialog.getByText("No session is older now.").waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(0);
  });

  test("show that a key was revoked in another tab", async () => {
    const first = await app.open(path("keys"));
    await first.page.getByRole("button", { name: "Create key" }).click();
    await first.page.getByRole("textbox", { name: "Name" }).fill("shared job");
    await first.page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await first.page.getByRole("button", { name: "I have copied it" }).click();
    const row = first.page.getByRole("row", { name: /shared job/ });
    await row.getByText("active").waitFor();
    const other = await app.open(path("keys"));

    await other.page.getByRole("button", { name: "Revoke shared job" }).click();
    await other.page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();

    await row.getByText(/revoked/).waitFor();
  });

  test("say what is wrong with an amount beside its field", async () => {
    const { page, inspect } = await app.open(path("budgets"));
    await page.getByRole("button", { name: "Add budget" }).click();
    const form = page.getByRole("dialog", { name: "Add a budget" });
    const amount = form.getByRole("textbox", { name: "Amount" });
    expect(await amount.getAttribute("aria-invalid")).toBe(null);

    await amount.fill("10,50");

    await form.getByText("Must be a number above 0 with a decimal point, such as 10.50.").waitFor();
    expect(await amount.getAttribute("aria-invalid")).toBe("true");
    await inspect("settings-budget-amount");
    await amount.fill("10.50");
    await form.getByText("Must be a number").waitFor({ state: "detached" });
    expect(await form.getByRole("button", { name: "Add budget" }).isEnabled()).toBe(true);
  });

  test("keep what was typed for a budget while the list cannot be read", async () => {
    const { page } = await app.open(path("budgets"));
    await page.getByRole("button", { name: "Add budget" }).click();
    const amount = page.getByRole("textbox", { name: "Amount" });
    await amount.fill("1234");

    await page.route("**/ListBudgets", (route) =>
      route.fulfill({ status: 400, json: { code: "invalid_argument", message: "no list now" } }),
    );

    await page.getByText("no list now").waitFor();
    expect(await amount.inputValue()).toBe("1234");
  });

  test("set a retention, and keep everything again", async () => {
    const { page } = await app.open(path("retention"));
    await page.getByRole("textbox", { name: "Days" }).fill("3650");
    await page.getByRole("button", { name: "Set retention" }).click();
    await page.getByRole("dialog").getByText("No session is older now.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    const start_time = Date.now() - 100 * 86_400_000;
    await app.call("POST", "/events", { event: { event_type: "tool", inputs: {}, start_time } });
    await page.getByRole("textbox", { name: "Days" }).fill("90");
    await page.getByRole("button", { name: "Set retention" }).click();
    await page.getByRole("dialog").getByText("Now: 1 session, 2 events.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Set retention" }).click();
    await page.getByText("keeps its sessions for 90 days").waitFor();

    await page.getByRole("button", { name: "Keep everything" }).click();

    await page.getByText("keeps its sessions for ever").waitFor();
  });
});

describe("a person", () => {
  const roles = [
    {
      role: "project_viewer",
      tabs: ["General", "Members", "Ingestion", "Budgets", "Masking", "Retention"],
    },
    {
      role: "project_member",
      tabs: ["General", "Members", "Keys", "Ingestion", "Budgets", "Masking", "Retention"],
    },
  ];

  test.each(roles)("with the role $role reads what the role permits", async ({ role, tabs }) => {
    const userId = await app.addMember(role);
    const { page, inspect } = await app.open(path("general"), { userId });
    const name = page.getByRole("textbox", { name: "Name", exact: true });
    await name.waitFor();
    await page.getByText("You may read this. Project Admin may change it.").waitFor();
    expect(await name.getAttribute("readonly")).not.toBe(null);
    expect(await page.getByRole("tab").allTextContents()).toEqual(tabs);
    for (const tab of tabs) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      // The counts have no form.
      const read = tab === "Ingestion" ? "Calls that write events" : "You may read this.";
      await page.getByText(read).waitFor();
      const writes = /^(Archive|Save|Add|Remove|Create|Revoke|Set|Keep|Mask nothing)/;
      expect(await page.getByRole("button", { name: writes }).count()).toBe(0);
      await inspect(`settings-${role}-${tab.toLowerCase()}`);
    }
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test.each(["Keys", "Providers"])(
    "whose role does not open %s reads once who may, at a copied address",
    async (tab) => {
      const userId = await app.addMember("project_viewer");

      const { page, findings } = await app.open(path(tab.toLowerCase()), { userId });

      const panel = page.getByRole("tabpanel");
      await panel.getByRole("heading", { name: `${tab}: not open to you` }).waitFor();
      await panel.getByText(/^Project Admin.* may read this\.$/).waitFor();
      expect(await panel.getByText(/You may read this|Not found/).count()).toBe(0);
      expect(await findings()).toEqual([]);
    },
  );

  test.each([
    { role: "project_viewer", shown: 0 },
    { role: "project_member", shown: 1 },
  ])("with the role $role is offered to create $shown thing a list", async ({ role, shown }) => {
    const userId = await app.addMember(role);
    const { page } = await app.open(path("general"), { userId });
    for (const [list, act] of [
      ["Evaluators", "New evaluator"],
      ["Datasets", "Create dataset"],
      ["Prompts", "Create prompt"],
      ["Experiments", "Start run"],
      ["Queues", "Create queue"],
      ["Alerts", "New alert"],
    ] as const) {
      await page.getByRole("link", { name: list, exact: true }).click();
      await page.getByRole("heading", { name: list, level: 1 }).waitFor();
      await page.getByRole("heading", { name: /^No /, level: 2 }).waitFor();
      const found = page.locator("header").getByText(act, { exact: true });
      expect(await found.count(), list).toBe(shown);
    }
  });

  test("with the role of an administrator of the project has every act", async () => {
    const userId = await app.addMember("project_admin");
    const { page } = await app.open(path("general"), { userId });

    for (const [tab, act] of [
      ["General", "Archive project"],
      ["Members", "Add member"],
      ["Keys", "Create key"],
      ["Providers", "Add provider"],
      ["Budgets", "Add budget"],
      ["Retention", "Set retention"],
    ] as const) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      await page.getByRole("button", { name: act, exact: true }).waitFor();
      expect(await page.getByText("You may read this.").count()).toBe(0);
    }
  });
});

describe("the settings of all scopes", () => {
  test("offer no keys of a workspace to a member, who may read those of projects", async () => {
    const userId = await app.addMember("workspace_member", "workspace");
    const { workspaceId } = app.service.project;

    const address = `/app/settings?level=workspace&id=${workspaceId}`;
    const { page } = await app.open(address, { userId });

    await page.getByText("You may read this. Workspace Admin may change it.").waitFor();
    expect(await page.getByRole("tab").allTextContents()).toEqual(["General", "Members"]);
  });

  test("say in the words of the dialog why a workspace is not archived", async () => {
    const { workspaceId } = app.service.project;
    const { page } = await app.open(`/app/settings?level=workspace&id=${workspaceId}`);
    const name = await page.getByRole("textbox", { name: "Name" }).inputValue();
    await page.getByRole("button", { name: "Archive workspace" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill(name);
    await dialog.getByRole("button", { name: "Archive workspace" }).click();

    await dialog.getByText("The workspace has projects: choose to archive them too.").waitFor();
    expect(await dialog.getByText("dangerously").count()).toBe(0);
  });

  // The next test narrows the key that adds members.
  test("keep the audit log of a moving range as it is while one reads it", async () => {
    const { orgId } = app.service.project;
    await app.addMember("project_viewer");
    const log = encodeURIComponent(JSON.stringify({ range: { last: 1_440 } }));
    const { page } = await app.open("/app/components");
    await page.clock.install();
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().includes("/ListAuditLog")) asked += 1;
    });
    const path = `/app/settings?level=org&id=${orgId}&tab=audit&log=${log}`;
    await page.goto(app.service.url + path);
    await page.getByRole("grid").getByText("member.create").first().waitFor();

    await page.clock.fastForward(10 * 60_000);

    await page.getByRole("grid").getByText("10m ago").first().waitFor();
    expect(asked).toBe(1);
  });

  test("narrow what keys of an organization may do", async () => {
    const { orgId } = app.service.project;
    const { page, picture } = await app.open(`/app/settings?level=org&id=${orgId}&tab=key-policy`);
    await page.getByRole("button", { name: "Add permission" }).click();
    await page.getByPlaceholder("Find or type a permission…").fill("project.event.get");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Remove *" }).click();
    await page.getByRole("button", { name: "Save policy" }).click();
    await page.getByText("The policy holds from now on.").waitFor();
    await picture("settings-key-policy");

    await page.reload();

    await page.getByRole("button", { name: "Remove project.event.get" }).waitFor();
    expect(await page.getByRole("button", { name: "Remove *" }).count()).toBe(0);
  });

  test("offer no changes of data planes, which the service assigns", async () => {
    const { orgId, dataplaneId } = app.service.project;
    const { page } = await app.open(`/app/settings?level=org&id=${orgId}`);
    await page.getByRole("button", { name: "Archive organization" }).waitFor();
    expect(await page.getByRole("button", { name: "New data plane" }).count()).toBe(0);

    await page.goto(`${app.service.url}/app/settings?level=dataplane&id=${dataplaneId}`);

    await page.getByText("Data planes are assigned automatically here").waitFor();
    await page.getByRole("button", { name: "New workspace" }).waitFor();
    expect(await page.getByRole("button", { name: "Archive data plane" }).count()).toBe(0);
    expect(await page.getByRole("textbox", { name: "Name" }).count()).toBe(0);
  });

  test("rename and archive a project in the tree, and log both", async () => {
    const { page, inspect } = await app.open("/app/settings");
    await page.getByRole("button", { name: "other", exact: true }).last().click();
    await page.getByRole("textbox", { name: "Name" }).fill("renamed");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByRole("button", { name: "renamed", exact: true }).waitFor();
    await inspect("settings-tree");
    await page.getByRole("button", { name: "Archive project" }).click();
    await page.getByRole("textbox", { name: /to confirm/ }).fill("renamed");
    await page.getByRole("dialog").getByRole("button", { name: "Archive project" }).click();
    await page.getByRole("heading", { name: "This project is archived" }).waitFor();

    const orgId = app.service.otherProject.orgId;
    const log = await app.open(`/app/settings?level=org&id=${orgId}&tab=audit`);
    const grid = log.page.getByRole("grid");
    await grid.getByText("project.update").first().waitFor();
    await log.page.getByRole("textbox", { name: "What" }).fill("project.arch*");
    await log.page.getByRole("textbox", { name: "Who" }).fill("ADMIN");
    await log.page.getByRole("textbox", { name: "Changed resource" }).fill("project");
    await log.page.getByRole("button", { name: "Any time" }).click();
    await log.page.getByText("1 entry").waitFor();
    await log.inspect("settings-audit-filters");
    // The filters are in the address.
    await log.page.reload();
    await log.page.getByText("1 entry").waitFor();
    await grid.getByText("project.archive").first().click();

    await log.page.getByRole("dialog").getByText("Who").first().waitFor();
    await log.inspect("settings-audit");
  });
});

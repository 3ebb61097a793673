// Datasets in a real browser: made, filled by hand, from a file and from events, read and exported.

import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { TestApp } from "./support/app.ts";
import { givenApp, looks } from "./support/given-app.ts";
import { seedSessions } from "./support/seed.ts";

let datasetId: string;

async function prepare(app: TestApp): Promise<void> {
  await seedSessions({ url: app.service.url, key: app.service.projectKey, sessions: 8 });
  const made = (await app.call("POST", "/v1/datasets", {
    name: "Orders",
    description: "Questions of buyers",
  })) as { result: { insertedId: string } };
  datasetId = made.result.insertedId;
  await app.call("POST", `/v1/datasets/${datasetId}/datapoints`, {
    data: [
      { question: "Where is my order 4711?", answer: "On its way." },
      { question: "<script>alert(1)</script> שלום 😀", answer: "x".repeat(2_000) },
    ],
    mapping: { inputs: ["question"], ground_truth: ["answer"] },
  });
}

const app = givenApp({ prepare });

const path = (rest = ""): string => `/app/p/${app.service.projectId}/datasets${rest}`;

describe("datasets", () => {
  test.each(looks)("are listed and read, $theme and $size", async (look) => {
    const { page, inspect } = await app.open(path(), look);
    await page.getByRole("row").filter({ hasText: "Orders" }).waitFor();
    await inspect("datasets");

    await page.getByRole("row").filter({ hasText: "Orders" }).click();
    await page.getByRole("row").filter({ hasText: "4711" }).waitFor();
    await inspect("dataset");
    await page.getByRole("row").filter({ hasText: "4711" }).click();
    await page.getByRole("button", { name: "Save datapoint" }).waitFor();
    await page.locator(".drawer .cm-content, .drawer [role=textbox]").first().waitFor();
    await inspect("datapoint");

    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test("are made once by a double click", async () => {
    const { page } = await app.open(path());
    await page.getByRole("button", { name: "Create dataset" }).first().click();
    await page.getByLabel("Name").fill("Only once");

    await page.getByRole("dialog").getByRole("button", { name: "Create dataset" }).dblclick();

    await page.getByRole("heading", { name: "No datapoints yet" }).waitFor();
    const { datasets } = (await app.call("GET", "/v1/datasets?name=Only+once")) as {
      datasets: unknown[];
    };
    expect(datasets).toHaveLength(1);
  });

  test("keep a changed datapoint while its drawer is closed, until it is saved", async () => {
    const { page } = await app.open(path(`/${datasetId}`));
    const row = page.getByRole("row").filter({ hasText: "4711" });
    const metadata = page.getByRole("textbox", { name: "Metadata" });
    const discard = page.getByRole("button", { name: "Discard changes" });
    await row.click();
    await metadata.fill('{"kept": 1}');
    await page.keyboard.press("Escape");
    await metadata.waitFor({ state: "detached" });

    await row.click();

    await metadata.getByText('{"kept": 1}').waitFor();
    await discard.click();
    await metadata.getByText('{"kept": 1}').waitFor({ state: "detached" });
    await metadata.fill('{"kept": 2}');
    await page.getByRole("button", { name: "Save datapoint" }).click();
    await page.getByText("The datapoint was saved.").waitFor();
    await discard.waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await row.click();
    await metadata.getByText('"kept": 2').waitFor();
    expect(await discard.count()).toBe(0);
  });

  test("keep the part of a datapoint that another person changed meanwhile", async () => {
    const made = (await app.call("POST", "/v1/datapoints", {
      inputs: { question: "Mine?" },
      linked_datasets: [datasetId],
    })) as { result: { insertedId: string } };
    const id = made.result.insertedId;
    const { page } = await app.open(path(`/${datasetId}?datapoint=${id}`));
    const metadata = page.getByRole("textbox", { name: "Metadata" });
    await metadata.fill('{"mine": 1}');
    await page.keyboard.press("Escape");
    await metadata.waitFor({ state: "detached" });
    await app.call("PUT", `/v1/datapoints/${id}`, { inputs: { question: "Theirs?" } });
    await page.getByRole("row").filter({ hasText: "Mine?" }).click();
    await metadata.getByText('"mine": 1').waitFor();

    await page.getByRole("button", { name: "Save datapoint" }).click();

    await page.getByText("The datapoint was saved.").waitFor();
    const { datapoint } = (await app.call("GET", `/v1/datapoints/${id}`)) as {
      datapoint: readonly unknown[];
    };
    expect(datapoint[0]).toMatchObject({ inputs: { question: "Theirs?" }, metadata: { mine: 1 } });
  });

  test("are gone from their page once another tab has deleted them", async () => {
    const { result } = (await app.call("POST", "/v1/datasets", { name: "Short-lived" })) as {
      result: { insertedId: string };
    };
    const { page } = await app.open("/app/components");
    await page.clock.install();
    await page.goto(app.service.url + path(`/${result.insertedId}`));
    await page.getByText("No datapoints yet").waitFor();

    await app.call("DELETE", `/v1/datasets/${result.insertedId}`);
    await page.clock.fastForward(31_000);

    await page.getByRole("alert").getByText("It was deleted, or it is not open to you").waitFor();
    expect(await page.getByText("No datapoints yet").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Add datapoint" }).count()).toBe(0);
  });

  test("are made and filled from a file, and a refused row is named", async () => {
    const { page, picture } = await app.open(path());
    await page.getByRole("button", { name: "Create dataset" }).first().click();
    await page.getByLabel("Name").fill("From a file");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "No datapoints yet" }).waitFor();
    await picture("dataset-empty");
    const choose = async (name: string, text: string): Promise<void> => {
      const buffer = Buffer.from(text);
      await page.getByLabel("File", { exact: true }).setInputFiles({ name, mimeType: "", buffer });
      await page.getByRole("button", { name: "Import file" }).click();
    };

    await page.getByRole("button", { name: "Import a file" }).click();
    await choose("bad.jsonl", '{"inputs": {"q": "one"}}\n{"inputs": 5}\n');
    await page.getByRole("alert").filter({ hasText: "2" }).waitFor();
    await picture("dataset-import-refused");
    await choose("good.csv", "question,answer\nOne?,1\nTwo?,2\n");
    await page.getByRole("alert").waitFor();
    await page.getByRole("checkbox", { name: /Name the columns/ }).click();
    await page.getByLabel("Columns that become inputs").fill("question");
    await page.getByLabel("Columns that become the ground truth").fill("answer");
    await page.getByRole("button", { name: "Import file" }).click();

    await page.getByText("2 added, 0 changed, 0 as they were").waitFor();
    await picture("dataset-imported");
    await page.getByRole("button", { name: "Close", exact: true }).last().click();
    await page.getByRole("row").filter({ hasText: "Two?" }).waitFor();
  });

  test("show the rows of an import whose answer was lost, and say how to go on", async () => {
    const { page } = await app.open(path());
    await page.getByRole("button", { name: "Create dataset" }).first().click();
    await page.getByLabel("Name").fill("Broken off");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Import a file" }).click();
    const buffer = Buffer.from('{"inputs": {"q": "Stored without an answer?"}}\n');
    const file = { name: "one.jsonl", mimeType: "", buffer };
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    await page.route("**/ImportDataset", async (route) => {
      await route.fetch();
      await route.abort();
    });

    await page.getByRole("button", { name: "Import file" }).click();

    await page.getByRole("alert").getByText("The service does not answer.").waitFor();
    await page.getByText(/^All rows were stored, or none/).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("row").filter({ hasText: "Stored without an answer?" }).waitFor();
  });

  test("are filled from a Parquet file, which has what was exported", async () => {
    const { service } = app;
    const headers = {
      authorization: `Bearer ${service.projectKey}`,
      accept: "application/vnd.apache.parquet",
    };
    const exported = await fetch(`${service.url}/v1/datasets/${datasetId}/export`, { headers });
    const buffer = Buffer.from(await exported.arrayBuffer());
    const made = (await app.call("POST", "/v1/datasets", { name: "Copied" })) as {
      result: { insertedId: string };
    };
    const { page } = await app.open(path(`/${made.result.insertedId}`));
    await page.getByRole("button", { name: "Import a file" }).click();
    const file = { name: "orders.parquet", mimeType: "", buffer };
    await page.getByLabel("File", { exact: true }).setInputFiles(file);

    await page.getByRole("button", { name: "Import file" }).click();

    await page.getByText(/^[2-9]\d* added, 0 changed, 0 as they were/).waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).last().click();
    await page.getByRole("row").filter({ hasText: "4711" }).waitFor();
  });

  test("show the question of a chat that has no other inputs", async () => {
    const made = await app.call("POST", "/v1/datasets", { name: "Chats" });
    const id = (made as { result: { insertedId: string } }).result.insertedId;
    const history = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Which bees dance?" },
    ];
    await app.call("POST", "/v1/datapoints", { linked_datasets: [id], inputs: {}, history });

    const { page } = await app.open(path(`/${id}`));

    await page.getByRole("row").getByText("Which bees dance?").waitFor();
  });

  test("take events that match, and are exported with them", async () => {
    const { page, picture, inspect } = await app.open(path(`/${datasetId}`));
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Add from events" }).click();
    const add = page.getByRole("button", { name: /^Add [1-9]\d* events$/ });
    await add.waitFor();
    await inspect("dataset-from-events");
    await add.click();
    await page.getByText(/^Added \d+ datapoints$/).waitFor();

    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Export" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export dataset" }).click();
    const file = await readFile(await (await download).path(), "utf8");

    expect(file).toContain("4711");
    expect(file).toContain("Where is my order");
    await page.getByText("Versions").click();
    await page.getByRole("row").filter({ hasText: "v2" }).waitFor();
    await picture("dataset-versions");
  });

  test.each([
    {
      name: "was deleted",
      answer: { status: 404, json: { errorCode: "NOT_FOUND", message: "Not found" } },
      want: "Not found",
    },
    {
      name: "cannot be reached through a proxy",
      answer: { status: 502, contentType: "text/html", body: "<html><h1>Bad Gateway</h1></html>" },
      want: "The service answered with status 502.",
    },
  ])("say in words why one that $name is not exported", async ({ answer, want }) => {
    const { page } = await app.open(path(`/${datasetId}`));
    await page.route("**/export?version=*", (route) => route.fulfill(answer));
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Export" }).click();

    await page.getByRole("button", { name: "Export dataset" }).click();

    const error = page.getByRole("dialog").getByRole("alert").locator("p").first();
    expect(await error.innerText()).toBe(want);
  });

  test("are only read and exported by a viewer", async () => {
    const userId = await app.addMember("project_viewer");
    const { page, inspect } = await app.open(path(`/${datasetId}`), { userId });
    await page.getByRole("row").filter({ hasText: "4711" }).first().waitFor();
    const writes = page.getByRole("button", { name: /^(Add|Import|Save|Remove|Rename|Delete)/ });
    expect(await writes.count()).toBe(0);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem").first().waitFor();
    expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Export"]);
    await page.keyboard.press("Escape");
    for (const key of ["n", "i"]) await page.keyboard.press(key);

    await page.getByRole("row").filter({ hasText: "4711" }).first().click();
    await page.getByText("You may read this. Project Admin or Project Member").waitFor();
    const inputs = page.getByRole("textbox", { name: "Inputs" });
    await inputs.waitFor();

    expect(await inputs.getAttribute("aria-readonly")).toBe("true");
    expect(await page.getByRole("dialog").count()).toBe(1);
    expect(await writes.count()).toBe(0);
    expect(await page.getByRole("alert").filter({ hasText: /\S/ }).count()).toBe(0);
    await inspect("datapoint-viewer");
  });
});

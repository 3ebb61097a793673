// `waggle events`, `datasets` and `runs` against the real service, as a script uses them.

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { startForCommands } from "../support/command-line.ts";
import { givenStarted } from "../support/given.ts";
import { givenNoWaggle } from "../support/no-waggle.ts";
import { patience } from "../support/patience.ts";
import { run, runProgram, runWithInput } from "../support/process.ts";
import { aFreePort } from "../support/socket.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";

const main = join(import.meta.dirname, "../../src/main.ts");

const called = givenStarted(startForCommands);

beforeAll(async () => {
  await called.project.ok("POST /events/batch", {
    events: Array.from({ length: 30 }, (_, index) => event(`e${index}`, index % 3)),
  });
});

function event(event_id: string, attempt: number) {
  const common = { event_type: "tool", event_name: "lookup", session_id: "s", source: "test" };
  return { ...common, event_id, inputs: {}, metadata: { attempt } };
}

const runIt = (...words: readonly string[]) =>
  run(...words, "--url", called.service.url, "--key-file", called.keyFile);

async function runToEnd(...words: readonly string[]) {
  const { code, output } = await runIt(...words).ended();
  const lines = output.trim().split("\n");
  return { code, output, lines };
}

test("a command that calls a service loads none of the service's code", async () => {
  const lister = `import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`;
  const hooks = `data:text/javascript,${encodeURIComponent(lister)}`;
  const words = ["--import", hooks, main, "events", "--help"];

  const { code, output } = await runProgram(process.execPath, words).ended();

  expect(code).toBe(0);
  expect(output).toContain("src/commands/events.ts");
  expect(output).not.toMatch(/src\/(compose|postgres|controlplane|evaluation)\//);
});

describe("waggle events", () => {
  test("search prints a page and how many match in all", async () => {
    const got = await runToEnd("events", "search", "metadata.attempt is 1", "--limit", "4");

    expect(got.code).toBe(0);
    expect(got.lines).toHaveLength(5);
    expect(got.output).toContain("4 of 10 events");
  });

  test("export prints every event, and a last line with the count", async () => {
    const got = await runToEnd("events", "export", "--fields", "event_name");

    expect(got.code).toBe(0);
    expect(got.lines.filter((line) => line.includes('"lookup"'))).toHaveLength(30);
    expect(got.lines.at(-1)).toContain('"count":31');
  });

  test("tail prints what is stored while it runs, once, until it is stopped", async () => {
    const process = runIt("events", "tail", "metadata.attempt is 7");
    let sent = 0;
    // The command is ready when it prints the first of them.
    await vi.waitFor(async () => {
      await called.project.ok("POST /events", { event: event(`t${sent++}`, 7) });
      expect(process.output()).toContain('"t');
    }, patience);
    // More than a page between two looks.
    const burst = Array.from({ length: 450 }, (_, at) => event(`t-burst${at}`, 7));
    await called.project.ok("POST /events/batch", { events: burst });
    await vi.waitFor(() => {
      expect(process.output().match(/"t-burst/g)).toHaveLength(450);
    }, patience);
    process.kill("SIGTERM");

    const { output } = await process.ended();

    const ids = Array.from(output.matchAll(/"event_id":"(t[^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("tail prints a late event among the 200 that start last, and no older one", async () => {
    const late = (event_id: string, start_time: number) => ({ ...event(event_id, 8), start_time });
    const now = Date.now();
    const newer = Array.from({ length: 250 }, (_, at) => late(`l${at}`, now + at));
    await called.project.ok("POST /events/batch", { events: newer });
    const process = runIt("events", "tail", "metadata.attempt is 8");
    let sent = 0;
    await vi.waitFor(async () => {
      await called.project.ok("POST /events", { event: late(`l-new${sent++}`, now + 1_000) });
      expect(process.output()).toContain('"l-new');
    }, patience);

    await called.project.ok("POST /events/batch", {
      events: [late("l-too-old", now - 1_000), late("l-old", now + 150)],
    });

    await vi.waitFor(() => {
      expect(process.output()).toContain('"l-old"');
    }, patience);
    expect(process.output()).not.toContain("l-too-old");
    const { output } = await runToEnd("events", "nothing");
    expect(output).toContain("one that comes late with an older start is not");
  });

  test("tail ends when its reader has enough", async () => {
    const words = `events tail --url ${called.service.url} --key-file ${called.keyFile}`;
    const tail = runProgram("sh", ["-c", `"${process.execPath}" "${main}" ${words} | head -1`]);
    let isOver = false;
    const over = tail.ended().then(() => (isOver = true));

    await vi.waitFor(async () => {
      await called.project.ok("POST /events", { event: event(randomUUID(), 10) });
      expect(isOver).toBe(true);
    }, patience);
    await over;

    expect(tail.output().trim().split("\n")).toHaveLength(1);
  });

  test.each(["abc", "0", "-3", "2.5", "1e3"])("refuses --limit %s by its name", async (limit) => {
    const got = await runToEnd("events", "search", `--limit=${limit}`);

    expect(got.code).toBe(1);
    expect(got.output).toBe(`waggle: --limit must be a whole number from 1, not "${limit}"\n`);
  });

  test.each([
    {
      words: ["search", "--from", "5"],
      said: "--from must be a time such as 2026-11-01T00:00:00Z",
    },
    { words: ["search", "--from", "2026-11-01T00:00"], said: "--from must be a time such as" },
  ])("refuses $words", async ({ words, said }) => {
    const got = await runToEnd("events", ...words);

    expect(got.code).toBe(1);
    expect(got.output).toContain(said);
  });

  test("--from and --to of a day take all of it", async () => {
    const times = ["2024-02-28T23:59:59.999Z", "2024-02-29T00:00:00Z", "2024-02-29T23:59:59.999Z"];
    const starts = [...times, "2024-03-01T00:00:00Z"].map((text) => Date.parse(text));
    const events = starts.map((start_time, at) => ({ ...event(`day${at}`, 11), start_time }));
    await called.project.ok("POST /events/batch", { events });

    const days = ["--from", "2024-02-29", "--to", "2024-02-29"];
    const got = await runToEnd("events", "search", "metadata.attempt is 11", ...days);

    expect(got.output).toMatch(/"day2"[^]*"day1"[^]*2 of 2 events/);
  });

  test.each([
    { field: '"metadata.user name" is ada', found: "spaced" },
    { field: '"metadata.a \\"b\\" is" is 3', found: "spaced" },
    { field: '"metadata.x > y" exists', found: "spaced" },
    { field: '"metadata.attempt" is 12', found: "plain" },
  ])("finds events by $field", async ({ field, found }) => {
    const metadata = { "user name": "ada", 'a "b" is': 3, "x > y": 1 };
    const events = [{ ...event("spaced", 13), metadata }, event("plain", 12)];
    await called.project.ok("POST /events/batch", { events });

    const got = await runToEnd("events", "search", field, "--fields", "event_name");

    expect(got.code, got.output).toBe(0);
    expect(got.lines).toEqual([`{"event_name":"lookup","event_id":"${found}"}`, "1 of 1 events"]);
  });

  test("refuses a value that an operator does not take", async () => {
    const got = await runToEnd("events", "search", "error not exists yes");

    expect(got.code).toBe(1);
    expect(got.output).toContain("not exists takes no value: error not exists yes");
  });

  test("says what is wrong with a filter, an act or an address", async () => {
    const filter = await runToEnd("events", "search", "metadata.attempt near 1");
    const act = await runToEnd("events", "delete");
    const field = await runToEnd("events", "search", "nothing.such is 1");

    expect([filter.code, act.code, field.code]).toEqual([1, 1, 1]);
    expect(filter.output).toContain("no filter: metadata.attempt near 1");
    expect(act.output).toContain("usage:");
    expect(field.output).toContain("POST /v1/events/search: 400: ");
  });
});

test.each([
  { words: ["datasets import", "d", "rows.csv", "--dry-run"], flag: "--dry-run" },
  { words: ["datasets export", "d", "--limit", "5"], flag: "--limit" },
  { words: ["datasets list", "--inputs", "a"], flag: "--inputs" },
  { words: ["events export", "--limit", "1"], flag: "--limit" },
  { words: ["events tail", "--to", "2020-01-01"], flag: "--to" },
  { words: ["runs list", "--from", "2026-01-01"], flag: "--from" },
  { words: ["runs result", "r", "--limit", "1"], flag: "--limit" },
  { words: ["runs usage", "r", "--limit", "1"], flag: "--limit" },
  { words: ["import", "--format", "waggle", "--limit", "1", "f"], flag: "--limit" },
  { words: ["keys list", "--kind", "project"], flag: "--kind" },
  { words: ["keys revoke", "k", "--project", "p"], flag: "--project" },
  { words: ["members release", "--email", "a@b.c", "--org", "o"], flag: "--org" },
  { words: ["doctor", "--apply"], flag: "--apply" },
  { words: ["doctor", "extra"], flag: "extra" },
  { words: ["mcp", "extra"], flag: "extra" },
  { words: ["runs list", "--database-url", "postgres://x"], flag: "--database-url" },
])("a command refuses a flag that it would not heed: $words", async ({ words, flag }) => {
  const [name = "", ...others] = words;

  const { code, output } = await run(...name.split(" "), ...others).ended();

  expect(code).toBe(1);
  expect(output).toBe(`waggle: waggle ${name} takes no ${flag}\n`);
});

test.each([
  "events search --url=",
  "runs list --key-file=",
  "keys create --kind project --name ci --project=",
  "members list --org=",
  "start --port=",
])("a flag without its value is refused by its name: %s", async (words) => {
  const { code, output } = await run(...words.split(" ")).ended();

  const [flag] = /--\S+(?==$)/.exec(words) ?? [];
  expect(code).toBe(1);
  expect(output).toBe(`waggle: ${flag} needs a value; the one that is given is empty\n`);
});

test.each(["events export --fields a --fields b", "runs list --limit=1 --limit 2"])(
  "a flag that would lose a value is refused: %s",
  async (words) => {
    const got = await runToEnd(...words.split(" "));

    expect(got.code).toBe(1);
    expect(got.output).toMatch(/^waggle: --(fields|limit) is given more than once; only the last/);
  },
);

test("the last of two flags of a setting counts", async () => {
  const got = await runToEnd("runs", "list", "--url", "http://127.0.0.1:1");

  expect(got.code).toBe(0);
});

test.each(["two\nlines", '{"project_api_key": "hh_secret"}', "hh_s\u00e9cret"])(
  "a key file with %j is refused, and not repeated",
  async (text) => {
    const file = join(called.folder, "not-a-key");
    await writeFile(file, text);

    const got = await run("runs", "list", "--url", called.service.url, "--key-file", file).ended();

    expect(got).toEqual({
      code: 1,
      output:
        `waggle: the file of --key-file, ${file}, must hold one key alone, ` +
        "visible ASCII without spaces\n",
    });
  },
);

test.each(["events search", "runs list", "datasets export unknown"])(
  "%s says what to check where the key is wrong",
  async (words) => {
    const file = join(called.folder, "wrong-key");
    await writeFile(file, "hh_wrong");

    const all = [...words.split(" "), "--url", called.service.url, "--key-file", file];
    const got = await run(...all).ended();

    expect(got.code).toBe(1);
    expect(got.output).toMatch(/^waggle: .*404: Not found; the key of --key-file or .* is wrong, /);
  },
);

test.each([
  { command: "events", words: ["--fields", "--key-file", "--to TIME"] },
  { command: "datasets", words: ["--ground-truth"] },
  { command: "import", words: ["--report", "--dry-run"] },
  { command: "runs", words: ["--limit"] },
  { command: "mcp", words: ["Model Context Protocol", "--key-file"] },
  { command: "keys", words: ["--expires-in-days", "waggle --help lists the settings"] },
])("waggle $command --help shows its words and flags", async ({ command, words }) => {
  const { code, output } = await run(command, "--help").ended();

  expect(code).toBe(0);
  for (const word of words) expect(output).toContain(word);
});

test.each([
  { name: "a page", answer: { status: 200, headers: { "content-type": "text/html" } } },
  { name: "another address", answer: { status: 301, headers: { location: "https://a.b/c?d" } } },
])("an address that answers with $name is refused", async ({ answer }) => {
  const url = await givenNoWaggle(answer);

  const got = await run("datasets", "list", "--url", url, "--key-file", called.keyFile).ended();

  const said =
    answer.status === 200 ? "answers with text/html, as no" : "sends calls on to https://a.b:";
  expect(got.code).toBe(1);
  expect(got.output).toMatch(/^waggle: .*\n$/);
  expect(got.output).toContain(`${url} ${said}`);
});

test.each([
  { host: "::1", place: "[::1]" },
  { host: "127.0.0.1", place: "127.0.0.1" },
])("--host $host and --port are an address", async ({ host, place }) => {
  const port = String(await aFreePort());

  const words = ["runs", "list", "--host", host, "--port", port];
  const got = await run(...words, "--key-file", called.keyFile).ended();

  expect(got.code).toBe(1);
  expect(got.output).toContain(`waggle: http://${place}:${port} cannot be reached: `);
});

test.each([
  { words: "events search", type: "application/json" },
  { words: "events tail", type: "application/json" },
  { words: "events export", type: "application/x-ndjson" },
  { words: "runs list", type: "application/json" },
  { words: "runs result r", type: "application/json" },
  { words: "runs usage r", type: "application/json" },
  { words: "runs compare a b", type: "application/json" },
  { words: "datasets list", type: "application/json" },
  { words: "datasets import d package.json --format jsonl", type: "application/json" },
  { words: "datasets export d --format csv", type: "text/csv" },
])("$words refuses the JSON of another service", async ({ words, type }) => {
  const headers = { "content-type": "application/json" };
  const bodies = type === "application/json" ? ['{"hello":1}', "[1]", "hello"] : ['{"hello":1}'];
  for (const body of bodies) {
    const url = await givenNoWaggle({ status: 200, headers, body });
    const flags = ["--url", url, "--key-file", called.keyFile];

    const { code, output } = await run(...words.split(" "), ...flags).ended();

    expect(code).toBe(1);
    expect(output).toMatch(/^waggle: http:\S+ answers .* Waggle.*: is --url right\?\n$/);
  }
});

test("https:// before a port without TLS is said as such", async () => {
  const url = (await givenNoWaggle({ status: 200, headers: {} })).replace("http:", "https:");

  const key = called.keyFile;
  const got = await run("runs", "list", "--url", url, "--key-file", key).ended();

  const output = `waggle: ${url} cannot be reached: it speaks no TLS: is it http://?\n`;
  expect(got).toEqual({ code: 1, output });
});

test("a balancer's page is no wrong address: its status is said", async () => {
  const url = await givenNoWaggle({ status: 503, headers: { "content-type": "text/html" } });

  const key = called.keyFile;
  const got = await run("runs", "list", "--url", url, "--key-file", key).ended();

  const output = "waggle: GET /v1/runs: 503: Service Unavailable\n";
  expect(got).toEqual({ code: 1, output });
});

test("an answer without a message is said by its code, with when to try again", async () => {
  const body = '{"success":false,"statusCode":503,"errorCode":"OVERLOADED"}';
  const headers = { "content-type": "application/json", "retry-after": "2" };
  const url = await givenNoWaggle({ status: 503, headers, body });

  const key = called.keyFile;
  const got = await run("runs", "list", "--url", url, "--key-file", key).ended();

  const output = "waggle: GET /v1/runs: 503: OVERLOADED; try again in 2 s\n";
  expect(got).toEqual({ code: 1, output });
});

test("waggle --version says the version of the package", async () => {
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };

  expect(await run("--version").ended()).toEqual({ code: 0, output: `waggle ${version}\n` });
});

test("a word that is no command is named, in place of a page of help", async () => {
  const { code, output } = await run("evnts", "export").ended();

  expect(code).toBe(2);
  expect(output).toBe("waggle: no command evnts; waggle --help lists them\n");
});

test.each([
  { words: "runs list", type: "application/json" },
  { words: "events search", type: "application/json" },
  { words: "events export", type: "application/x-ndjson" },
])("$words says that an answer broke off", async ({ words, type }) => {
  const headers = { "content-type": type, "content-length": "100", connection: "close" };
  const url = await givenNoWaggle({ status: 200, headers });
  const key = called.keyFile;

  const got = await run(...words.split(" "), "--url", url, "--key-file", key).ended();

  expect(got.code).toBe(1);
  expect(got.output).toMatch(/waggle: the answer broke off: .*\n$/);
  expect(got.output).not.toContain("    at ");
});

test.each(["localhost:8080", "http://user:secret@localhost:8080", "http://localhost:8080/sub"])(
  "the address %s is refused, and not repeated",
  async (url) => {
    const key = called.keyFile;
    const { code, output } = await run("runs", "list", "--url", url, "--key-file", key).ended();

    expect(code).toBe(1);
    expect(output).toMatch(/^waggle: --url must be http:\/\/ or https:\/\/.*\n$/);
    expect(output).not.toContain("secret");
  },
);

test("waggle datasets imports, lists and exports", async () => {
  const { result } = (await called.project.ok("POST /v1/datasets", { name: "questions" })) as {
    result: { insertedId: string };
  };
  const file = join(called.folder, "rows.csv");
  await writeFile(file, 'inputs\n"{""q"": 1}"\n"{""q"": 2}"\n');

  const imported = await runToEnd("datasets", "import", result.insertedId, file);
  const listed = await runToEnd("datasets", "list");
  const exported = await runToEnd("datasets", "export", result.insertedId);

  expect(imported).toMatchObject({ code: 0 });
  expect([listed.code, exported.code]).toEqual([0, 0]);
  expect(listed.output).toContain("questions");
  expect(exported.output).toContain('"count":2');
});

describe("waggle datasets import", () => {
  const rows = '{"inputs": {"q": 1}}\n{"inputs": {"q": 2}}\n';

  async function givenADataset(): Promise<string> {
    const { result } = (await called.project.ok("POST /v1/datasets", { name: "imported" })) as {
      result: { insertedId: string };
    };
    return result.insertedId;
  }

  async function importInput(input: Buffer, ...words: readonly string[]) {
    const flags = ["--url", called.service.url, "--key-file", called.keyFile];
    const all = ["datasets", "import", ...words, ...flags];
    return runWithInput(Readable.from([input]), ...all).ended();
  }

  test.each([
    { name: "rows.jsonl.gz", flags: [], bytes: gzipSync(rows) },
    { name: "rows.jsonl.gz", flags: [], bytes: Buffer.from(rows) },
    { name: "zipped.jsonl", flags: [], bytes: gzipSync(rows) },
    { name: "rows.txt", flags: ["--format", "jsonl"], bytes: Buffer.from(rows) },
    { name: "-", flags: ["--format", "jsonl"], bytes: Buffer.from(rows) },
    { name: "-", flags: ["--format", "csv"], bytes: gzipSync('inputs\n"{""q"": 1}"\n{}\n') },
  ])("reads $name with $flags", async ({ name, flags, bytes }) => {
    const id = await givenADataset();
    const file = name === "-" ? name : join(called.folder, name);
    if (name !== "-") await writeFile(file, bytes);

    const imported = await importInput(bytes, id, file, ...flags);
    const exported = await runToEnd("datasets", "export", id);

    expect(imported.code, imported.output).toBe(0);
    expect(exported.output).toContain('"count":2');
  });

  test("reads Parquet from standard input", async () => {
    const [from, to] = [await givenADataset(), await givenADataset()];
    await importInput(Buffer.from(rows), from, "-", "--format", "jsonl");
    const file = await fetch(`${called.service.url}/v1/datasets/${from}/export`, {
      headers: {
        authorization: `Bearer ${called.project.key}`,
        accept: "application/vnd.apache.parquet",
      },
    });
    const bytes = Buffer.from(await file.arrayBuffer());

    const imported = await importInput(bytes, to, "-", "--format", "parquet");
    const exported = await runToEnd("datasets", "export", to);

    expect(imported.code, imported.output).toBe(0);
    expect(exported.output).toContain('"count":2');
  });

  test.each([
    { words: ["-"], said: "standard input needs --format" },
    { words: ["-", "--format", "xml"], said: '"xml" is not jsonl, csv or parquet' },
    { words: ["rows.xml.gz"], said: '"xml" is not jsonl, csv or parquet' },
  ])("refuses $words", async ({ words, said }) => {
    const got = await importInput(Buffer.from(rows), await givenADataset(), ...words);

    expect(got).toMatchObject({ code: 1, output: `waggle: ${said}\n` });
  });

  test("stores nothing of a gzipped file that is cut, and says so", async () => {
    const id = await givenADataset();
    const file = join(called.folder, "cut.jsonl.gz");
    await writeFile(file, gzipSync(rows).subarray(0, -9));

    const got = await runToEnd("datasets", "import", id, file);
    const exported = await runToEnd("datasets", "export", id);

    expect(got.code).toBe(1);
    expect(got.output).toBe(`waggle: cannot read ${file}: unexpected end of file\n`);
    expect(exported.output).toContain('"count":0');
  });

  test("says that an empty file has no rows", async () => {
    const got = await importInput(Buffer.alloc(0), await givenADataset(), "-", "--format", "jsonl");

    expect(got.code).toBe(1);
    expect(got.output).toContain("400: file: has no rows");
  });
});

test("waggle datasets import names the columns of a file of others", async () => {
  const { result } = (await called.project.ok("POST /v1/datasets", { name: "columns" })) as {
    result: { insertedId: string };
  };
  const file = join(called.folder, "others.csv");
  await writeFile(file, '"question, short",context,answer,lang\nwhy?,none,because,en\n');
  const flags = ["--inputs", "question, short", "--inputs", "context", "--ground-truth=answer"];

  const imported = await runToEnd("datasets", "import", result.insertedId, file, ...flags);
  const exported = await runToEnd("datasets", "export", result.insertedId);

  expect(imported.code, imported.output).toBe(0);
  expect(JSON.parse(exported.output.split("\n")[0] ?? "")).toMatchObject({
    inputs: { "question, short": "why?", context: "none" },
    ground_truth: { answer: "because" },
    metadata: { lang: "en" },
  });
});

test("an export to a full disk fails and says why", async () => {
  await called.project.ok("POST /events", { event: event("e-full", 9) });
  const key = called.keyFile;
  const words = `events export --url ${called.service.url} --key-file ${key}`;

  const command = `"${process.execPath}" "${main}" ${words} > /dev/full`;
  const failed = promisify(execFile)("sh", ["-c", command]);

  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: "waggle: cannot write the output: ENOSPC: no space left on device, write\n",
  });
});

test("waggle datasets import names a file that it cannot read", async () => {
  const got = await runToEnd(
    "datasets",
    "import",
    "00000000-0000-0000-0000-000000000000",
    "no.jsonl",
  );

  expect(got.code).toBe(1);
  expect(got.output).toContain("cannot read no.jsonl: ENOENT");
});

test("waggle runs lists, reads and compares", async () => {
  const runs = await Promise.all(
    ["old", "new"].map((name) => called.project.ok("POST /v1/runs", { name })),
  );
  const [before = "", now = ""] = runs.map(({ run_id }) => String(run_id));

  const listed = await runToEnd("runs", "list");
  const result = await runToEnd("runs", "result", now);
  const usage = await runToEnd("runs", "usage", now);
  const compared = await runToEnd("runs", "compare", now, before);

  expect([listed.code, result.code, usage.code, compared.code]).toEqual([0, 0, 0, 0]);
  expect(listed.output).toContain(now);
  expect(usage.output).toContain('"sessions":0');
});

describe("lists of more than a page", () => {
  let many: MetricProject;
  const runMany = async (...words: readonly string[]) => {
    const keyFile = join(called.folder, "key-of-many");
    const { code, output } = await run(
      ...words,
      "--url",
      called.service.url,
      "--key-file",
      keyFile,
    ).ended();
    const [first = "", ...others] = output.trim().split("\n");
    return { code, output, others, json: code === 0 ? (JSON.parse(first) as Listed) : {} };
  };
  type Listed = Readonly<Record<string, readonly Readonly<Record<string, string>>[] | undefined>>;
  const names = (list: Listed[string]) => list?.map(({ name }) => name);
  const numbers = Array.from({ length: 130 }, (_, index) => `n${index}`);

  beforeAll(async () => {
    many = await givenAMetricProject(called.service);
    await writeFile(join(called.folder, "key-of-many"), many.key);
    for (const name of numbers) {
      await many.ok("POST /v1/runs", { name });
      await many.ok("POST /v1/datasets", { name });
    }
  });

  test("of runs are read to their end, newest first", async () => {
    const all = await runMany("runs", "list");

    expect(names(all.json["evaluations"])).toEqual(numbers.toReversed());
    expect(all.json["pagination"]).toEqual({ total: 130, has_next: false });
    expect(all.others).toEqual([]);
  });

  test.each([7, 100, 120])("of runs end at --limit %i, and say so", async (limit) => {
    const some = await runMany("runs", "list", "--limit", String(limit));

    expect(names(some.json["evaluations"])).toEqual(numbers.toReversed().slice(0, limit));
    expect(some.json["pagination"]).toEqual({ total: 130, has_next: true });
    expect(some.others).toEqual([`${limit} of 130 runs`]);
  });

  test("of datasets are read to their end, or to --limit, which they say", async () => {
    const all = await runMany("datasets", "list");
    const some = await runMany("datasets", "list", "--limit", "110");

    expect(names(all.json["datasets"])?.toSorted()).toEqual(numbers.toSorted());
    expect(all.others).toEqual([]);
    expect(some.json["datasets"]).toHaveLength(110);
    expect(some.others).toEqual(["110 datasets; the project has more"]);
  });

  test.each(["runs", "datasets"])("of %s refuse a --limit that is no number", async (command) => {
    const { code, output } = await runMany(command, "list", "--limit", "abc");

    expect(code).toBe(1);
    expect(output).toContain('--limit must be a whole number from 1, not "abc"');
  });
});

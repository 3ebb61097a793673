// The client of clients/python: built from the protos, checked by mypy, and run as its page shows,
// call by call, and against a service that refuses.

import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";
import {
  type Environment,
  installPythonClient,
  projectFolder,
  pythonOf,
  sayMissing,
  skipTestsWhere,
} from "./environment.ts";
import { noKey, tryKeys } from "./keys.ts";
import { mustRun, programTimeoutMs, readReport, runProgram } from "./program.ts";
import { checkPrinted, readmeCode } from "./readme.ts";
import { startStandIn } from "./repeating.ts";

const title = "the Python client";

type Refusal = { readonly code: string; readonly message: string; readonly reason: string };
type Report = {
  readonly session: Record<string, unknown>;
  readonly created: { readonly event_ids: string[]; readonly errors: string[] };
  readonly page: { readonly totalEvents: number; readonly events: Record<string, unknown>[] };
  readonly second_and_later: string[];
  readonly nulls: number[];
  readonly stream_ends: boolean[];
  readonly stream_count: number;
  readonly tree_totals: Record<string, unknown>;
  readonly tree_children: string[];
  readonly no_type: Refusal;
  readonly absent: Refusal;
  readonly no_key: Refusal;
};

let environment: Environment;
let service: TestService;
let folder: string;
let python: string;
let env: Record<string, string>;

beforeAll(async () => {
  environment = await installPythonClient();
  sayMissing(title, environment);
  if (environment.missing !== undefined) return;
  python = pythonOf(environment.folder);
  folder = await mkdtemp(join(tmpdir(), "waggle-client-"));
  env = {
    PATH: [join(environment.folder, "bin"), process.env["PATH"]].join(delimiter),
    PYTHONPATH: join(folder, "site"),
    PYTHONDONTWRITEBYTECODE: "1",
    MYPYPATH: join(folder, "site"),
  };
  await build();
  service = await startService();
}, 2 * programTimeoutMs);
afterAll(async () => {
  await service?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
skipTestsWhere(() => environment.missing);

/** Builds and installs the client in a copy, since pip leaves files beside its sources. */
async function build(): Promise<void> {
  for (const path of ["proto", "clients/python"]) {
    await cp(join(projectFolder, path), join(folder, path), { recursive: true });
  }
  await mustRun({
    command: python,
    words: [
      "-m",
      "pip",
      "install",
      "-q",
      "--no-build-isolation",
      "--no-deps",
      "--no-index",
      "--target",
      join(folder, "site"),
      join(folder, "clients/python"),
    ],
    env: { PATH: env["PATH"] ?? "" },
  });
}

test("does what its page shows", { timeout: programTimeoutMs }, async () => {
  await writeFile(join(folder, "page.py"), await readmeCode("python", "py"));

  const printed = await mustRun({
    command: python,
    words: [join(folder, "page.py")],
    env: { ...env, WAGGLE_URL: service.url, WAGGLE_API_KEY: service.projectKey },
  });

  checkPrinted(printed);
});

test(
  "is typed: mypy takes its page, and no wrong field",
  async () => {
    const page = await readmeCode("python", "py");
    await writeFile(join(folder, "right.py"), page);
    await writeFile(join(folder, "wrong.py"), page.replace("session_name=", "session_names="));

    const { stdout } = await runProgram({
      command: python,
      words: ["-m", "mypy", "--strict", "--no-incremental", "right.py", "wrong.py"],
      cwd: folder,
      env,
    });

    const faults = stdout.split("\n").filter((line) => line.includes(": error:"));
    expect(faults).toEqual([expect.stringMatching(/^wrong\.py.*"session_names"/)]);
  },
  programTimeoutMs,
);

test(
  "sends again what may be repeated, and nothing else",
  async () => {
    const standIn = await startStandIn();
    const report = await readReport<Record<string, string>>({
      command: python,
      words: [join(import.meta.dirname, "python/waggle_outcomes.py"), ...standIn.words],
      env,
    });
    await standIn.stop();

    standIn.check(report);
  },
  programTimeoutMs,
);

test(
  "removes white space around a key, and names what no header can carry",
  async () => {
    const program = join(import.meta.dirname, "python/waggle_keys.py");
    const { report, outcomes } = await tryKeys((words) =>
      readReport({ command: python, words: [program, ...words], env }),
    );

    expect(report).toEqual([...outcomes, noKey]);
  },
  programTimeoutMs,
);

test(
  "calls the host of an address, and says what is wrong with one",
  async () => {
    const wanted = "url must be http:// or https://, a host and perhaps a port";
    const noAddress = (url: string) =>
      `${wanted}, such as https://waggle.example.org, not '${url}'`;
    const noPath = (url: string) => `${wanted}, since gRPC has no paths and queries, not '${url}'`;
    const noHost = (host: string, hint = "") =>
      `url: '${host}' is not a host: write a name in the letters a to z, digits, '-', '_' and ` +
      `'.'${hint}, or an IPv6 address in brackets, such as [::1]`;
    const noPort = (port: string) =>
      `url: '${port}' is not a port: write a number from 1 to 65535, such as ` +
      "http://waggle.example.org:8080";
    const expected = {
      "http://127.0.0.1:8080": "plain 127.0.0.1:8080",
      "http://waggle.example.org/": "plain waggle.example.org:80",
      "HTTPS://waggle.example.org": "TLS waggle.example.org:443",
      "http://[::1]:8080": "plain [::1]:8080",
      "https://[::1]": "TLS [::1]:443",
      "localhost:8080": noAddress("localhost:8080"),
      "waggle.example.org": noAddress("waggle.example.org"),
      "": noAddress(""),
      "grpc://localhost:8080": noAddress("grpc://localhost:8080"),
      "http://:8080": noAddress("http://:8080"),
      "https://example.org/waggle": noPath("https://example.org/waggle"),
      "https://example.org?key=secret": noPath("https://example.org?…"),
      "https://example.org/waggle#secret": noPath("https://example.org/waggle#…"),
      "example.org?key=secret": noAddress("example.org?…"),
      "http://:80": noAddress("http://:80"),
      "http:///waggle": noAddress("http:///waggle"),
      " http://example.org": noAddress(" http://example.org"),
      "http://host:99999": noPort("99999"),
      "http://host:0": noPort("0"),
      "http://host:8o": noPort("8o"),
      "http://[::1]:-1": noPort("-1"),
      "http://host: 80": noPort(" 80"),
      "http://my host": noHost("my host"),
      "http://host\\waggle": noHost("host\\\\waggle"),
      "http://::1:8080": noHost("::1"),
      "http://[::1:8080": noHost("[::1"),
      "http://[::x]": noHost("[::x]"),
      "http://bücher.example": noHost("bücher.example", ", here 'xn--bcher-kva.example'"),
      "http://ü..example": noHost("ü..example"),
      "https://me:secret@example.org": `${wanted}, without user name and password`,
    };

    const report = await readReport<readonly string[]>({
      command: python,
      words: [join(import.meta.dirname, "python/waggle_addresses.py"), ...Object.keys(expected)],
      env,
    });

    expect(report).toEqual(Object.values(expected));
  },
  programTimeoutMs,
);

describe("call by call", () => {
  let report: Report;
  beforeAll(async () => {
    if (environment.missing !== undefined) return;
    report = await readReport<Report>({
      command: python,
      words: [
        join(import.meta.dirname, "python/waggle_client.py"),
        service.url,
        service.projectKey,
      ],
      env,
    });
  }, programTimeoutMs);

  test("starts a session and reads its scopes", () => {
    expect(report.session).toMatchObject({
      project_id: service.projectId,
      session_name: "python",
      event_type: "session",
      source: "grpcio",
    });
    expect(report.session["event_id"]).toBe(report.session["session_id"]);
  });

  test("creates a batch and hears which event was rejected", () => {
    expect(report.created.event_ids).toHaveLength(2);
    expect(report.created.errors).toEqual([expect.stringMatching(/2.*event_type/)]);
  });

  test("exports what it sent", () => {
    expect(report.page.totalEvents).toBe(3);
    expect(report.page.events).toContainEqual({
      event_id: report.created.event_ids[0],
      event_name: "step 0",
      start_time: 1_700_000_000_000,
      duration: 1.5,
      inputs: { index: 0, nested: { list: [1, "two", null, true] } },
    });
  });

  test("follows pages from the one that is asked for by number", () => {
    const ids = report.page.events.map((event) => event["event_id"]);

    expect(report.second_and_later).toEqual(ids.slice(1));
    expect(report.nulls).toEqual([ids.length, 0]);
  });

  test("streams every event and then the end", () => {
    expect(report.stream_ends).toEqual([false, false, false, true]);
    expect(report.stream_count).toBe(3);
  });

  test("reads the tree with its totals", () => {
    expect(report.tree_children).toEqual(["step 0", "step 1"]);
    expect(report.tree_totals).toMatchObject({ num_events: 2, total_tokens: 20 });
  });

  test("reads why a call was refused", () => {
    expect(report.no_type).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("event_type") as unknown,
      reason: "INVALID_ARGUMENT",
    });
  });

  test("cannot tell what is absent from what it may not see", () => {
    expect(report.absent).toEqual({
      code: "NOT_FOUND",
      message: "Not found",
      reason: "NOT_FOUND",
    });
    expect(report.no_key).toEqual(report.absent);
  });
});

// Style as a test: what review would otherwise have to catch. The rules and their reasons are in
// CONTRIBUTING.md.

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { parseSync, Visitor } from "vite";
import { describe, expect, test } from "vitest";
import { http } from "../gen/google/api/annotations_pb.js";
import { access } from "../gen/waggle/v1/options_pb.js";
import { rowLockKeys } from "../src/postgres/row-locks.ts";
import { contractRows } from "./api/access-rows.ts";
import { protoFiles, rpcs } from "./support/contract.ts";

const root = resolve(import.meta.dirname, "..");
const lineLengthMax = 100;
const fileLinesMax = 400;
const functionLinesMax = 70;

type SourceFile = { readonly path: string; readonly text: string };

function listFiles(folder: string, ...endings: readonly string[]): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("node_modules"))
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8") }));
}

const sources = listFiles("src", ".ts", ".tsx");
const tests = listFiles("test", ".ts");
const code = [...sources, ...tests];

/** Files that break a rule, as `path: what`. An empty list is what each test wants. */
function breaches(files: readonly SourceFile[], fault: (file: SourceFile) => string | undefined) {
  return files.flatMap((file) => {
    const what = fault(file);
    return what === undefined ? [] : [`${file.path}: ${what}`];
  });
}

describe("files", () => {
  test("open with a comment that says what they are for", () => {
    // main.ts has a line for the shell above it.
    const got = breaches(code, ({ text }) =>
      /^(#!.*\n)?\/\/ /.test(text) ? undefined : "no header",
    );

    expect(got).toEqual([]);
  });

  test("keep to the line length", () => {
    const got = breaches(code, ({ text }) => {
      // The path of an import cannot be broken.
      const index = text
        .split("\n")
        .findIndex(
          (line) => line.length > lineLengthMax && !/^(import|\}) .* from ".*";$/.test(line),
        );
      return index === -1 ? undefined : `line ${index + 1}`;
    });

    expect(got).toEqual([]);
  });

  test("are short enough to read at once", () => {
    const got = breaches(sources, ({ text }) => {
      const lines = text.split("\n").length;
      return lines > fileLinesMax ? `${lines} lines` : undefined;
    });

    expect(got).toEqual([]);
  });

  test("are kebab-case and no drawers", () => {
    const drawer = /(^|\/)(utils?|helpers?|lib|common|shared|types)(\/|\.ts$)/;
    const got = breaches(code, ({ path }) => {
      if (drawer.test(path)) return "a drawer";
      return /^[a-z0-9.-]+$/.test(basename(path)) ? undefined : "not kebab-case";
    });

    expect(got).toEqual([]);
  });

  test("hold no function longer than a screen", () => {
    const got = sources.flatMap(({ path, text }) => longFunctions(path, text));

    expect(got).toEqual([]);
  });

  test("write the members of a literal without a spread", () => {
    const candidates = code.filter(({ text }) => /\.\.\.\(*[[{]/.test(text));
    const got = candidates.flatMap(({ path, text }) => spreadLiterals(path, text));

    expect(got).toEqual([]);
  });

  test("hold no work put off", () => {
    const word = ["TO", "DO"].join("");
    const got = breaches(code, ({ text }) => (text.includes(word) ? word : undefined));

    expect(got).toEqual([]);
  });

  test("of tests say in the output why they skip", () => {
    const got = breaches(tests, ({ text }) =>
      /\bskip\(/.test(text) && !/\bsayMissing\(/.test(text) ? "skips in silence" : undefined,
    );

    expect(got).toEqual([]);
  });
});

// A function that only returns a record of functions (a service, handlers) is as long as they are.
function longFunctions(path: string, text: string): string[] {
  const found: string[] = [];
  /** Lines of the functions directly inside each function that is open, and inside the file. */
  const inner = [0];
  const open = () => inner.push(0);
  const close = ({ start, end }: { readonly start: number; readonly end: number }) => {
    const lines = text.slice(start, end).split("\n").length;
    const own = lines - (inner.pop() ?? 0);
    inner.push((inner.pop() ?? 0) + lines);
    if (own > functionLinesMax) found.push(`${path}:${lineOf(text, start)}: ${own} lines`);
  };
  new Visitor({
    FunctionDeclaration: open,
    "FunctionDeclaration:exit": close,
    FunctionExpression: open,
    "FunctionExpression:exit": close,
    ArrowFunctionExpression: open,
    "ArrowFunctionExpression:exit": close,
  }).visit(parseSync(path, text).program);
  return found;
}

function spreadLiterals(path: string, text: string): string[] {
  const found: string[] = [];
  new Visitor({
    SpreadElement({ start, argument: { type } }) {
      if (type === "ArrayExpression" || type === "ObjectExpression") {
        found.push(`${path}:${lineOf(text, start)}: a literal is spread`);
      }
    },
  }).visit(parseSync(path, text).program);
  return found;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function importsOf({ path, text }: SourceFile): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier = ""]) =>
    specifier.startsWith(".") ? relative(root, resolve(root, dirname(path), specifier)) : specifier,
  );
}

function withoutTypes({ path, text }: SourceFile): SourceFile {
  return { path, text: text.replace(/^import type [^;]+;$/gm, "") };
}

type Rule = {
  readonly name: string;
  readonly files: RegExp;
  readonly except?: RegExp;
  readonly forbidden: RegExp;
  /** Whether types may be imported from anywhere. */
  readonly isTypeAllowed?: boolean;
};

/** What Temporal bundles and runs again and again from a history. */
const deterministic = new RegExp(
  "^src/(base/actor|base/limits|outbox/entry|workflows/([^/]+/workflow|workflows|progress" +
    "|search-attributes|describe-work|activity-options|task-queues))\\.ts$",
);

/** Who may import whom; the table of ARCHITECTURE.md, Layers. */
const importRules: readonly Rule[] = [
  {
    name: "base imports nothing of ours",
    files: /^src\/base\//,
    forbidden: /^(src\/(?!base)|gen)/,
  },
  {
    name: "transport and handlers import no store and no Postgres",
    files: /^src\/transport\/|handlers\.ts$/,
    forbidden: /(^|\/)store\.ts$|^src\/postgres\/|^postgres$/,
  },
  {
    name: "only transport, handlers and messages import generated code",
    files: /^src\//,
    except: new RegExp(
      "^src/(transport|compose|web/app)/|(handlers|-message|-input|model-event|parquet)\\.ts$",
    ),
    forbidden: /^gen\//,
  },
  {
    name: "stores import no service and no transport",
    files: /store\.ts$/,
    forbidden: /^src\/transport\/|handlers\.ts$/,
  },
  {
    name: "tracing knows nothing of evaluation, generation and the control plane",
    files: /^src\/tracing\//,
    forbidden: /^src\/(evaluation|generation|controlplane)\//,
  },
  {
    name: "workflows do nothing by themselves: no I/O is in their bundle",
    files: deterministic,
    isTypeAllowed: true,
    forbidden: new RegExp(
      `^(?!@temporalio/(workflow|common)$)(?!${deterministic.source.slice(1)})`,
    ),
  },
  {
    name: "workflows and activities call services, not stores",
    files: /^src\/workflows\//,
    forbidden: /(^|\/)store\.ts$|^src\/postgres\/|^postgres$/,
  },
  {
    name: "Temporal is spoken to where workflows are, and where it is started",
    files: /^src\//,
    except: /^src\/(workflows|embedded)\//,
    forbidden: /^@temporalio\//,
  },
  {
    name: "the web app knows the public API alone",
    files: /^src\/web\/app\//,
    forbidden: /^src\/(?!web\/app\/)|^node:/,
  },
  {
    name: "only the web app runs in browsers",
    files: /^src\/(?!web\/app\/)/,
    forbidden: /^src\/web\/app\//,
  },
  {
    name: "Connect's unversioned protocol parts stay in one file",
    files: /^src\//,
    except: /^src\/transport\/connect-adapter\.ts$/,
    forbidden: /^@connectrpc\/connect\/protocol/,
  },
];

/** Modules of src in their order: each imports values only from itself and from those before it. */
const moduleOrder = [
  "base",
  "observability",
  "postgres",
  "outbox",
  "access",
  "controlplane",
  "notifications",
  "tracing",
  "generation",
  "evaluation",
  "workflows",
  "transport",
  "web",
  "embedded",
  "setting-parsers.ts",
  "price-settings.ts",
  "provider-settings.ts",
  "config.ts",
  "compose",
  "commands",
  "main.ts",
];

function placeOf(path: string): number {
  return moduleOrder.indexOf(path.split("/")[1] ?? "");
}

describe("imports", () => {
  test("keep to the order of the modules", () => {
    const unplaced = sources.filter(({ path }) => placeOf(path) < 0);
    const got = sources.flatMap((file) =>
      importsOf(withoutTypes(file))
        .filter((target) => target.startsWith("src/") && placeOf(target) > placeOf(file.path))
        .map((target) => `${file.path} imports ${target}`),
    );

    expect([...unplaced, ...got]).toEqual([]);
  });

  test("of files run in no circle, those of types included", () => {
    // A page's route loads the page once it is opened.
    const loaded = sources.map(({ path, text }) => ({
      path,
      text: text.replaceAll("import(", ""),
    }));
    const targets = new Map(loaded.map((file) => [file.path, importsOf(file)]));
    const done = new Set<string>();
    const circles: string[] = [];
    function visit(path: string, trail: readonly string[]): void {
      if (trail.includes(path))
        circles.push([...trail.slice(trail.indexOf(path)), path].join(" > "));
      if (done.has(path)) return;
      done.add(path);
      for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    }
    for (const path of targets.keys()) visit(path, []);

    expect(circles).toEqual([]);
  });

  test.each(importRules)("$name", ({ files, except, forbidden, isTypeAllowed }) => {
    const ruled = sources.filter(({ path }) => files.test(path) && !except?.test(path));
    const got = ruled.flatMap((file) =>
      importsOf(isTypeAllowed ? withoutTypes(file) : file)
        .filter((target) => forbidden.test(target))
        .map((target) => `${file.path} imports ${target}`),
    );

    expect(got).toEqual([]);
  });

  test("reach every file", () => {
    const reached = new Set(sources.flatMap(importsOf));
    // Run by Node, by buf, in a thread, and by Temporal's bundler.
    const entries = [
      "src/main.ts",
      "src/transport/openapi/comments-plugin.ts",
      "src/evaluation/datasets/files/reading-worker.ts",
      "src/workflows/workflows.ts",
      "src/workflows/build-bundle.ts",
      "src/web/build-app.ts",
      "src/web/vite.config.ts",
      "src/web/app/main.tsx",
    ];
    const got = breaches(sources, ({ path }) =>
      entries.includes(path) || reached.has(path) ? undefined : "nothing imports it",
    );

    expect(got).toEqual([]);
  });

  test("of the environment happen in config.ts only", () => {
    const others = sources.filter(({ path }) => path !== "src/config.ts");
    const got = breaches(others, ({ text }) =>
      /process\.env\b/.test(text) ? "reads process.env" : undefined,
    );

    expect(got).toEqual([]);
  });
});

/** Wording that readers of other languages stumble over; CONTRIBUTING.md gives the words to use. */
const riddles: readonly RegExp[] = [
  /(?<!`)\b(whoever|nobody|somebody)\b/i,
  /(^|[,.;:(] |\b(of|for|to|with|by|from|in|and|or|than) )what (is|are|was|has|have|comes?)\b/i,
  /^(Of|Told|And)\b/,
  /\bCalled by [a-z]/,
];

/** Returns the comments of a text, each on one line; `//` lines that follow one another are one. */
function commentsOf(text: string): string[] {
  const comments: string[] = [];
  let isInside = false;
  for (const line of text.split("\n")) {
    const words = /^\s*(?:\/\/|\/\*\*?|\*)\s?(.*?)(?:\*\/)?$/.exec(line)?.[1];
    if (words !== undefined) comments.push(isInside ? `${comments.pop()} ${words}`.trim() : words);
    isInside = words !== undefined;
  }
  return comments;
}

describe("styles", () => {
  /** Returns the classes that a file has rules for, whatever they stand in. */
  function classesOf({ text }: SourceFile): ReadonlySet<string> {
    const rules = text.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/([^{}]+)\{/g);
    const selectors = [...rules].flatMap(([, selector = ""]) => selector.split(","));
    const alone = selectors.map((one) => /^\.([a-z][\w-]*)(\[[^\]]*\])*$/.exec(one.trim())?.[1]);
    return new Set(alone.filter((name) => name !== undefined));
  }

  test("of a class stand in one file", () => {
    // Styles of a page that was left stay: they would change another page's parts of the name.
    const restyling = ["print.css", "forced-colors.css"];
    const styles = listFiles("src/web/app", ".css").filter(
      ({ path }) => !restyling.includes(basename(path)),
    );
    const places = styles.flatMap((file) =>
      [...classesOf(file)].map((name) => ({ name, path: file.path })),
    );
    const byName = Map.groupBy(places, ({ name }) => name);

    const got = [...byName]
      .filter(([, found]) => found.length > 1)
      .map(([name, found]) => `.${name}: ${found.map(({ path }) => path).join(", ")}`);

    expect(styles.length).toBeGreaterThan(50);
    expect(got).toEqual([]);
  });
});

describe("comments", () => {
  test("are in plain English, subject first", () => {
    const files = [...code, ...listFiles("proto/waggle", ".proto")];
    const got = files.flatMap(({ path, text }) =>
      commentsOf(text)
        .filter((comment) => riddles.some((riddle) => riddle.test(comment)))
        .map((comment) => `${path}: ${comment}`),
    );

    expect(got).toEqual([]);
  });
});

describe("decisions", () => {
  const text = readFileSync(join(root, "docs/decisions.md"), "utf8");
  const numbers = [...text.matchAll(/^\| (D?\d+(?:\.\d+)?) \|/gm)].map(([, number]) => number);

  test("have a number of their own", () => {
    const got = numbers.filter((number, index) => numbers.indexOf(number) !== index);

    expect(got).toEqual([]);
  });

  test("are cited by the number of one row", () => {
    const citation = /[Dd]ecisions?(?:\.md)?,? ((?:D?\d[\d.]*(?:,? and |, | to )?)+)/g;
    const protos = listFiles("proto/waggle", ".proto");
    const got = [...code, ...protos].flatMap(({ path, text }) =>
      commentsOf(text)
        .flatMap((comment) => [...comment.matchAll(citation)])
        .flatMap(([, list = ""]) => list.match(/D?\d+(?:\.\d+)?/g) ?? [])
        .filter((number) => !numbers.includes(number))
        .map((number) => `${path}: ${number}`),
    );

    expect(got).toEqual([]);
  });
});

describe("SQL", () => {
  test("stands in stores, migrations and src/postgres only", () => {
    const statement = /`\s*(select (?!1`)|insert into |update |delete from |with \w+ as )/;
    // The embedded server makes the database that everything else connects to.
    const allowed = /store\.ts$|^src\/postgres\/|^src\/embedded\/postgres\.ts$/;
    const others = sources.filter(({ path }) => !allowed.test(path));
    const got = breaches(others, ({ text }) => (statement.test(text) ? "holds SQL" : undefined));

    expect(got).toEqual([]);
  });

  test("locks the rows of each table by a number of its own", () => {
    const keys: readonly number[] = Object.values(rowLockKeys);
    const others = sources.filter(({ path }) => path !== "src/postgres/row-locks.ts");
    const got = breaches(others, ({ text }) =>
      /advisory_xact_lock\([^,)]*, hashtext\(/.test(text) ? "has a lock of its own" : undefined,
    );

    expect(keys).toEqual([...new Set(keys)]);
    expect(got).toEqual([]);
  });

  test("on project data names the project in every statement", () => {
    const names = [
      "events|archived_events|session_totals|event_fields|feedback|chart_marks",
      "scores|evaluation_queue|evaluation_chunks|evaluator_streaks",
      "datasets|dataset_versions|dataset_datapoints|datapoints|runs",
      "annotation_queues|annotation_items|annotation_reviews|annotation_scores",
      "annotation_overflows",
    ].join("|");
    const tables = new RegExp(`\\b(from|into|update|join)\\s+(${names})\\b`);
    const got = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/sql(?:<[^`]*?>)?`((?:[^`\\]|\\.|\$\{[^}]*\})*)`/g)]
        .map(([, statement = ""]) => statement)
        // `matching` is export's fragment, which begins with the project. What operators are shown
        // of the whole cluster says so.
        .filter((statement) => tables.test(statement))
        .filter((statement) => !/project_id|matching\(|-- of all projects/.test(statement))
        .map((statement) => `${path}: ${statement.trim().slice(0, 60)}`),
    );

    expect(got).toEqual([]);
  });

  test("migrations are numbered without gaps and say why they are", () => {
    const migrations = listFiles("src/postgres/migrations", ".sql").toSorted((a, b) =>
      a.path < b.path ? -1 : 1,
    );
    const got = breaches(migrations, ({ path, text }) => {
      const number = String(migrations.findIndex((one) => one.path === path) + 1).padStart(4, "0");
      if (!basename(path).startsWith(`${number}_`)) return `should be number ${number}`;
      return /^-- .+\n-- .+/.test(text) ? undefined : "no two-line comment";
    });

    expect(migrations.length).toBeGreaterThan(0);
    expect(got).toEqual([]);
  });
});

describe("protos", () => {
  test("are all looked at here", () => {
    const named = protoFiles.map((file) => `proto/${file.name}.proto`);
    const withServices = listFiles("proto/waggle", ".proto")
      .filter(({ text }) => /^service /m.test(text))
      .map(({ path }) => path);

    expect(withServices.toSorted()).toEqual(named.toSorted());
  });

  test.each(rpcs.map((method) => ({ name: method.toString(), method })))(
    "$name has an http rule and, unless it is open, a permission, key kinds and a body class",
    ({ method }) => {
      const rule = getOption(method, access);

      expect(hasOption(method, http)).toBe(true);
      if (rule.open) {
        expect(rule).toMatchObject({ permission: "", keys: [], body: 0, scope: "" });
        return;
      }
      expect(rule.permission).toMatch(/^([a-z_]+|\{scope\})(\.[a-z_]+)+$/);
      expect(rule.keys.length).toBeGreaterThan(0);
      expect(rule.body).not.toBe(0);
    },
  );

  test("have a comment on every rpc", () => {
    const got = breaches(listFiles("proto/waggle", ".proto"), ({ text }) => {
      const lines = text.split("\n");
      const bare = lines.findIndex(
        (line, index) => /^ {2}rpc /.test(line) && !lines[index - 1]?.startsWith("  //"),
      );
      return bare === -1 ? undefined : `line ${bare + 1}`;
    });

    expect(got).toEqual([]);
  });

  test("have every permission in the access matrix", () => {
    const permissions = new Set(rpcs.map((method) => getOption(method, access).permission));
    const inMatrix = new Set(contractRows.map(({ permission }) => permission));

    expect([...permissions].filter((permission) => !inMatrix.has(permission))).toEqual([]);
  });
});

describe("markdown", () => {
  test("has one title a file", () => {
    const files = [...listFiles("docs", ".md"), ...listFiles(".", ".md")].filter(
      ({ path }) => !path.includes("/") || path.startsWith("docs/"),
    );
    const got = breaches(files, ({ text }) => {
      const titles = text.replace(/^```[\s\S]*?^```/gm, "").match(/^# /gm)?.length ?? 0;
      return titles === 1 ? undefined : `${titles} titles`;
    });

    expect(got).toEqual([]);
  });
});

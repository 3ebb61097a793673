// The report of `npm run proof`: docs/proof/<version>.md, from the results of its checks.

import { formatTable } from "../bench/table.ts";
import type { Finding } from "../support/findings.ts";
import { type Check, unproven } from "./checks.ts";

/** What a check's last run showed. */
export type Result = {
  readonly hasPassed: boolean;
  /** Machine, commit and load before the run. */
  readonly machine: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly minutes: number;
  readonly tests?: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly findings: readonly Finding[];
  /** Figures of a bench that miss their aim. */
  readonly missed: readonly string[];
  /** Text of a bench: its tables with their titles. */
  readonly tables: string;
};

export type Results = Readonly<Record<string, Result>>;

export function formatReport(version: string, checks: readonly Check[], results: Results): string {
  const rows = checks.map(({ name }) => [
    name,
    describe(results[name]),
    results[name]?.minutes ?? "",
  ]);
  const missing = checks.filter(({ name }) => !results[name]?.hasPassed);
  const notProven = [
    ...missing.map(({ name, claim }) => `${claim} (${name}: ${describe(results[name])}).`),
    ...checks.flatMap(({ name }) =>
      (results[name]?.missed ?? []).map((figure) => `Aim missed by ${name}: ${figure}.`),
    ),
    ...unproven,
  ];
  const commits = new Set(Object.values(results).flatMap(({ machine }) => commitIn(machine)));
  if (commits.size > 1) {
    notProven.unshift(`All of it at one commit: its sections are of ${[...commits].join(", ")}.`);
  }
  const parts = [
    `# Proof of ${version}`,
    "`npm run proof` wrote this file; `npm run proof -- CHECK…` repeats single checks. " +
      "`test/proof/checks.ts` names the code of each. Figures of different checks come from " +
      "different minutes of a shared machine: only ratios within a table compare.",
    formatTable(["check", "result", "minutes"], rows),
    ...checks.flatMap((check) => {
      const result = results[check.name];
      return result ? [formatSection(check, result)] : [];
    }),
    "## Not proven",
    notProven.map((claim) => `- ${claim}`).join("\n"),
  ];
  return `${parts.join("\n\n")}\n`;
}

function commitIn(machine: string): readonly string[] {
  return machine.match(/(?<=commit )\w+/) ?? [];
}

function describe(result: Result | undefined): string {
  if (!result) return "not run";
  if (!result.hasPassed) return "**failed**";
  const { length } = result.missed;
  return length === 0 ? "passed" : `ran, ${length} ${length === 1 ? "aim" : "aims"} missed`;
}

function formatSection({ name, claim }: Check, result: Result): string {
  const { machine, startedAt, tests, findings, tables } = result;
  const [first] = findings;
  const lines = [`Claim: ${claim}.`, `Begun ${startedAt}. ${machine}.`];
  if (tests) {
    lines.push(`${tests.passed} tests passed, ${tests.failed} failed, ${tests.skipped} skipped.`);
  }
  if (first) {
    const names = Object.keys(first);
    lines.push(
      formatTable(
        names,
        findings.map((finding) => names.map((column) => finding[column] ?? "")),
      ),
    );
  }
  if (tables !== "") lines.push(tables);
  return [`## ${name}`, ...lines].join("\n\n");
}

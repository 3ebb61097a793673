// Reads vitest's JSON reports of a run in CI and of its second try: each file with a failure runs
// once more, alone, and a test that fails twice has failed. Arguments, and what they print:
//   failed FIRST            the files with a failure
//   summary FIRST [SECOND]  the tests that passed at the second try only, and the counts

import { readFileSync } from "node:fs";
import { relative } from "node:path";

type Test = {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
};
type File = {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly Test[];
};

const messageCharactersMax = 2_000;

function readFiles(path: string): readonly File[] {
  const report = JSON.parse(readFileSync(path, "utf8")) as { testResults: File[] };
  return report.testResults;
}

function hasFailed({ status }: { readonly status: string }): boolean {
  return status === "failed";
}

/** Prints the failures of a file's first try. A file may fail outside its tests. */
function printFlaky({ name, message, assertionResults }: File): void {
  console.log(`FLAKY ${relative(".", name)}: passed at the second try only`);
  const failed = assertionResults.filter(hasFailed);
  if (failed.length === 0) console.log(`  ${message.slice(0, messageCharactersMax)}`);
  for (const { fullName, failureMessages } of failed) {
    console.log(`  ${fullName}\n  ${failureMessages.join("\n").slice(0, messageCharactersMax)}`);
  }
}

/** Returns the exit status: 0 when every test passed in one of the two runs. */
function printSummary(first: readonly File[], second: readonly File[]): number {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const before of first) {
    const file = second.find(({ name }) => name === before.name) ?? before;
    if (hasFailed(before) && !hasFailed(file)) printFlaky(before);
    for (const { status } of file.assertionResults) {
      counts[status === "passed" || status === "failed" ? status : "skipped"] += 1;
    }
    if (hasFailed(file) && !file.assertionResults.some(hasFailed)) counts.failed += 1;
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}

const [, , command, first = "", second] = process.argv;
if (command === "failed") {
  for (const { name } of readFiles(first).filter(hasFailed)) console.log(relative(".", name));
} else {
  process.exitCode = printSummary(readFiles(first), second ? readFiles(second) : []);
}

// Results that tests print for the report of `npm run proof`, one JSON line each. The findings of
// one check have the same names.

const mark = "finding: ";

export type Finding = Readonly<Record<string, string | number>>;

/** Prints a finding in a run of `npm run proof`, which sets PROOF; otherwise does nothing. */
export function printFinding(finding: Finding): void {
  if (process.env["PROOF"] === undefined) return;
  process.stdout.write(`${mark}${JSON.stringify(finding)}\n`);
}

/** Returns the findings in the output of a run. */
export function readFindings(output: string): readonly Finding[] {
  const lines = output.split("\n").filter((line) => line.startsWith(mark));
  return lines.map((line) => JSON.parse(line.slice(mark.length)) as Finding);
}

// Report of an import: progress while it runs, result at its end. Source: docs/moving-in.md.

/** Maximum rejected records that a report lists; the others are counted. */
const rejectionsListedMax = 1_000;
const rejectionsPrintedMax = 10;

export type Rejection = { readonly file: string; readonly line: number; readonly reason: string };

export type Report = {
  readonly format: string;
  readonly files: readonly string[];
  readonly dry_run: boolean;
  readonly records: {
    read: number;
    stored: number;
    already_stored: number;
    rejected: number;
  };
  /** Scores among the stored whose event is not there yet; they are applied when it arrives. */
  scores_waiting: number;
  /** Records by the field that Waggle has a place for. */
  readonly fields_mapped: Record<string, number>;
  /** Records by the field that is kept as it is, under `metadata`. */
  readonly fields_kept_raw: Record<string, number>;
  readonly rejections: Rejection[];
  rejections_left_out: number;
};

export function createReport(format: string, files: readonly string[], isDryRun: boolean): Report {
  return {
    format,
    files,
    dry_run: isDryRun,
    records: { read: 0, stored: 0, already_stored: 0, rejected: 0 },
    scores_waiting: 0,
    fields_mapped: {},
    fields_kept_raw: {},
    rejections: [],
    rejections_left_out: 0,
  };
}

/** Counts records that were not stored. */
export function reject(report: Report, rejection: Rejection, count = 1): void {
  report.records.rejected += count;
  if (report.rejections.length < rejectionsListedMax) report.rejections.push(rejection);
  else report.rejections_left_out += 1;
}

/** Maximum names of fields that a report counts: names come from the export. */
const fieldsMax = 10_000;

/** Counts the fields of a record. */
export function countFields(counts: Record<string, number>, names: readonly string[]): void {
  for (const name of names) {
    const before = Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0;
    if (before > 0 || Object.keys(counts).length < fieldsMax) counts[name] = before + 1;
  }
}

/** Returns the report as lines for a person. */
export function formatReport(report: Report): readonly string[] {
  const { read, stored, already_stored: already, rejected } = report.records;
  const listed = report.rejections.slice(0, rejectionsPrintedMax);
  const others = rejected - listed.length;
  const waiting = report.scores_waiting;
  return [
    `${read} records read from ${report.files.length} file(s)`,
    report.dry_run ? "nothing was sent (--dry-run)" : `  stored          ${stored}`,
    ...(report.dry_run ? [] : [`  already stored  ${already}`]),
    `  rejected        ${rejected}`,
    ...(waiting > 0 ? [`${waiting} of the stored scores wait for their event`] : []),
    `fields mapped: ${formatCounts(report.fields_mapped)}`,
    `fields kept raw in metadata: ${formatCounts(report.fields_kept_raw)}`,
    ...listed.map(({ file, line, reason }) => `rejected: ${file}:${line}: ${printable(reason)}`),
    ...(others > 0 && listed.length > 0 ? [`… and ${others} more rejected`] : []),
  ];
}

function formatCounts(counts: Readonly<Record<string, number>>): string {
  const names = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const texts = names.map(([name, count]) => `${printable(name)} (${count})`);
  return texts.length === 0 ? "none" : texts.join(", ");
}

/** Replaces control characters: names and reasons hold text of the export. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, "�");
}

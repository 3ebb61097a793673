// SettingsTable: a short table of settings. In a narrow window its minor columns stand below the
// first one, so that nothing scrolls sideways.

import type { ReactNode } from "react";
import { Folded, useFolding } from "../../design/folded.tsx";

export type SettingsColumn<Row> = {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Shown on hover. */
  readonly titleOf?: (row: Row) => string | undefined;
  /** `end` for numbers. */
  readonly align?: "end";
  /** True for a column that a narrow window has room for beside the first. */
  readonly isMajor?: boolean;
  /** True for the column of acts, which stays in view; its header is only read out. */
  readonly isHeaderHidden?: boolean;
  readonly className?: string;
};

export type SettingsTableProps<Row> = {
  readonly label: string;
  readonly columns: readonly SettingsColumn<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
};

export function SettingsTable<Row>({ label, columns, rows, idOf }: SettingsTableProps<Row>) {
  const { shown, folded } = useFolding(columns);
  return (
    <table className="settings-table" aria-label={label}>
      <thead>
        <tr>
          {shown.map(({ header, align, isHeaderHidden = false }) => (
            <th key={header} data-align={align} data-acts={isHeaderHidden}>
              {isHeaderHidden ? <span className="visually-hidden">{header}</span> : header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={idOf(row)}>
            {shown.map(
              ({ header, cell, titleOf, align, className, isHeaderHidden = false }, at) => (
                <td
                  key={header}
                  data-align={align}
                  data-acts={isHeaderHidden}
                  className={className}
                  title={titleOf?.(row)}
                >
                  {cell(row)}
                  {at === 0 && folded.length > 0 ? <Folded items={itemsOf(folded, row)} /> : null}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function itemsOf<Row>(columns: readonly SettingsColumn<Row>[], row: Row) {
  return columns.map(({ header, cell, titleOf }) => ({
    header,
    content: cell(row),
    title: titleOf?.(row),
  }));
}

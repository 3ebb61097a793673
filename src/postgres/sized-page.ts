// Pages of rows whose contents may be large: a page ends before it takes too much memory.

import type { Fragment, Sql } from "./database.ts";

export type RowsPage<T> = { readonly rows: readonly T[]; readonly hasMore: boolean };

/** Maximum bytes of text of a page, which ends before a row past it, but has one row at least. */
const pageBytesMax = 16_000_000;

export type SizedPage = {
  /** Selects the rows, one more than the limit. */
  readonly rows: Fragment;
  /** Column of the rows that may be large. */
  readonly content: string;
  /** Order of the rows, by what they select. */
  readonly order: Fragment;
  readonly limit: number;
};

/** Returns a page of rows; fewer than its limit if they are large. */
export async function readSizedPage<T>(
  sql: Sql,
  { rows: selected, content, order, limit }: SizedPage,
): Promise<RowsPage<T>> {
  const rows = await sql<(T & { found: number })[]>`
    select *
    from (
      select *,
        coalesce(sum(octet_length(${sql(content)}::text)) over (
          order by ${order} rows between unbounded preceding and 1 preceding
        ), 0) as bytes,
        (count(*) over ())::integer as found
      from (${selected}) as page
    ) as page
    where bytes < ${pageBytesMax}
    order by ${order}
    limit ${limit}`;
  return { rows, hasMore: (rows[0]?.found ?? 0) > rows.length };
}

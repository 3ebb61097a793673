// SQL that looks into JSON values of any kind without ever failing on one. Called by filter-sql.ts.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import { isoPattern } from "./instant.ts";

/** A part of a statement. */
export type Fragment = PendingQuery<Row[]>;

/** True when a string, or a string member of an array, holds `text`; case does not matter. */
export function containsInJson(sql: Sql, value: Fragment, text: string): Fragment {
  return sql`case jsonb_typeof(${value})
    when 'string' then strpos(lower((${value}) #>> '{}'), lower(${text})) > 0
    when 'array' then exists (
      select 1
      from jsonb_array_elements(${value}) as member (value)
      where jsonb_typeof(member.value) = 'string'
        and strpos(lower(member.value #>> '{}'), lower(${text})) > 0)
    else false end`;
}

/**
 * Microseconds of a number of Unix milliseconds or of ISO 8601 text, else null. Text is cast only
 * when its form is right, and as the first of its month, since a 30 February would fail; the days
 * are added after.
 */
export function timeInJson(sql: Sql, value: Fragment): Fragment {
  return sql`case jsonb_typeof(${value})
    when 'number' then floor((${value})::numeric * 1000)
    when 'string' then (
      select case when written.text ~ ${isoPattern} and written.text !~ '^0000' then
        extract(epoch from (
          overlay(written.text placing '01' from 9 for 2)
            || case
              when length(written.text) = 10 then 'T00:00:00Z'
              when written.text ~ '(Z|[+-][0-9]{2}:?[0-9]{2})$' then ''
              else 'Z'
            end)::timestamptz) * 1000000
        + (substr(written.text, 9, 2)::integer - 1) * 86400000000 end
      from (select (${value}) #>> '{}' as text) as written)
    end`;
}

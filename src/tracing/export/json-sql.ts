// SQL that inspects JSON values of any kind and never fails on one.

import { isoPattern } from "../../base/iso-time.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";

/**
 * Returns SQL that is true if a string, or a string member of an array, contains `text`, ignoring
 * case.
 */
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
 * Returns SQL for the microseconds of a number of Unix milliseconds or of ISO 8601 text, else null.
 * It computes with the parts of the text, because a cast fails on 30 February and on a zone of
 * +16:00.
 */
export function timeInJson(sql: Sql, value: Fragment): Fragment {
  return sql`case jsonb_typeof(${value})
    when 'number' then floor((${value})::numeric * 1000)
    when 'string' then (
      select
        case when extract(month from date.day) = written.part[2]::integer then
          (extract(epoch from date.day)
            + coalesce(written.part[4]::integer, 0) * 3600
            + coalesce(written.part[5]::integer, 0) * 60
            + coalesce(written.part[6]::integer, 0)
            - (coalesce(written.part[9]::integer, 0) * 3600
                + coalesce(written.part[10]::integer, 0) * 60)
              * case written.part[8] when '-' then -1 else 1 end) * 1000000
          + round(('0.' || left(coalesce(written.part[7], '0'), 9))::numeric * 1000000)
        end
      from (select regexp_match((${value}) #>> '{}', ${isoPattern}) as part) as written,
        lateral (
          select make_date(written.part[1]::integer, written.part[2]::integer, 1)
            + (written.part[3]::integer - 1) as day) as date)
    end`;
}

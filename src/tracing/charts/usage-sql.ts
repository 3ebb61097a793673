// SQL of the tokens and the cost of an event, by the rules of session totals, so that the sums over
// the events of a session are those of the session. Source: docs/decisions.md, 18.1, 47.1.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import { type AmountKey, amountLengthMax, amountMax } from "../sessions/totals.ts";
import type { UsageKey } from "./fields.ts";

type Fragment = PendingQuery<Row[]>;

/** White space as JavaScript has it, in every locale, unlike Postgres' own class. */
const space =
  String.raw`[ \t\n\r\f\v\u00a0\u1680\u2000-\u200a` +
  String.raw`\u2028\u2029\u202f\u205f\u3000\ufeff]*`;
const number = String.raw`[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?0*[0-9]{1,2})?`;

/**
 * Decimal text that Postgres reads as a double, with no exponent that leads out of the range. What
 * `totals.ts` reads beyond that is too large or next to zero.
 */
const decimalPattern = `^${space}${number}${space}$`;

/**
 * Returns the event's own number; else the sum over the session, or the cost by the price table.
 * Needs `totals`, the totals of the event's session, unless no event is a session.
 */
export function usageSql(sql: Sql, key: UsageKey, hasSessions: boolean): Fragment {
  const total = hasSessions ? totalSql(sql, key) : sql`null`;
  if (key !== "cost") {
    return sql`coalesce(${countSql(sql, key)}, ${total}, ${derivedSql(sql, key)})`;
  }
  return sql`coalesce(${sentCostSql(sql)}, ${total}, ${estimateSql(sql)})`;
}

/** Returns the cost of an event by the price table; null if its sender gives one. */
export function estimatedCostSql(sql: Sql): Fragment {
  return sql`case when ${sentCostSql(sql)} is null then ${estimateSql(sql)} end`;
}

function sentCostSql(sql: Sql): Fragment {
  return amountSql(sql, "cost", sql`abs(amount) <= ${amountMax}`);
}

function estimateSql(sql: Sql): Fragment {
  return sql`case when jsonb_typeof(e.cost_estimate -> 'cost') = 'number'
    then (e.cost_estimate -> 'cost')::double precision end`;
}

/** Returns the count of an event without the key: of other keys. */
function derivedSql(sql: Sql, key: Exclude<UsageKey, "cost">): Fragment {
  switch (key) {
    case "prompt_tokens":
      return countSql(sql, "input_tokens");
    case "completion_tokens":
      return countSql(sql, "output_tokens");
    case "total_tokens": {
      const [prompt, completion] = (["prompt_tokens", "completion_tokens"] as const).map(
        (part) => sql`coalesce(${countSql(sql, part)}, ${derivedSql(sql, part)})`,
      );
      return sql`(
        select case when prompt is null then completion
          else prompt + coalesce(completion, 0) end
        from (select ${prompt ?? sql`null`} as prompt, ${completion ?? sql`null`} as completion
          offset 0) as parts)`;
    }
  }
}

function countSql(sql: Sql, key: AmountKey): Fragment {
  return amountSql(sql, key, sql`amount between 0 and ${amountMax} and floor(amount) = amount`);
}

/** Returns the number or decimal text of a key of `metadata`; null if it is not of the kind. */
function amountSql(sql: Sql, key: AmountKey, isOfTheKind: Fragment): Fragment {
  // Without `offset 0` Postgres looks the value up once for each use.
  return sql`(
    select case when ${isOfTheKind} then amount end
    from (
      select case jsonb_typeof(value)
        when 'number' then value::double precision
        when 'string' then case
          when octet_length(value #>> '{}') <= ${amountLengthMax}::integer
            and value #>> '{}' ~ ${decimalPattern}::text
            -- A cast does not trim a no-break space.
            then substring(value #>> '{}' from ${number}::text)::double precision end
        end as amount
      from (select e.metadata -> ${key}::text as value offset 0) as found
      offset 0
    ) as amounts)`;
}

function totalSql(sql: Sql, key: UsageKey): Fragment {
  return key === "cost"
    ? sql`case when totals.num_costs > 0 then totals.cost::double precision end`
    : sql`totals.${sql(key)}::double precision`;
}

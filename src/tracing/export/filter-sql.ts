// SQL for conditions: parameterised fragments over `events as e`. Every value from a request is a
// parameter; columns and buckets come from the fixed tables below. Source: docs/decisions.md, 16.

import type { Fragment, Sql } from "../../postgres/database.ts";
import { assertNever } from "../../base/errors.ts";
import type { Bucket } from "../events/event.ts";
import { escapeJson, escapeText } from "../events/postgres-text.ts";
import { anyItem, type Path } from "../fields/path.ts";
import type { Condition, Target, Test } from "./condition.ts";
import { containsInJson, timeInJson } from "./json-sql.ts";

/** SQL of each filterable column: text, number, boolean, microseconds or text[]. */
export type ColumnSql = Readonly<Record<string, (sql: Sql) => Fragment>>;

/** SQL of the event columns that filter.ts names. */
export const eventColumnSql: ColumnSql = {
  event_id: (sql) => sql`e.event_id`,
  session_id: (sql) => sql`e.session_id`,
  // Readers see the session as the parent of an event without one (docs/decisions.md, 4).
  parent_id: (sql) => sql`coalesce(e.parent_id, nullif(e.session_id, e.event_id))`,
  project_id: (sql) => sql`e.project_id::text`,
  event_type: (sql) => sql`e.event_type`,
  event_name: (sql) => sql`e.event_name`,
  source: (sql) => sql`e.source`,
  error: (sql) => sql`e.error`,
  start_time: (sql) => sql`e.start_time_us`,
  end_time: (sql) => sql`e.end_time_us`,
  // The duration that was sent, else the one that readers see (event-message.ts, `durationOf`).
  duration: (sql) => sql`coalesce(e.duration_ms, case when e.end_time_us is not null
    then greatest(e.end_time_us - e.start_time_us, 0)::double precision / 1000 end)`,
  children_ids: (sql) => sql`e.children_ids`,
  // Name, error, inputs and outputs as one text, for search (docs/decisions.md, 16).
  any_text: (sql) => sql`concat_ws(' ', e.event_name, e.error, e.inputs::text, e.outputs::text)`,
};

const bucketSql: Readonly<Record<Bucket, (sql: Sql) => Fragment>> = {
  config: (sql) => sql`e.config`,
  inputs: (sql) => sql`e.inputs`,
  outputs: (sql) => sql`e.outputs`,
  metadata: (sql) => sql`e.metadata`,
  metrics: (sql) => sql`e.metrics`,
  feedback: (sql) => sql`e.feedback`,
  user_properties: (sql) => sql`e.user_properties`,
};

/** Returns `and …` for each condition, or nothing if there are none. */
export function conditionsSql(
  sql: Sql,
  conditions: readonly Condition[],
  columns: ColumnSql = eventColumnSql,
): Fragment {
  let all = sql``;
  for (const condition of conditions) {
    const holds = targetSql(sql, condition.target, condition.test, columns);
    all = condition.negated ? sql`${all} and (${holds}) is not true` : sql`${all} and (${holds})`;
  }
  return all;
}

/** Returns whether an index other than the one on start times serves some condition. */
export function hasOwnIndex(conditions: readonly Condition[]): boolean {
  return conditions.some(({ target, test, negated }) => {
    if (negated || test.kind !== "equals") return false;
    if (target.kind === "column") return target.name === "session_id" || target.name === "event_id";
    return target.bucket === "metadata" && target.paths.every(isContainable);
  });
}

function targetSql(sql: Sql, target: Target, test: Test, columns: ColumnSql): Fragment {
  if (target.kind === "bucket") return bucketTestSql(sql, target.bucket, target.paths, test);
  const column = columns[target.name]?.(sql);
  if (column === undefined) throw new Error(`no SQL for column ${target.name}`);
  return target.holds === "list"
    ? listTestSql(sql, column, test)
    : columnTestSql(sql, column, test);
}

function columnTestSql(sql: Sql, column: Fragment, test: Test): Fragment {
  switch (test.kind) {
    case "present":
      return sql`${column} is not null`;
    case "equals":
      if (typeof test.value === "string") return sql`${column} = ${escapeText(test.value)}`;
      if (typeof test.value === "boolean") return sql`${column} = ${test.value}`;
      return sql`${column} = ${String(test.value)}::text::double precision`;
    case "contains":
      return sql`strpos(lower(${column}), lower(${escapeText(test.text)})) > 0`;
    case "above":
      return sql`${column} > ${String(test.bound)}::text::double precision`;
    case "below":
      return sql`${column} < ${String(test.bound)}::text::double precision`;
    case "during":
      return sql`${column} >= ${test.instant.fromUs} and ${column} < ${test.instant.toUs}`;
    case "after":
      return sql`${column} >= ${test.instant.toUs}`;
    case "before":
      return sql`${column} < ${test.instant.fromUs}`;
    default:
      return assertNever(test);
  }
}

function listTestSql(sql: Sql, column: Fragment, test: Test): Fragment {
  switch (test.kind) {
    case "present":
      return sql`cardinality(${column}) > 0`;
    case "equals":
      return sql`${escapeText(String(test.value))} = any(${column})`;
    case "contains":
      return sql`exists (
        select 1
        from unnest(${column}) as member (id)
        where strpos(lower(member.id), lower(${escapeText(test.text)})) > 0)`;
    default:
      throw new Error(`a list has no ${test.kind} test`);
  }
}

/** Maximum length of the column `model`, which migration 0002 derives from `config.model`. */
const modelLengthMax = 256;

/**
 * Returns the model that the test compares with, if the indexed column `model` can answer the test.
 */
function modelOf(bucket: Bucket, [path, ...others]: readonly Path[], test: Test) {
  const isModel = bucket === "config" && path?.length === 1 && path[0] === "model";
  if (!isModel || others.length > 0 || test.kind !== "equals") return undefined;
  if (typeof test.value !== "string") return undefined;
  const model = escapeText(test.value);
  return model.length <= modelLengthMax ? model : undefined;
}

function bucketTestSql(sql: Sql, bucket: Bucket, paths: readonly Path[], test: Test): Fragment {
  const model = modelOf(bucket, paths, test);
  if (model !== undefined) return sql`e.model = ${model}`;
  const json = bucketSql[bucket](sql);
  const exact: Path[] = paths.filter((path) => !path.includes(anyItem));
  const anywhere = paths.filter((path) => path.includes(anyItem));
  const ways = anywhere.map((path) => itemsTestSql(sql, json, path, test));
  if (exact.length > 0) ways.unshift(exactTestSql(sql, json, exact as string[][], test));
  return ways.reduce((left, right) => sql`${left} or ${right}`);
}

/** Returns the JSON value of the first path in a bucket that is present. */
export function pathValueSql(
  sql: Sql,
  bucket: Bucket,
  paths: readonly (readonly string[])[],
): Fragment {
  return firstValueSql(sql, bucketSql[bucket](sql), paths);
}

function firstValueSql(sql: Sql, json: Fragment, paths: readonly (readonly string[])[]): Fragment {
  const values = paths.map((path) =>
    // An empty bucket counts as absent.
    path.length === 0 ? sql`nullif(${json}, '{}'::jsonb)` : valueSql(sql, json, path),
  );
  const [first, ...others] = values;
  if (first === undefined) throw new Error("a name has no path");
  return others.length === 0
    ? first
    : sql`coalesce(${values.reduce((left, right) => sql`${left}, ${right}`)})`;
}

/** Tests the value of the first path that is present. */
function exactTestSql(sql: Sql, json: Fragment, paths: readonly string[][], test: Test): Fragment {
  const value = firstValueSql(sql, json, paths);
  if (test.kind !== "equals" || !paths.every(isContainable)) return jsonTestSql(sql, value, test);
  // For one path, containment is equivalent, and the index on metadata serves it.
  const contained = paths
    .map((path) => sql`${json} @> ${jsonText(nest(path, test.value))}::text::jsonb`)
    .reduce((left, right) => sql`${left} or ${right}`);
  if (paths.length === 1) return contained;
  return sql`(${contained}) and ${jsonTestSql(sql, value, test)}`;
}

/**
 * Returns false for a key that looks like a number: it may be an array position, which containment
 * cannot express.
 */
function isContainable(path: Path): boolean {
  return path.length > 0 && path.every((key) => key !== anyItem && !/^[+-]?\d+$/.test(key));
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => Object.fromEntries([[key, inner]]), value);
}

/** Returns SQL that is true if the test holds for any of the values in an array. */
function itemsTestSql(sql: Sql, json: Fragment, path: Path, test: Test): Fragment {
  const star = path.indexOf(anyItem);
  if (star === -1) return jsonTestSql(sql, valueSql(sql, json, path as string[]), test);
  const array = valueSql(sql, json, path.slice(0, star) as string[]);
  return sql`exists (
    select 1
    from jsonb_array_elements(
      case jsonb_typeof(${array}) when 'array' then ${array} else '[]'::jsonb end) as item (value)
    where ${itemsTestSql(sql, sql`item.value`, path.slice(star + 1), test)})`;
}

function valueSql(sql: Sql, json: Fragment, path: readonly string[]): Fragment {
  return sql`${json} #> ${path.map(escapeText)}::text[]`;
}

function jsonTestSql(sql: Sql, value: Fragment, test: Test): Fragment {
  switch (test.kind) {
    case "present":
      return sql`(${value}) <> 'null'::jsonb`;
    case "equals":
      return sql`(${value}) = ${jsonText(test.value)}::text::jsonb`;
    case "contains":
      return containsInJson(sql, value, escapeText(test.text));
    case "above":
      return numberTestSql(sql, value, sql`> ${String(test.bound)}::text::numeric`);
    case "below":
      return numberTestSql(sql, value, sql`< ${String(test.bound)}::text::numeric`);
    case "during":
      return sql`${timeInJson(sql, value)} >= ${test.instant.fromUs}
        and ${timeInJson(sql, value)} < ${test.instant.toUs}`;
    case "after":
      return sql`${timeInJson(sql, value)} >= ${test.instant.toUs}`;
    case "before":
      return sql`${timeInJson(sql, value)} < ${test.instant.fromUs}`;
    default:
      return assertNever(test);
  }
}

// The `case` guards the cast, which fails on values that are not numbers.
function numberTestSql(sql: Sql, value: Fragment, comparison: Fragment): Fragment {
  return sql`case jsonb_typeof(${value})
    when 'number' then (${value})::numeric ${comparison} else false end`;
}

function jsonText(value: unknown): string {
  return escapeJson(JSON.stringify(value));
}

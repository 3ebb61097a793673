// The tools of `waggle mcp`: each is one call of the public API, so it can do what its key may.

import { z } from "zod";
import { filterOperators } from "../../tracing/export/filter.ts";
import type { ServiceCall } from "../service-client.ts";

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Its own arguments; each tool has those of `readingInput` as well. */
  readonly input: z.ZodObject;
  /** Returns the call for an input that has been checked. */
  readonly toCall: (input: never) => ServiceCall;
};

/** Types the input of `toCall` by the schema. */
function tool<Input extends z.ZodObject>(
  definition: Omit<Tool, "input" | "toCall"> & {
    readonly input: Input;
    readonly toCall: (input: z.infer<Input>) => ServiceCall;
  },
): Tool {
  return definition;
}

const filters = z
  .array(
    z.strictObject({
      field: z
        .string()
        .describe(
          "A column (event_name, event_type, error, session_id, …) or a path such as metadata.user",
        ),
      operator: z.enum(filterOperators),
      value: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
    }),
  )
  .optional()
  .describe("All must hold");

const range = {
  from: z.iso.datetime({ offset: true }).optional().describe("Earliest start, RFC 3339"),
  to: z.iso.datetime({ offset: true }).optional().describe("Latest start, RFC 3339"),
};

/** Returns the Unix milliseconds of a time. */
function toMs(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

const id = z.string().min(1);
const encode = encodeURIComponent;

export const tools: readonly Tool[] = [
  tool({
    name: "list_fields",
    title: "List fields",
    description:
      "Lists the fields that the project's events have, with their types. Filters use their names.",
    input: z.strictObject({}),
    toCall: () => ({ method: "GET", path: "/v1/events/schema" }),
  }),
  tool({
    name: "search_events",
    title: "Search events",
    description:
      "Finds events (steps of sessions: model calls, tools, chains), newest first. The answer " +
      "has the exact number of all that match as `count`, and `next_cursor` if there are more.",
    input: z.strictObject({
      filters,
      ...range,
      fields: z
        .array(z.string())
        .optional()
        .describe(
          "Fields to return; without it a short summary. Add inputs and outputs to read texts",
        ),
      limit: z.int().min(1).max(100).default(20),
      cursor: z.string().optional().describe("`next_cursor` of the page before"),
    }),
    toCall: ({ fields = summaryFields, filters: given = [], from, to, ...page }) => ({
      method: "POST",
      path: "/v1/events/search",
      body: {
        filters: given,
        dateRange: { $gte: toMs(from), $lte: toMs(to) },
        projections: fields,
        ...page,
      },
    }),
  }),
  tool({
    name: "read_session",
    title: "Read a session",
    description:
      "Returns the events of one session in the order of their start: parents, names, types, " +
      "times, errors, costs and tokens, without payloads, and `next_cursor` if there are more. " +
      "read_events reads payloads.",
    input: z.strictObject({
      session_id: id,
      limit: z.int().min(1).max(1_000).default(200),
      cursor: z.string().optional().describe("`next_cursor` of the page before"),
    }),
    toCall: ({ session_id, ...query }) => ({
      method: "GET",
      path: `/v1/sessions/${encode(session_id)}/skeleton`,
      query,
    }),
  }),
  tool({
    name: "read_events",
    title: "Read events",
    description:
      "Returns whole events by their ids, with inputs, outputs, metadata and feedback; ids that " +
      "the project does not have are left out.",
    input: z.strictObject({
      event_ids: z.array(id).min(1).max(20),
      fields: z.array(z.string()).optional().describe("Fields to return, such as outputs"),
    }),
    toCall: ({ event_ids, fields }) => ({
      method: "POST",
      path: "/v1/events/get",
      body: { event_ids, projections: fields },
    }),
  }),
  tool({
    name: "list_runs",
    title: "List experiment runs",
    description:
      "Lists experiment runs, newest first, with their status and dataset, and `next_cursor` if " +
      "there are more.",
    input: z.strictObject({
      name: z.string().optional().describe("Only runs whose name contains this"),
      limit: z.int().min(1).max(100).default(20),
      cursor: z.string().optional().describe("`next_cursor` of the page before"),
    }),
    toCall: (query) => ({ method: "GET", path: "/v1/runs", query }),
  }),
  tool({
    name: "compare_runs",
    title: "Compare two experiment runs",
    description:
      "Compares the metrics of two runs over the datapoints that both have: improved, degraded " +
      "and same, with the paired test of the difference.",
    input: z.strictObject({ new_run_id: id, old_run_id: id }),
    toCall: ({ new_run_id, old_run_id }) => ({
      method: "GET",
      path: `/v1/runs/${encode(new_run_id)}/compare-with/${encode(old_run_id)}`,
    }),
  }),
  tool({
    name: "list_metrics",
    title: "List metrics",
    description:
      "Lists the project's metrics (evaluators) with their ids and settings, by name, and " +
      "`next_cursor` if there are more.",
    input: z.strictObject({
      limit: z.int().min(1).max(1_000).default(100),
      cursor: z.string().optional().describe("`next_cursor` of the page before"),
    }),
    toCall: (query) => ({ method: "GET", path: "/v1/metrics", query }),
  }),
  tool({
    name: "explain_score",
    title: "Explain a score",
    description:
      "Says why a metric scored an event as it did, failed on it, waits, or does not run on it.",
    input: z.strictObject({ metric_id: id, event_id: id }),
    toCall: ({ metric_id, event_id }) => ({
      method: "GET",
      path: `/v1/metrics/${encode(metric_id)}/events/${encode(event_id)}/why`,
    }),
  }),
];

const summaryFields = ["event_name", "event_type", "session_id", "start_time", "duration", "error"];

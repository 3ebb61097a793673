// What the palette finds in the project: prompts, datasets, evaluators, dashboards, alerts, queues,
// experiments and sessions by name or id, and events by id. Loads with the first words, since it
// knows the services.

import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { useQueries } from "@tanstack/react-query";
import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import { Command as Primitive } from "cmdk";
import { useEffect } from "react";
import { AlertService } from "../../../../gen/waggle/v1/alert_pb.js";
import { ConfigurationService } from "../../../../gen/waggle/v1/configuration_pb.js";
import { DashboardService } from "../../../../gen/waggle/v1/dashboard_pb.js";
import { DatasetService } from "../../../../gen/waggle/v1/dataset_pb.js";
import { ExportService } from "../../../../gen/waggle/v1/export_pb.js";
import { MetricService } from "../../../../gen/waggle/v1/metric_pb.js";
import { QueueService } from "../../../../gen/waggle/v1/queue_pb.js";
import { RunService } from "../../../../gen/waggle/v1/run_pb.js";
import { SessionService } from "../../../../gen/waggle/v1/session_pb.js";
import { ApiError } from "../api/errors.ts";
import { rpcKey } from "../api/query.ts";
import { callRpc } from "../api/transport.ts";
import { type FilterRow, toMessage } from "../design/filters.ts";
import { formatTime } from "../design/format.ts";
import { useSettled } from "../design/use-settled.ts";

export type PaletteItemsProps = {
  readonly projectId: string;
  readonly typed: string;
  readonly hasCommands: boolean;
  readonly onClose: () => void;
  /** Called with a note about the search; empty where there is none. */
  readonly onNote: (note: string) => void;
};

type Item = { readonly id: string; readonly name: string; readonly hint?: string };

/** A kind of items, with the words that ask the service for them. */
type Kind = {
  readonly group: string;
  /** Whether the whole list is read at once, and searched here. */
  readonly isWhole?: boolean;
  /** Returns the question, or undefined where the words cannot be of this kind. */
  readonly ask: (words: string) => Question | undefined;
  /** Returns the address of an item below that of the project. */
  readonly toPage: (item: Item) => { readonly path: string; readonly search?: object };
};

type Question = {
  /** Key of the answer, without the project. */
  readonly toKey: (projectId: string) => readonly unknown[];
  readonly read: (projectId: string, signal: AbortSignal) => Promise<unknown>;
  readonly toItems: (answer: unknown) => readonly Item[];
};

const shownMax = 5;
const settleMs = 200;

/** The most that one call answers. */
const listedMax = 1_000;

export function PaletteItems(props: PaletteItemsProps) {
  const { projectId, typed, hasCommands, onClose, onNote } = props;
  const words = typed.trim();
  const settled = useSettled(words, settleMs);
  const answers = useAnswers(projectId, settled);
  const navigate = useNavigate();
  const open = (kind: Kind, item: Item): void => {
    onClose();
    const { path, search = {} } = kind.toPage(item);
    void navigate({ to: `/app/p/${projectId}/${path}`, search } as NavigateOptions);
  };
  const groups = answers.map(({ kind, items }) => ({ kind, items: bestOf(items, words) }));
  // The first item is chosen as it appears: none comes above it later, so the lists come together.
  const isComplete = answers.every(({ kind, isLoading }) => kind.isWhole !== true || !isLoading);
  const found = isComplete ? groups.filter(({ items }) => items.length > 0) : [];
  const failed = answers.filter(({ isFailed }) => isFailed).map(({ kind }) => kind.group);
  const isPending = settled !== words || answers.some((answer) => answer.isPending);
  const note = noteOf({ isPending, failed, hasAny: hasCommands || found.length > 0 });
  useEffect(() => {
    onNote(note);
    return () => onNote("");
  }, [note, onNote]);
  return found.map(({ kind, items }) => (
    <Primitive.Group key={kind.group} heading={kind.group}>
      {items.map((item) => (
        <Primitive.Item
          key={item.id}
          value={`${kind.group} ${item.id}`}
          onSelect={() => open(kind, item)}
        >
          <span className="truncate">{item.name}</span>
          {item.hint === undefined ? null : <span className="palette-hint">{item.hint}</span>}
        </Primitive.Item>
      ))}
    </Primitive.Group>
  ));
}

type State = {
  readonly isPending: boolean;
  readonly failed: readonly string[];
  readonly hasAny: boolean;
};

function noteOf({ isPending, failed, hasAny }: State): string {
  if (isPending) return "Looking in the project…";
  if (failed.length > 0) return `Could not be read: ${failed.join(", ")}. Try again in a moment.`;
  return hasAny ? "" : "No command and nothing in the project has these words.";
}

/** Asks for each kind. */
function useAnswers(projectId: string, words: string) {
  const asked = kinds.flatMap((kind) => {
    const question = words === "" ? undefined : kind.ask(words);
    return question ? [{ kind, question }] : [];
  });
  const answers = useQueries({
    queries: asked.map(({ question }) => ({
      queryKey: question.toKey(projectId),
      queryFn: ({ signal }: { signal: AbortSignal }) => question.read(projectId, signal),
    })),
  });
  return asked.map(({ kind, question }, index) => {
    const { data, error, isFetching, isLoading } = answers[index] ?? {};
    return {
      kind,
      items: data === undefined ? [] : question.toItems(data),
      isLoading: isLoading === true,
      isPending: isFetching === true,
      // A refusal, such as to a person who may not list a kind, leaves the others.
      isFailed: error instanceof ApiError && error.isTransient,
    };
  });
}

function question<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  toItems: (answer: MessageShape<O>) => readonly Item[],
): Question {
  return {
    toKey: (projectId) => rpcKey(method, projectId, input),
    read: (projectId, signal) => callRpc(method, input, { projectId, signal }),
    toItems: (answer) => toItems(answer as MessageShape<O>),
  };
}

function listed(group: string, path: string, whole: Question): Kind {
  return {
    group,
    isWhole: true,
    ask: () => whole,
    toPage: ({ id }) => ({ path: `${path}/${id}` }),
  };
}

/** The newest sessions that meet a condition, with the time at which each began. */
function sessionsWith(filter: FilterRow): Question {
  const input = { filters: [toMessage(filter)], limit: shownMax };
  return question(SessionService.method.listSessions, input, ({ sessions }) =>
    sessions.map(({ sessionId, eventName, startTime }) => ({
      id: sessionId,
      name: eventName,
      ...(startTime !== undefined && { hint: formatTime(startTime) }),
    })),
  );
}

/** The event of an id; a session's own event is among the sessions. */
function eventOf(id: string): Question {
  const input = { eventIds: [id], projections: ["session_id", "event_name"] };
  return question(ExportService.method.getEvents, input, ({ events }) =>
    events
      .filter(({ eventId, sessionId }) => eventId !== sessionId)
      .map(({ eventId = "", eventName = "", sessionId = "" }) => ({
        id: eventId,
        name: eventName,
        hint: sessionId,
      })),
  );
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const traceId = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

/** The session of an OpenTelemetry trace has the trace's id, written as a UUID. */
function toSessionId(words: string): string {
  return traceId.test(words) ? words.toLowerCase().replace(traceId, "$1-$2-$3-$4-$5") : words;
}

const whole = { limit: listedMax };
const isId = (words: string): boolean => !/\s/.test(words);
const toSession: Kind["toPage"] = ({ id }) => ({ path: `traces/${encodeURIComponent(id)}` });

const kinds: readonly Kind[] = [
  listed(
    "Prompts",
    "prompts",
    question(ConfigurationService.method.listConfigurations, {}, (a) => a.configurations),
  ),
  listed(
    "Datasets",
    "datasets",
    question(DatasetService.method.listDatasets, whole, (a) => a.datasets),
  ),
  listed(
    "Evaluators",
    "evaluators",
    question(MetricService.method.listMetrics, {}, (a) => a.metrics),
  ),
  {
    ...listed(
      "Dashboards",
      "charts",
      question(DashboardService.method.listDashboards, {}, (a) => a.data),
    ),
    toPage: ({ id }) => ({ path: "charts", search: { dashboard: id } }),
  },
  listed(
    "Alerts",
    "alerts",
    question(AlertService.method.listAlerts, {}, (a) => a.data),
  ),
  listed(
    "Queues",
    "queues",
    question(QueueService.method.listQueues, {}, (a) => a.queues),
  ),
  {
    group: "Experiments",
    ask: (words) =>
      question(
        RunService.method.listRuns,
        uuid.test(words) ? { runIds: [words] } : { name: words, limit: shownMax },
        (answer) => answer.evaluations.map(({ runId, name = runId }) => ({ id: runId, name })),
      ),
    toPage: ({ id }) => ({ path: `experiments/${id}` }),
  },
  {
    group: "Sessions",
    ask: (words) => sessionsWith({ field: "event_name", operator: "contains", value: words }),
    toPage: toSession,
  },
  {
    group: "Session of this id",
    ask: (words) =>
      isId(words)
        ? sessionsWith({ field: "session_id", operator: "is", value: toSessionId(words) })
        : undefined,
    toPage: toSession,
  },
  {
    group: "Event of this id",
    ask: (words) => (isId(words) ? eventOf(words) : undefined),
    toPage: ({ id, hint = "" }) => ({
      path: `traces/${encodeURIComponent(hint)}`,
      search: { event: id },
    }),
  },
];

/** Returns the items of the words: those of the very name or id, then those that begin so. */
function bestOf(items: readonly Item[], words: string): readonly Item[] {
  return items
    .map((item) => ({ item, rank: rankOf(item, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((one, other) => other.rank - one.rank)
    .slice(0, shownMax)
    .map(({ item }) => item);
}

function rankOf({ id, name }: Item, words: string): number {
  const [text, sought] = [name.toLowerCase(), words.toLowerCase()];
  if (text === sought || id === words || id === toSessionId(words)) return 3;
  if (text.startsWith(sought)) return 2;
  return text.includes(sought) ? 1 : 0;
}

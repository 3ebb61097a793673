// The field catalogue: every (event type, field path) of a project's events, with the kinds of its
// values. Source: docs/decisions.md, 16 and 17.

import type { ProjectId } from "../../base/ids.ts";
import { isEmpty } from "../../base/json.ts";
import { fieldsOfProjectMax } from "../../base/tenant-limits.ts";
import type { Database, ReaderOptions, Sql } from "../../postgres/database.ts";
import {
  type Bucket,
  bucketOf,
  buckets,
  type EventType,
  isSession,
  type StoredEvent,
} from "../events/event.ts";
import { formatKinds, kinds } from "./kind.ts";
import {
  addKnown,
  createKnownField,
  createWalk,
  findKnown,
  findUnseen,
  type KnownField,
} from "./known-fields.ts";
import { formatName, parsePath, type Path } from "./path.ts";
import * as store from "./store.ts";

/** A kind of value at a path that is not known to be recorded. */
export type FieldSighting = {
  readonly projectId: string;
  readonly eventType: string;
  /** Stored path (path.ts). */
  readonly field: string;
  readonly types: number;
  /**
   * An event with so many fields that it can only be judged with the recorded fields loaded:
   * `record` walks it again. `field` is "" then.
   */
  readonly wideEvent?: CataloguedEvent;
};

export type RecordedField = {
  readonly path: Path;
  readonly eventType: string;
  readonly types: number;
};

export type ProjectFields = {
  /** Fields ordered by path and event type. */
  readonly fields: readonly RecordedField[];
  /**
   * False if the project has more fields than the catalogue records, so that any field may exist
   * unrecorded. Fields inside an `open` object (kind.ts) may always exist unrecorded.
   */
  readonly isComplete: boolean;
};

export type SchemaField = {
  readonly name: string;
  readonly eventType: string;
  readonly type: string;
};

/** Fields of an event that the walk reads. */
export type CataloguedEvent = { readonly [B in Bucket]?: StoredEvent[B] } & {
  readonly event_id?: string;
  readonly session_id?: string;
  readonly event_type: EventType;
  readonly children_ids?: readonly string[];
  readonly error?: string | null;
  readonly parent_id?: string | null;
  readonly start_time: number;
  readonly end_time?: number | null;
  readonly duration?: number | null;
};

/** The call that reads. */
export type FieldsReader = Pick<ReaderOptions, "organization" | "signal">;

export type FieldCatalogue = {
  /**
   * Returns the parts of an event that are not known to be recorded; empty for a known shape. Runs
   * no SQL.
   */
  unseen(projectId: string, event: CataloguedEvent): FieldSighting[];
  /** Records sightings of one project in the caller's transaction. Duplicates are allowed. */
  record(sql: Sql, projectId: string, sightings: readonly FieldSighting[]): Promise<void>;
  /**
   * Remembers sightings as recorded, after the transaction that recorded them. Inside an outer
   * transaction, which may still roll back, it makes the project's next new field reload them
   * instead.
   */
  confirm(sightings: readonly FieldSighting[]): void;
  /** Returns the currently recorded fields of a project. */
  fieldsOf(projectId: ProjectId, reader?: FieldsReader): Promise<ProjectFields>;
  /** Returns the catalogue as shown by GET /v1/events/schema, by name and event type. */
  schema(projectId: ProjectId, reader?: FieldsReader): Promise<SchemaField[]>;
};

export type FieldCatalogueOptions = {
  readonly database: Database;
  /** Maximum fields of one project; keys that are ids would fill the table without end. */
  readonly fieldsMax?: number;
};

/** Maximum fields in memory for all projects; each takes about 200 bytes. */
const knownFieldsMax = 200_000;

/** Columns that every event has, with the kinds of their values. */
const fixedColumns: readonly (readonly [string, number])[] = [
  ["event_id", kinds.string],
  ["event_name", kinds.string],
  ["event_type", kinds.string],
  ["project_id", kinds.string],
  ["session_id", kinds.string],
  ["source", kinds.string],
  ["start_time", kinds.datetime],
];

type KnownType = {
  readonly buckets: Readonly<Record<Bucket, KnownField>>;
  readonly columns: Map<string, number>;
};
type KnownProject = {
  readonly types: Map<string, KnownType>;
  nodes: number;
  isLoaded: boolean;
  /** True if no new field is recorded; new kinds of recorded fields still are. */
  isFull: boolean;
};

/** Creates the catalogue of a database. */
export function createFieldCatalogue(options: FieldCatalogueOptions): FieldCatalogue {
  const { database, fieldsMax = fieldsOfProjectMax } = options;
  const projects = new Map<string, KnownProject>();

  function knownProject(projectId: string): KnownProject {
    let project = projects.get(projectId);
    if (project === undefined) {
      project = { types: new Map(), nodes: 0, isLoaded: false, isFull: false };
      projects.set(projectId, project);
    }
    return project;
  }

  // Drops the oldest projects first; they are loaded again at their next event.
  function forgetSurplus(keepId: string): void {
    let nodes = 0;
    for (const project of projects.values()) nodes += project.nodes;
    for (const [projectId, project] of projects) {
      if (nodes <= knownFieldsMax) return;
      if (projectId === keepId) continue;
      projects.delete(projectId);
      nodes -= project.nodes;
    }
  }

  async function load(sql: Sql, projectId: string, project: KnownProject): Promise<void> {
    if (project.isLoaded) return;
    for (const row of await store.listCommittedFields(sql, projectId, fieldsMax)) {
      remember(project, row.event_type, row.field, row.types);
    }
    project.isLoaded = true;
    forgetSurplus(projectId);
  }

  async function fieldsOf(projectId: ProjectId, reader: FieldsReader = {}): Promise<ProjectFields> {
    const { organization, signal } = reader;
    const read = database.reader({ owner: projectId, organization, signal });
    const rows = await store.listFields(read, projectId, fieldsMax);
    return {
      fields: rows.map((row) => ({
        path: parsePath(row.field),
        eventType: row.event_type,
        types: row.types,
      })),
      isComplete: rows.length < fieldsMax,
    };
  }

  function unseen(projectId: string, event: CataloguedEvent): FieldSighting[] {
    const project = knownProject(projectId);
    const eventType = event.event_type;
    const known = knownType(project, eventType);
    const walk = createWalk(project.isFull);
    findUnseenColumns(event, known, walk.found);
    for (const bucket of buckets) {
      const value = event[bucket];
      // An empty bucket counts as absent.
      if (value === undefined || isEmpty(value)) continue;
      findUnseen(value, known.buckets[bucket], walk);
    }
    if (walk.hasCut && !project.isLoaded) {
      return [{ projectId, eventType, field: "", types: 0, wideEvent: event }];
    }
    const sightings: FieldSighting[] = [];
    for (const [field, types] of walk.found) {
      sightings.push({ projectId, eventType, field, types });
    }
    return sightings;
  }

  return {
    unseen,

    async record(sql, projectId, given) {
      const project = knownProject(projectId);
      await load(sql, projectId, project);
      const sightings = given.flatMap((sighting) =>
        sighting.wideEvent === undefined ? sighting : unseen(projectId, sighting.wideEvent),
      );
      const changed: FieldSighting[] = [];
      const added: FieldSighting[] = [];
      for (const sighting of distinct(sightings)) {
        const types = recordedTypes(project, sighting);
        if (types === undefined) added.push(sighting);
        else if ((sighting.types & ~types) !== 0) changed.push(sighting);
      }
      if (added.length > 0) {
        const room = fieldsMax - (await store.countFields(sql, projectId));
        if (room <= 0) project.isFull = true;
        changed.push(...added.slice(0, Math.max(0, room)));
      }
      if (changed.length === 0) return;
      const rows = changed.map(({ eventType, field, types }) => ({
        event_type: eventType,
        field,
        types,
      }));
      await store.addFields(sql, projectId, rows);
    },

    confirm(sightings) {
      if (database.isInTransaction()) {
        for (const { projectId } of sightings) knownProject(projectId).isLoaded = false;
        return;
      }
      for (const sighting of sightings) {
        if (sighting.wideEvent !== undefined) continue;
        const project = knownProject(sighting.projectId);
        const isNew = recordedTypes(project, sighting) === undefined;
        // Past the limit sightings were not recorded and must not fill the memory.
        if (isNew && (project.isFull || project.nodes > 2 * fieldsMax)) continue;
        remember(project, sighting.eventType, sighting.field, sighting.types);
      }
      const [first] = sightings;
      if (first !== undefined) forgetSurplus(first.projectId);
    },

    fieldsOf,

    async schema(projectId, reader) {
      const { fields } = await fieldsOf(projectId, reader);
      return toSchema(fields);
    },
  };
}

function knownType(project: KnownProject, eventType: string): KnownType {
  let known = project.types.get(eventType);
  if (known === undefined) {
    const trees = Object.fromEntries(buckets.map((name) => [name, createKnownField(name)]));
    known = { buckets: trees as Record<Bucket, KnownField>, columns: new Map() };
    project.types.set(eventType, known);
  }
  return known;
}

function remember(project: KnownProject, eventType: string, field: string, types: number): void {
  const known = knownType(project, eventType);
  const bucket = bucketOf(field);
  if (bucket !== undefined) project.nodes += addKnown(known.buckets[bucket], field, types);
  else known.columns.set(field, (known.columns.get(field) ?? 0) | types);
}

/** Returns undefined if nothing is recorded at the path; never 0. */
function recordedTypes(project: KnownProject, sighting: FieldSighting): number | undefined {
  const known = knownType(project, sighting.eventType);
  const bucket = bucketOf(sighting.field);
  if (bucket === undefined) return known.columns.get(sighting.field);
  return findKnown(known.buckets[bucket], sighting.field)?.types || undefined;
}

function findUnseenColumns(
  event: CataloguedEvent,
  { columns }: KnownType,
  found: Map<string, number>,
): void {
  const note = (field: string, kind: number): void => {
    if (((columns.get(field) ?? 0) & kind) === 0) found.set(field, kind);
  };
  if (columns.size < fixedColumns.length) {
    for (const [field, kind] of fixedColumns) note(field, kind);
  }
  if (event.end_time != null) note("end_time", kinds.datetime);
  if (event.parent_id != null || !isSession(event)) note("parent_id", kinds.string);
  if (event.error) note("error", kinds.string);
  if (event.children_ids?.length) note("children_ids.*", kinds.string);
  const { duration, start_time, end_time } = event;
  // Readers see end minus start if no duration was sent.
  const shown = duration ?? (end_time == null ? undefined : end_time - start_time);
  if (shown !== undefined) {
    note("duration", Number.isInteger(shown) ? kinds.integer : kinds.decimal);
  }
}

function distinct(sightings: readonly FieldSighting[]): FieldSighting[] {
  const found = new Map<string, FieldSighting>();
  for (const sighting of sightings) {
    const key = `${sighting.eventType} ${sighting.field}`;
    const types = (found.get(key)?.types ?? 0) | sighting.types;
    found.set(key, { ...sighting, types });
  }
  return [...found.values()];
}

/** Merges fields of the same name: a key with dots and the same path by nesting look alike. */
function toSchema(fields: readonly RecordedField[]): SchemaField[] {
  const found = new Map<string, { name: string; eventType: string; types: number }>();
  for (const { path, eventType, types } of fields) {
    const name = formatName(path);
    const key = `${name} ${eventType}`;
    const field = found.get(key) ?? { name, eventType, types: 0 };
    field.types |= types;
    found.set(key, field);
  }
  return [...found.values()]
    .map(({ name, eventType, types }) => ({ name, eventType, type: formatKinds(types) }))
    .filter(({ type }) => type !== "");
}

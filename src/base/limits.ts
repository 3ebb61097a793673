// Limits that hold everywhere, with their reasons. Limits that an operator may change are defaults
// in config.ts. Source: docs/spec.md, "Limits"; docs/decisions.md, 15.1, 36.1.

const MB = 1_000_000;
const MIB = 1_048_576;

/** Maximum body bytes after inflating, by class (docs/decisions.md, 36.1). */
export const bodyBytesMaxDefault = {
  record: 7 * MIB,
  batch: 64 * MB,
  traces: 50 * MIB,
  other: 5 * MB,
  anonymous: 1 * MB,
  /** Health and reflection, which answer without any tenant's data. */
  open: 4_096,
} as const;

/**
 * Maximum decoded bytes of all requests and answers at once; a setting. The process needs about as
 * much again while texts are converted.
 */
export const bytesInFlightMaxDefault = 400 * MB;

/** Maximum bytes at once of callers without a key: sign-in forms, health, reflection. */
export const anonymousBytesInFlightMax = 16 * MB;

/** Part of the bytes in flight that one project or one person may hold. */
export const projectShare = 1 / 2;

/** Part that the projects of one organization may hold together; the rest is left to others. */
export const organizationShare = 3 / 4;

/** Part that requests of over 1 MB may hold together, so that small ones find room. */
export const largeRequestsShare = 0.9;

/**
 * Minimum average bytes per second of a body since its start; checked after the first stall time.
 */
export const bodyRateMin = 4_096;

/** Maximum time of a whole body, at any rate. */
export const bodyTimeoutMs = 300_000;

/** Bytes reserved for a call whose client may stream messages to it (reflection). */
export const streamedCallBytes = 16_384;

/** Maximum time of a stream of requests, as a multiple of the stall time of a body. */
export const requestStreamStalls = 2;

/** Time after which an answer is broken off if its client reads nothing. */
export const answerStallMs = 60_000;

/** Maximum levels of objects and arrays in a bucket; deeper JSON is a 400. */
export const nestingDepthMax = 128;

/**
 * Maximum nesting of messages for Protobuf readers, in binary and in JSON: a level of a bucket is
 * up to three messages (Struct, entry, Value), and the bucket is itself inside a few.
 */
export const messageDepthMax = 3 * nestingDepthMax + 32;

/**
 * Maximum events of a page of ExportEvents and sessions of a page of ListSessions; then of
 * SearchEvents.
 */
export const exportLimitMax = 7_500;
export const searchLimitMax = 1_000;

/**
 * Maximum events of a page of a skeleton, characters of a name and an error in it, and bytes that
 * one of its events counts as.
 */
export const skeletonLimitMax = 10_000;
export const skeletonTextLengthMax = 300;
export const skeletonEventBytes = 2_000;

/** Maximum ids of a call that returns events by their ids. */
export const eventIdsMax = 100;

/**
 * Maximum values of a field in an answer, events that are looked at for them, and characters of
 * one; longer ones are left out.
 */
export const fieldValuesMax = 100;
export const fieldValueEventsMax = 50_000;
export const fieldValueLengthMax = 256;

/**
 * Maximum projects that are counted for an archival, and for one in a list; events of either kind;
 * archivals of a page.
 */
export const archivalProjectsMax = 10_000;
export const listedArchivalProjectsMax = 1_000;
export const archivalEventsMax = 50_000;
export const archivalsPageMax = 50;

/** Maximum rows of the audit log that are compared with the filters of a page. */
export const auditRowsMax = 50_000;

/** Maximum events of a full tree; the skeleton and the stream have no limit. */
export const treeEventsMax = 20_000;

/**
 * Maximum bytes of one answer that is built in memory, all columns counted: a page, list, tree or
 * skeleton. Streams have no limit. An answer takes several times its bytes: as objects, messages,
 * JSON.
 */
export const answerBytesMax = 64 * MB;

/** Maximum objects and arrays in one answer: each takes more memory than its bytes. */
export const answerContainersMax = 1_000_000;

/** Bytes of an event in an answer in addition to its texts: names of fields, times, the record. */
export const eventOverheadBytes = 200;

/**
 * Maximum bytes of one event that is read alone or in a stream. Text from a body of 64 MB may be
 * longer when stored, since Postgres adds spaces to JSON and writes numbers out.
 */
export const eventReadBytesMax = 128 * MB;

/** Maximum levels of a tree: Protobuf readers in other languages stop at 100 nested messages. */
export const treeDepthMax = 64;

/**
 * Maximum objects and arrays of a JSON body, or messages of a Protobuf body; 64 MB of `{}` take 2
 * GB of memory.
 */
export const containersMax = 2_000_000;

/** Maximum texts, numbers, booleans and nulls of a body. */
export const valuesMax = 6_000_000;

/**
 * Maximum items of one list and members of one object in a request: each costs far more memory and
 * time than its bytes. Also the maximum values of a request in fields that take any value.
 */
export const listItemsMax = 100_000;

/** Maximum levels of a whole JSON body; a bucket has at most `nestingDepthMax`. */
export const bodyDepthMax = 10_000;

/** Maximum bytes of the name of an object's member, between its quotes. */
export const memberNameBytesMax = 65_536;

/**
 * Maximum length of an event's or session's name and of a source, in UTF-16 units; longer text is
 * payload.
 */
export const nameLengthMax = 10_000;

/** Maximum length of an event's error, in UTF-16 units. */
export const errorLengthMax = 1_000_000;

/** Maximum length of a key in a bucket and of an attribute's key, in UTF-16 units. */
export const keyLengthMax = 10_000;

/**
 * Maximum UTF-16 units of an event that Postgres cannot store and that are escaped: NUL, lone
 * surrogates and U+E000. A million of them hold the event loop for a tenth of a second.
 */
export const escapedUnitsMax = 100_000;

/**
 * Maximum values in the buckets of one event: objects, arrays and single values. Postgres takes
 * about a second for this many members of objects, and half a second for this many items of arrays.
 */
export const eventValuesMax = 500_000;

/** Maximum values in an event's metadata. Each has an index entry: together 9 MB and 0.2 s. */
export const metadataValuesMax = 100_000;

/**
 * Maximum length of the attributes of an OTLP resource and one of its scopes together, in UTF-16
 * units. They are copied into the event of every span.
 */
export const sharedAttributesBytesMax = 64_000;

/**
 * Maximum bytes of these copies in one request: ten times the spans' own size, within `least` and
 * `most`.
 */
export const copiedBytesMax = { least: 16 * MB, most: 64 * MB } as const;

/**
 * Maximum bytes of an event's chat history to which further log records add messages: each addition
 * reads and writes all of them.
 */
export const addedHistoryBytesMax = 262_144;

/**
 * Maximum bytes of one event as JSON, also when it grows by merging: the maximum of a batch's body.
 * A larger event could not be read in one piece.
 */
export const eventBytesMax = 64 * MB;

/**
 * Maximum time of a call that writes events, and of each wait of a model call for the database.
 * Archiving a project waits for this time, after which all writes admitted before have ended.
 */
export const ingestionTimeoutMs = 30_000;

/** Maximum events that one workflow runs an evaluator on: a few seconds for a typical evaluator. */
export const chunkEventsMax = 1_000;

/**
 * Maximum created keys that one call revokes with their creator: each writes an audit row, and the
 * organization's other changes wait meanwhile, for about a second. Repeating the call revokes the
 * rest.
 */
export const createdKeysRevokedMax = 10_000;

/**
 * Maximum health watches of the process. They need no key and last for hours. A client usually has
 * one, and each costs a stream and a wake-up per second.
 */
export const healthWatchesMax = 1_000;

/** Maximum health watches of one connection: a client watches the server and a few services. */
export const healthWatchesPerConnectionMax = 32;

/** Time between two checks of health watches; clients see a change within about this time. */
export const healthWatchIntervalMs = 1_000;

/**
 * Maximum age of a transaction when it commits, and maximum time between two of its statements,
 * which Postgres enforces. Together less than an hour, which charts rely on (docs/charts.md).
 */
export const transactionAgeMsMax = 1_800_000;
export const idleTransactionMsMax = 600_000;

/**
 * Maximum time between two statements of a transaction that has written events, which Postgres
 * enforces: a server that stops answering keeps the rows of sessions locked for this time, and
 * other servers' writes to these sessions wait. Its caller tries again.
 */
export const idleWriteMsMax = 10_000;

/** Maximum time of one statement in Postgres, by kind of work. Postgres enforces it. */
export const statementTimeoutsMs = {
  /** Lookups of keys and sign-ins, readiness, and the control plane. */
  callers: 5_000,
  /** Writes of events and their transactions. */
  commits: 30_000,
  /** Pages, trees, lists, single events, the schema, and each chunk of a stream. */
  reads: 30_000,
  /** Searches and counts for evaluators and backfills, which read many events at once. */
  selections: 60_000,
  /** Queries of charts. Source: docs/spec.md, "Limits". */
  charts: 20_000,
} as const;

/**
 * Maximum time of a call that is not a stream and runs no model; a client may set a shorter time.
 */
export const unaryTimeoutMs = 120_000;

/** Maximum bytes of the requests that one commit stores; a larger request has its own commit. */
export const commitGroupBytesMax = 8 * MB;

/**
 * Maximum bytes of one project's requests that wait for a commit: about ten of the largest commits.
 */
export const commitWaitingBytesOfProjectMax = 100 * MB;

/**
 * Maximum bytes of all requests that wait for a commit; a project without waiting requests is
 * admitted even past it.
 */
export const commitWaitingBytesMax = 200 * MB;

/** Maximum event streams that one project reads at once; one more is a 503. */
export const streamsOfProjectMax = 4;

/** Maximum event streams of all projects in one process: each holds a chunk of two megabytes. */
export const streamsMax = 64;

/** Maximum reads of one project that wait for their turn; one more is a 503. */
export const readsWaitingMax = 100;

/**
 * Maximum time that a read waits for its turn: longer than a typical page takes, shorter than
 * clients wait.
 */
export const readWaitMsMax = 10_000;

/** Maximum transactions of one project, person or key's scope that wait for their turn. */
export const transactionsWaitingMax = 1_000;

/** Maximum time that a transaction waits for its turn: the maximum time of a write. */
export const transactionWaitMsMax = 30_000;

/**
 * Maximum steps of chunks of code in one process, which share the places of the sandbox. Steps of
 * judges' chunks have a second limit of the same size: they wait for a model for minutes and need
 * little but memory.
 */
export const chunkStepsMax = 32;

/** Maximum concurrent model calls of judges in one process: eight for each step of a chunk. */
export const judgeCallsMax = 8 * chunkStepsMax;

/**
 * Maximum waiting model calls of judges in one process; past it the tenant with the most is
 * refused.
 */
export const judgeCallsWaitingMax = 2 * judgeCallsMax;

/**
 * Maximum backfills of one process that select events at once: each holds a connection for reads.
 */
export const backfillSelectionsMax = 2;

/**
 * Maximum backfills of one process that wait to select events; past it the tenant with the most
 * steps aside.
 */
export const backfillSelectionsWaitingMax = 8;

/** Maximum running backfills of an organization: each always has an open chunk. */
export const backfillsOfOrgMax = 16;

/**
 * Maximum characters of a filled-in prompt. No model reads more, however often the prompt uses a
 * value.
 */
export const promptCharactersMax = 4_000_000;

/**
 * Maximum bytes, as JSON, of the filters of all enabled metrics of a project: each server that
 * stores its events keeps them in memory and applies them to each event.
 */
export const projectFilterBytesMax = 1_000_000;

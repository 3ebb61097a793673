// Limits that hold everywhere, with their reasons. Those an operator may change are defaults in
// config.ts. Source: docs/spec.md, "Limits"; docs/decisions.md, 15, 36.

const MB = 1_000_000;
const MIB = 1_048_576;

/** Body bytes after inflating, by class (docs/decisions.md, 36). */
export const bodyBytesMaxDefault = {
  record: 7 * MIB,
  batch: 64 * MB,
  traces: 50 * MIB,
  other: 5 * MB,
  anonymous: 1 * MB,
  /** Services that tell nothing of any tenant: health and reflection. */
  open: 4_096,
} as const;

/**
 * Bytes that all requests and answers may hold at once, decoded; a setting. The process needs about
 * as much again while texts are converted.
 */
export const bytesInFlightMaxDefault = 400 * MB;

/** Bytes that callers without a key may hold at once: sign-in forms, health, reflection. */
export const anonymousBytesInFlightMax = 16 * MB;

/** Part of the bytes in flight that one project, or one person, may hold. */
export const projectShare = 1 / 2;

/** Part that the projects of one organization may hold together, so that others find room. */
export const organizationShare = 3 / 4;

/** Slowest transfer of a body, bytes a second since its start; asked after the first stall time. */
export const bodyRateMin = 4_096;

/** Longest time that a body may take in all, at any rate. */
export const bodyTimeoutMs = 300_000;

/**
 * Bytes that a call counts for while its client may stream messages to it, as reflection allows.
 */
export const streamedCallBytes = 16_384;

/** Longest time of such a stream, in stall times of a body. */
export const requestStreamStalls = 2;

/** Longest time that an answer waits for a client that reads nothing. */
export const answerStallMs = 60_000;

/** Levels of objects and arrays in a bucket; deeper JSON is a 400. */
export const nestingDepthMax = 128;

/**
 * Messages inside one another that Protobuf readers take, in binary and in JSON: a level of a
 * bucket is up to three (Struct, entry, Value), and a few are around it.
 */
export const messageDepthMax = 3 * nestingDepthMax + 32;

/** Largest page of ExportEvents, SearchEvents and ListSessions. */
export const exportLimitMax = 7_500;
export const searchLimitMax = 1_000;

/** Full trees past this many events are refused; the skeleton and the stream have no limit. */
export const treeEventsMax = 20_000;

/**
 * Bytes of one answer that is built in memory, all columns counted: a page, list, tree or skeleton.
 * Streams have no limit. An answer takes several times as much as objects, as messages and as JSON.
 */
export const answerBytesMax = 64 * MB;

/** Objects and arrays in one answer, each of which takes more memory than its bytes. */
export const answerContainersMax = 1_000_000;

/** Bytes that an event of an answer takes beside its texts: names of fields, times, the record. */
export const eventOverheadBytes = 200;

/**
 * Bytes of one event that is read alone or in a stream. A body of 64 MB may be stored as more text,
 * since Postgres puts spaces into JSON and writes numbers out.
 */
export const eventReadBytesMax = 128 * MB;

/** Levels of a tree; Protobuf readers in other languages stop at 100 nested messages. */
export const treeDepthMax = 64;

/**
 * Objects and arrays of a JSON body, messages of a Protobuf one; 64 MB of `{}` are 2 GB of memory.
 */
export const containersMax = 2_000_000;

/** Single values of a body: texts, numbers, booleans, nulls. */
export const valuesMax = 6_000_000;

/**
 * Items of one list in a request, and members of one object; each costs far more memory and time
 * than its bytes. Also the values of a request in fields that take any value.
 */
export const listItemsMax = 100_000;

/** Levels of a JSON body as a whole; a bucket has at most `nestingDepthMax` of them. */
export const bodyDepthMax = 10_000;

/** Longest name of an event or a session, and source, in UTF-16 units; longer text is payload. */
export const nameLengthMax = 10_000;

/** Longest error of an event, in UTF-16 units. */
export const errorLengthMax = 1_000_000;

/** Longest key of an object in a bucket, and of an attribute, in UTF-16 units. */
export const keyLengthMax = 10_000;

/**
 * Values in the buckets of one event: objects, arrays, texts, numbers and the like. Postgres takes
 * about a second for so many members of objects, and half of it for items of arrays.
 */
export const eventValuesMax = 500_000;

/** Values in an event's metadata, each of which takes an entry of its index: 9 MB, and 0.2 s. */
export const metadataValuesMax = 100_000;

/**
 * Bytes of the attributes of an OTLP resource and of a scope in it, together: they are copied into
 * the event of every span.
 */
export const sharedAttributesBytesMax = 64_000;

/**
 * Bytes of such copies in one request: ten times what its spans have themselves, at least the
 * first number and at most the second.
 */
export const copiedBytesMax = { least: 16 * MB, most: 64 * MB } as const;

/**
 * Bytes of one event as JSON, also of one that grows by merging: as many as a batch's body has. A
 * larger one could not be read in one piece.
 */
export const eventBytesMax = 64 * MB;

/** Longest time of a call that writes events; what was let in before is over by then. */
export const ingestionTimeoutMs = 30_000;

/** Events that one workflow runs an evaluator on: some seconds of usual evaluators. */
export const chunkEventsMax = 1_000;

/**
 * Maximum created keys that one call revokes with their creator: each writes an audit row, and the
 * organization's other changes wait meanwhile. The same call again goes on with the rest.
 */
export const createdKeysRevokedMax = 10_000;

/**
 * Maximum health watches of the process at once. They need no key and last for hours; one a client
 * is usual, and each costs a stream and a wake-up a second.
 */
export const healthWatchesMax = 1_000;

/** Maximum health watches of one connection; a client watches the server and a few services. */
export const healthWatchesPerConnectionMax = 32;

/** Time between two looks of health watches; a change is told within about this time. */
export const healthWatchIntervalMs = 1_000;

/** Longest time of one statement in Postgres, by the work that it belongs to; settled there. */
export const statementTimeoutsMs = {
  /** Lookups of keys and sign-ins, readiness, and the control plane. */
  callers: 5_000,
  /** Writes of events and their transactions. */
  commits: 30_000,
  /** Pages, trees, lists, single events, the schema, and each chunk of a stream. */
  reads: 30_000,
  /** Searches and counts for evaluators and backfills, which look at many events at once. */
  selections: 60_000,
} as const;

/** Longest time of a call that is no stream and runs no model; a client may set a shorter one. */
export const unaryTimeoutMs = 120_000;

/** Bytes of the requests that one commit stores; a larger request is a commit by itself. */
export const commitGroupBytesMax = 8 * MB;

/** Bytes of one project's requests that wait for a commit: some ten commits of the largest size. */
export const commitWaitingBytesOfProjectMax = 100 * MB;

/** Bytes of all requests that wait for a commit; a project with none waiting is let in past it. */
export const commitWaitingBytesMax = 200 * MB;

/** Event streams that one project reads at the same time; one more is a 503. */
export const streamsOfProjectMax = 4;

/** Event streams of all projects in one process: each holds a chunk of two megabytes. */
export const streamsMax = 64;

/** Reads of one project that wait for their turn; one more is a 503. */
export const readsWaitingMax = 100;

/** Time that a read waits for its turn: longer than usual pages take, shorter than clients wait. */
export const readWaitMsMax = 10_000;

/** Transactions of one project, or of the control plane, that wait for their turn. */
export const transactionsWaitingMax = 1_000;

/** Time that a transaction waits for its turn, the longest that a write may take at all. */
export const transactionWaitMsMax = 30_000;

/**
 * Steps of chunks of code that run at a time in one process, which share the places of the sandbox;
 * and those of judges, which wait for a model for minutes and take little but memory.
 */
export const chunkStepsMax = 32;

/** Calls of models by judges that run at a time in one process: eight of each step of a chunk. */
export const judgeCallsMax = 8 * chunkStepsMax;

/** Calls of judges of one process that wait; past it the tenant with the most is refused. */
export const judgeCallsWaitingMax = 2 * judgeCallsMax;

/** Backfills of one process that look for events at a time: each holds a connection for reads. */
export const backfillSelectionsMax = 2;

/** Backfills of one process that wait for that; past it the tenant with the most steps aside. */
export const backfillSelectionsWaitingMax = 8;

/** Backfills of an organization that run at a time: each has a chunk open all the time. */
export const backfillsOfOrgMax = 16;

/** Characters of a filled-in prompt: no model reads more, however often a value is named. */
export const promptCharactersMax = 4_000_000;

/**
 * Filters of all enabled metrics of a project, in bytes of JSON: each server that stores its events
 * remembers them, and applies them to each event.
 */
export const projectFilterBytesMax = 1_000_000;

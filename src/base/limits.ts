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
} as const;

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

/** Payload bytes of one answer that is built in memory: a page or a tree; streams have no limit. */
export const answerBytesMax = 128 * MB;

/** Levels of a tree; Protobuf readers in other languages stop at 100 nested messages. */
export const treeDepthMax = 64;

/** Objects and arrays in one JSON body; 64 MB of `{}` would take more than a gigabyte of memory. */
export const jsonContainersMax = 2_000_000;

/** Items of one array of messages in a REST request; each costs far more memory than its bytes. */
export const listItemsMax = 100_000;

/** Longest time of a call that writes events; what was let in before is over by then. */
export const ingestionTimeoutMs = 30_000;

/** Events that one workflow runs an evaluator on: some seconds of usual evaluators. */
export const chunkEventsMax = 1_000;

// Limits of what tenants keep and have done at a time, by the part of the service that holds them;
// limits.ts has those of requests and answers. Source: docs/limits.md.

import { chunkStepsMax } from "./limits.ts";

const MB = 1_000_000;

/** Bytes of a model's answer that is kept, and of one event of a stream. */
export const modelAnswerBytesMax = 32 * MB;

/**
 * Bytes of a stream that passes. A token may come in 300 bytes, and in 3,000 with the odds of
 * others.
 */
export const modelStreamBytesMax = 256 * MB;

/** Part of the bytes in flight that answers of models and prompts that are filled in may hold. */
export const modelAnswersShare = 1 / 4;

/** Calls of models of an organization, and of the process, as multiples of those of a project. */
export const callsOfOrgFactor = 3;
export const callsOfProcessFactor = 4;

/** Providers of one scope: each is opened for every project of it that calls a model. */
export const providerCredentialsMax = 100;

/** Aliases of one scope, remembered for every project that uses them, and targets of one. */
export const modelAliasesMax = 500;
export const aliasTargetsMax = 10;

/** Choices of one chat that is translated, each of which is a call of the model. */
export const chatChoicesMax = 16;

/** Inputs of one call of embeddings, as many as OpenAI's API takes. */
export const embeddingInputsMax = 2_048;

/** Models of one provider's list, and bytes of it. */
export const providerModelsMax = 5_000;
export const providerModelsBytesMax = 2 * MB;

/** Longest time of a judge's call; its answer is short. */
export const judgeTimeoutMsMax = 120_000;

/** Longest wait of a judge's call for its turn. */
export const judgeWaitMsMax = 10_000;

/** Times that a judge's provider is asked about one event. */
export const judgeAttemptsMax = 5;

/** Characters of a judge's answer; a longer one is no judgement. */
export const judgeAnswerCharactersMax = 1_000_000;

/** Characters of a score; longer text belongs into the explanation. */
export const scoreCharactersMax = 10_000;

/** Bytes of all events that evaluators run on at a time in one process. */
export const evaluatedBytesMax = 128 * MB;

/** Longest wait for a place of the sandbox, and works that wait, for each place. */
export const sandboxWaitMsMax = 10_000;
export const sandboxWaitingPerPlaceMax = 8;

/** Longest wait until code is checked, and checks that wait. */
export const inspectionWaitMsMax = 30_000;
export const inspectionsWaitingMax = 200;

/** Longest wait of a step of a chunk for its place; then it lets others come first. */
export const chunkStepWaitMsMax = 5_000;

/** Open chunks of a project, so that others get on beside them. */
export const chunksOfProjectMax = 8;

/** Open chunks of an organization: as many as one worker runs steps. */
export const chunksOfOrgMax = chunkStepsMax;

/** Metrics of a project: all are one page, and those that run are held in memory. */
export const metricsOfProjectMax = 1_000;

/** Versions of a metric. */
export const metricVersionsMax = 10_000;

/** Filters of a metric as JSON, which are read with each event, and of a backfill. */
export const metricFilterBytesMax = 50_000;
export const backfillFilterBytesMax = 20_000;

/** Time that the filters of one metric take on some events, and those of a project together. */
export const metricFilterMsMax = 5_000;
export const projectFilterMsMax = 10_000;

/** Filters of one request, which are one conjunction, and characters of a field's name. */
export const filtersMax = 100;
export const filterFieldLengthMax = 1_000;

/** Fields of a project in the catalogue; keys that are ids would fill it without end. */
export const fieldsOfProjectMax = 20_000;

/** Events that one commit stores: past it a statement gains nothing and delays those in it. */
export const commitGroupEventsMax = 1_000;

/**
 * Longest wait of a request for its commit. A database that hangs would hold it until its client
 * has long gone; what commits later all the same is merged with the client's next try.
 */
export const commitWaitMsMax = 30_000;

/**
 * Longest text of an attribute that is read as JSON, in UTF-16 units; a longer one stays text. It
 * is read in one piece, while others wait.
 */
export const parsedAttributeLengthMax = 8_000_000;

/** Events of a chunk of a stream, and about its bytes; a larger event is a chunk by itself. */
export const streamChunkEventsMax = 500;
export const streamChunkBytesMax = 2 * MB;

/** Streams of one HTTP/2 connection; clients open another when they need more. */
export const streamsOfConnectionMax = 256;

/** Bytes of the header lines of a request, as HTTP/2 counts them; Node's own bound of HTTP/1.1. */
export const headerBytesMax = 16_384;

/** Connections of a process to its port; more are closed at once. */
export const connectionsMax = 10_000;

/** Longest time of the headers of a request, and of an idle HTTP/2 connection. */
export const headersTimeoutMs = 30_000;
export const http2IdleTimeoutMs = 120_000;

/** Characters of a scope's name, and of its description. */
export const scopeNameLengthMax = 256;
export const scopeDescriptionLengthMax = 4_096;

/** Patterns of permissions of one policy, and of one key. */
export const permissionPatternsMax = 100;

/**
 * Roles of a person in one organization. Each is looked at on every request of the person, in
 * whatever tenant.
 */
export const rolesOfMemberMax = 1_000;

/** Sessions of one person; the oldest end where there would be more. */
export const sessionsOfPersonMax = 200;

/**
 * Attempts to sign in that are open, which anybody can begin. The oldest make room: were new ones
 * refused, one caller could keep everybody else out for ten minutes.
 */
export const signInAttemptsMax = 20_000;

/** Longest time until the first bytes of a connection say which protocol it speaks. */
export const sniffTimeoutMs = 10_000;

/** Longest time of a whole HTTP/1.1 request; a body that stalls is cut far sooner. */
export const requestTimeoutMs = 300_000;

/** Longest idle time of an HTTP/1.1 connection: load balancers close theirs first, after 60 s. */
export const keepAliveTimeoutMs = 75_000;

/**
 * Maximum answers that wait for their clients to read them; the oldest one is broken off then. Each
 * takes some 8 kB, also where no key was sent.
 */
export const unreadAnswersMax = 4_000;

/**
 * Maximum commits of one request that has a value which Postgres refuses: a bad event among 100,000
 * is found in 34. Events that are not tried by then are refused together.
 */
export const valueFaultCommitsMax = 100;

/** Lookups of keys in flight, abandoned ones included; made-up keys must not pile up. */
export const keyLookupsMax = 2_000;

/** Part of the connections to a database for lookups of keys and the control plane. */
export const callersConnectionsShare = 1 / 4;

/** Part of the connections for commits that one project may hold. */
export const projectCommitsShare = 3 / 5;

/** Part of the connections for reads that one project may hold. */
export const projectReadsShare = 1 / 2;

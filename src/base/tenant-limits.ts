// Limits of stored data and concurrent work of tenants, grouped by part of the service. limits.ts
// has the limits of requests and answers. Source: docs/limits.md.

import { chunkStepsMax } from "./limits.ts";

const MB = 1_000_000;

/** Maximum bytes of a model's answer that is kept, and of one event of a stream. */
export const modelAnswerBytesMax = 32 * MB;

/**
 * Maximum bytes of a stream that passes through. A token may take 300 bytes, or 3,000 with its log
 * probabilities.
 */
export const modelStreamBytesMax = 256 * MB;

/** Part of the bytes in flight for answers of models and filled-in prompts. */
export const modelAnswersShare = 1 / 4;

/**
 * Maximum model calls of an organization, and of the process, as multiples of a project's maximum.
 */
export const callsOfOrgFactor = 3;
export const callsOfProcessFactor = 4;

/**
 * Maximum providers of one scope: each is decrypted for every project in the scope that calls a
 * model.
 */
export const providerCredentialsMax = 100;

/**
 * Maximum aliases of one scope, kept in memory for every project that uses them; then targets of
 * one alias, and model prices of one scope.
 */
export const modelAliasesMax = 500;
export const aliasTargetsMax = 10;
export const modelPricesMax = 500;

/** Maximum choices of one translated chat: each is a call of the model. */
export const chatChoicesMax = 16;

/** Maximum inputs of one embeddings call: the limit of OpenAI's API. */
export const embeddingInputsMax = 2_048;

/** Maximum models in one provider's list, and bytes of the list. */
export const providerModelsMax = 5_000;
export const providerModelsBytesMax = 2 * MB;

/** Maximum time of a judge's call: its answer is short. */
export const judgeTimeoutMsMax = 120_000;

/** Maximum time that a judge's call waits for its turn. */
export const judgeWaitMsMax = 10_000;

/** Maximum calls of a judge's provider for one event. */
export const judgeAttemptsMax = 5;

/** Maximum characters of a judge's answer; a longer answer is not a judgement. */
export const judgeAnswerCharactersMax = 1_000_000;

/** Maximum characters of a score; longer text belongs in the explanation. */
export const scoreCharactersMax = 10_000;

/** Maximum bytes of all events under evaluation at once in one process. */
export const evaluatedBytesMax = 128 * MB;

/** Maximum time that work waits for a place of the sandbox, and maximum waiting works per place. */
export const sandboxWaitMsMax = 10_000;
export const sandboxWaitingPerPlaceMax = 8;

/** Maximum time that code waits for its turn to be checked, and maximum waiting checks. */
export const inspectionWaitMsMax = 30_000;
export const inspectionsWaitingMax = 200;

/** Maximum time that a step of a chunk waits for its place; then others have their turn. */
export const chunkStepWaitMsMax = 5_000;

/** Maximum open chunks of a project, so that the chunks of other projects make progress too. */
export const chunksOfProjectMax = 8;

/** Maximum open chunks of an organization: the number of steps that one worker runs. */
export const chunksOfOrgMax = chunkStepsMax;

/**
 * Maximum executions of an organization that have not ended, model calls of one at a time, tries of
 * a datapoint's call, and failed datapoints in a row that end it.
 */
export const executionsOfOrgMax = 16;
export const executionConcurrencyMax = 32;
export const datapointTriesMax = 4;
export const executionFailuresMax = 10;

/**
 * Maximum bytes of an imported file after decompression, milliseconds until it is read, files that
 * a process reads at once, and files that wait.
 */
export const datasetFileBytesMax = 256 * MB;
export const datasetFileMsMax = 120_000;
export const datasetFilesMax = 2;
export const datasetFilesWaitingMax = 100;

/**
 * Maximum charts of a project, measures of a chart, buckets of its axis, and values of its split
 * that have a series of their own.
 */
export const chartsOfProjectMax = 1_000;
export const chartMeasuresMax = 10;
export const chartBucketsMax = 1_000;
export const chartSplitsMax = 100;

/** Memory of all summaries of hours that charts keep in a process, and of one project's. */
export const chartMemoryBytesMax = 128_000_000;
export const chartProjectBytesMax = 32_000_000;
/** Sums of the values of a split that charts of a kind keep, as part of the summaries. */
export const chartKeptSumsBytesMax = 4_000_000;
/** Groups and numbers that a chart summarises at once, and bytes of each while they are read. */
export const chartCellsMax = 1_500_000;
export const chartCellBytes = 50;
/** As many are read beside each other; more take one of a few places, for which a chart waits. */
export const chartUsualCells = 100_000;
/** Each reserves up to 75 MB, and all signed-in people share 300 MB: a fourth would be refused. */
export const chartLoadsMax = 3;
export const chartLoadsOfProjectMax = 2;
export const chartLoadWaitMsMax = 15_000;
/** Bytes of a value of an answer, as rows of Postgres and as a message. */
export const chartValueBytes = 100;

/**
 * Maximum shared views of a project, views of one owner in it, columns of a view, and bytes of its
 * settings.
 */
export const viewsOfProjectMax = 500;
export const viewsOfOwnerMax = 500;
export const viewColumnsMax = 100;
export const viewSettingsBytesMax = 16_000;

/**
 * Maximum dashboards of a project and tiles of one; columns of the grid, and its maximum rows, of
 * all and of one tile.
 */
export const dashboardsOfProjectMax = 500;
export const dashboardTilesMax = 100;
export const dashboardColumns = 12;
export const dashboardRowsMax = 10_000;
export const tileRowsMax = 100;

/** Maximum alerts of a project, measures of one, and events that a check of one names. */
export const alertsOfProjectMax = 500;
export const alertMeasuresMax = 10;
export const alertEventsNamedMax = 10;

/** Maximum budgets of a project: its own, and those of its keys. */
export const budgetsOfProjectMax = 200;

/** Maximum masking rules of a project, and patterns among them; each is a pass over every text. */
export const maskingRulesMax = 50;
export const maskingPatternsMax = 20;
export const maskingPatternLengthMax = 500;
export const maskingKeyLengthMax = 256;
export const maskingReplacementLengthMax = 100;
/**
 * Maximum size of a compiled pattern, in RE2's instructions: a search that leaves its automaton
 * visits each of them for each character.
 */
export const maskingPatternSizeMax = 300;
/** Maximum characters by which replacements make the values of a request longer. */
export const maskingGrowthMax = 4_000_000;
/** Compiled patterns of all projects that a process keeps; each may take up to 8 MB. */
export const maskingPatternsKept = 32;

/** Newest checks and notifications that are kept of an alert. */
export const alertEvaluationsKept = 10_000;
export const notificationsKept = 1_000;

/**
 * Maximum addresses of a notification, test notifications of a project within an hour, seconds of
 * an attempt to deliver one, and attempts at a time: of a process and of a project.
 */
export const notificationAddressesMax = 20;
export const testNotificationsMax = 20;
export const deliveryMsMax = 15_000;
export const deliveriesMax = 32;
export const deliveriesOfProjectMax = 4;

/**
 * Maximum days of a retention; then sessions, events and bytes that one batch of its deletion looks
 * at. A larger session is a batch of its own.
 */
export const retentionDaysMax = 3_650;
export const retentionBatchSessionsMax = 200;
export const retentionBatchEventsMax = 5_000;
export const retentionBatchBytesMax = 16 * MB;

/** Maximum metrics of a project: one page holds all of them, and the running ones are in memory. */
export const metricsOfProjectMax = 1_000;

/** Maximum versions of a metric. */
export const metricVersionsMax = 10_000;

/**
 * Maximum configurations of a project, which one page holds; then versions of one, and bytes of its
 * content as JSON.
 */
export const configurationsOfProjectMax = 1_000;
export const configurationVersionsMax = 10_000;
export const configurationBytesMax = 1 * MB;

/** Maximum tools of a project, and bytes of all of them, which one list holds. */
export const toolsOfProjectMax = 1_000;
export const toolsBytesMax = 16 * MB;

/**
 * Maximum product of the numbers of differing lines of two templates: comparing them takes one step
 * a pair, and all other requests wait for it.
 */
export const templateDiffCellsMax = 1_000_000;

/**
 * Maximum bytes as JSON of a metric's filters, which are read with each event; then of a
 * backfill's.
 */
export const metricFilterBytesMax = 50_000;
export const backfillFilterBytesMax = 20_000;

/** Maximum time of one metric's filters on a set of events, and of all filters of a project. */
export const metricFilterMsMax = 5_000;
export const projectFilterMsMax = 10_000;

/** Maximum filters of one request, which form one conjunction, and characters of a field's name. */
export const filtersMax = 100;
export const filterFieldLengthMax = 1_000;

/** Maximum fields of a project in the catalogue: keys that are ids would fill it without end. */
export const fieldsOfProjectMax = 20_000;

/** Maximum events of one commit: a larger statement gains nothing and delays the requests in it. */
export const commitGroupEventsMax = 1_000;

/**
 * Maximum time that a request waits for its commit: a hanging database would hold it until long
 * after its client has left. Events committed after this time are merged with the client's retry.
 */
export const commitWaitMsMax = 30_000;

/**
 * Maximum length of an attribute's text that is parsed as JSON, in UTF-16 units; longer text stays
 * text. Parsing is one synchronous step, and all other requests wait for it.
 */
export const parsedAttributeLengthMax = 8_000_000;

/**
 * Maximum events and approximate bytes of a chunk of a stream; a larger event has its own chunk.
 */
export const streamChunkEventsMax = 500;
export const streamChunkBytesMax = 2 * MB;

/** Maximum streams of one HTTP/2 connection; clients that need more open another connection. */
export const streamsOfConnectionMax = 256;

/**
 * Maximum bytes of a request's header lines, as HTTP/2 counts them; Node's own limit for HTTP/1.1.
 */
export const headerBytesMax = 16_384;

/** Maximum connections to the port of one process; further ones are closed at once. */
export const connectionsMax = 10_000;

/** Maximum time of a request's headers, and of an idle HTTP/2 connection. */
export const headersTimeoutMs = 30_000;
export const http2IdleTimeoutMs = 120_000;

/** Maximum characters of a scope's name, and of its description. */
export const scopeNameLengthMax = 256;
export const scopeDescriptionLengthMax = 4_096;

/** Maximum permission patterns of one policy, and of one key. */
export const permissionPatternsMax = 100;

/**
 * Maximum roles of a person in one organization. Every request of the person, in any tenant, checks
 * all of them.
 */
export const rolesOfMemberMax = 1_000;

/** Maximum sessions of one person; a new one past it ends the oldest. */
export const sessionsOfPersonMax = 200;

/**
 * Maximum open sign-in attempts, which need no key. A new one past it ends the oldest: if new ones
 * were refused, one caller could block all sign-ins for ten minutes.
 */
export const signInAttemptsMax = 20_000;

/** Maximum time until the first bytes of a connection show its protocol. */
export const sniffTimeoutMs = 10_000;

/** Maximum time of a whole HTTP/1.1 request; a body that stalls is cut much sooner. */
export const requestTimeoutMs = 300_000;

/** Maximum idle time of an HTTP/1.1 connection. Load balancers close theirs earlier, after 60 s. */
export const keepAliveTimeoutMs = 75_000;

/**
 * Maximum open HTTP/2 streams without a known caller; past it the oldest one is reset. Each takes
 * some 8 kB.
 */
export const keylessStreamsMax = 4_000;

/**
 * Maximum commits of one request with a value that Postgres refuses: a bad event among 100,000 is
 * found in 34. Events not tried within this number are refused together.
 */
export const valueFaultCommitsMax = 100;

/**
 * Maximum key lookups in flight, abandoned ones included; lookups of invented keys must not pile
 * up.
 */
export const keyLookupsMax = 2_000;

/** Part of a database's connections for key lookups and the control plane. */
export const callersConnectionsShare = 1 / 4;

/** Part of the connections for commits that one project may hold. */
export const projectCommitsShare = 3 / 5;

/** Part of the connections for reads that one project may hold. */
export const projectReadsShare = 1 / 2;

/** Maximum bytes of an answer that is kept for an Idempotency-Key, in every case. */
export const keptAnswerBytesMax = 16_000_000;

/** Maximum bytes of a kept answer, per byte of its request, so that requests are not amplified. */
export const keptAnswerGrowthMax = 8;

/** Maximum bytes of a kept answer to a small request, and of a kept refusal. */
export const smallKeptAnswerBytesMax = 1_000_000;

/** Maximum datasets of a project. */
export const datasetsOfProjectMax = 10_000;

/** Maximum datapoints of a dataset, and of one call that creates or lists them. */
export const datapointsOfDatasetMax = 100_000;
export const datapointsOfCallMax = 10_000;

/** Maximum bytes of a datapoint as JSON. */
export const datapointBytesMax = 8 * MB;

/** Maximum messages in the history of a datapoint. */
export const historyLengthMax = 10_000;

/** Maximum keys that a mapping names: each object, or event, is looked up for each of them. */
export const mappingKeysMax = 500;

/** Maximum datasets that one call links to a datapoint. */
export const linkedDatasetsMax = 100;

/** Maximum sessions and events with scores that the result of a run is computed from. */
export const runEventsMax = 250_000;

/** Maximum ids in a list of a run, and maximum bytes of the run as JSON. */
export const runIdsMax = 100_000;
export const runBytesMax = 16 * MB;

/** Maximum runs of a page, and of a project. */
export const runsOfPageMax = 100;
export const runsOfProjectMax = 100_000;

/** Maximum comments of reviewers on a run. */
export const reviewCommentsMax = 10_000;

/** Maximum queues of a project: one answer lists all of them. */
export const queuesOfProjectMax = 100;

/**
 * Maximum events of a queue that wait, all events of it, which every change counts, and events that
 * one call adds or removes.
 */
export const openItemsOfQueueMax = 10_000;
export const itemsOfQueueMax = 100_000;
export const itemsOfCallMax = 10_000;

/** Maximum people who review an event, seconds of a claim, and scores of a review. */
export const reviewersOfEventMax = 10;
export const claimSecondsMax = 86_400;
export const scoresOfReviewMax = 50;

/** Maximum scores of a queue that an answer about agreement is computed from. */
export const agreementScoresMax = 200_000;

/**
 * Maximum events, newest first, and scores on them, that a judge's reliability is computed from.
 */
export const reliabilityEventsMax = 100_000;

/** Maximum groups of one list of a judge's reliability, and maximum disagreements in it. */
export const reliabilityGroupsMax = 400;
export const reliabilityWorstMax = 20;

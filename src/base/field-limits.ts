// Limits of single fields of requests, headers and sign-ins. Limits of whole requests are in
// limits.ts, limits of tenants in tenant-limits.ts. docs/limits.md lists them all.

/** Maximum items of one page of a list. */
export const pageLimitMax = 1_000;

/** Maximum length of an Idempotency-Key. */
export const idempotencyKeyLengthMax = 255;

/** Maximum length of an e-mail address. Source: RFC 5321, 4.5.3.1.3. */
export const emailLengthMax = 254;

/** Maximum length of a person's name; a longer one is cut. */
export const personNameLengthMax = 256;

/** Maximum groups that an identity provider may name for one person. */
export const groupsMax = 1_000;

/** Maximum length of a group's name. */
export const groupLengthMax = 256;

/** Maximum length of the base URL of a provider. */
export const baseUrlLengthMax = 2_048;

/** Maximum length of a model's name in a call. */
export const modelLengthMax = 512;

/** Maximum length of a model's name in an alias or a metric, and of a configuration's provider. */
export const savedModelLengthMax = 256;

/** Maximum length of the headers of a proxied call that name its event and its user. */
export const callHeaderLengthMax = 1_000;

/** Longest time-out that the header of a proxied call may ask for, milliseconds. */
export const callTimeoutMsMax = 3_600_000;

/** Maximum length of `task` of a feedback. */
export const taskLengthMax = 10_000;

/** Maximum length of a metric's name. */
export const metricNameLengthMax = 200;

/** Maximum length of a metric's description. */
export const metricDescriptionLengthMax = 10_000;

/** Maximum length of the message of a version of a metric or a configuration. */
export const versionMessageLengthMax = 1_000;

/** Maximum `scale` of a metric. */
export const scaleMax = 1_000;

/** Maximum categories of a metric. */
export const categoriesMax = 100;

/** Maximum length of a category's name. */
export const categoryLengthMax = 200;

/** Maximum length of the event name that a metric of an older client filters by. */
export const metricEventNameLengthMax = 1_000;

/** Maximum length of a configuration's name. */
export const configurationNameLengthMax = 200;

/** Maximum tags of a configuration, and length of a tag. */
export const configurationTagsMax = 100;
export const configurationTagLengthMax = 200;

/** Maximum length of a tool's name, and of its description. */
export const toolNameLengthMax = 200;
export const toolDescriptionLengthMax = 10_000;

/** Maximum keys on a path of a judge's prompt. Each key with a dot doubles the ways to read it. */
export const promptPathKeysMax = 16;

/** Maximum length of a path in the catalogue of fields; a longer one is not recorded. */
export const fieldPathLengthMax = 500;

/** Maximum depth of a path in the catalogue of fields; a deeper one is not recorded. */
export const fieldPathDepthMax = 32;

/** Maximum characters of the name of a dataset. */
export const datasetNameLengthMax = 256;

/** Maximum characters of the description of a dataset. */
export const datasetDescriptionLengthMax = 10_000;

/** Maximum characters of the name of a run. */
export const runNameLengthMax = 1_000;

/** Maximum characters of the description of a run. */
export const runDescriptionLengthMax = 10_000;

/** Maximum characters of a reviewer's comment. */
export const reviewCommentLengthMax = 10_000;

/** Maximum characters of the name of a queue, of its description, and of a reviewer's name. */
export const queueNameLengthMax = 256;
export const queueDescriptionLengthMax = 10_000;
export const reviewerNameLengthMax = 256;

/** Maximum characters of the explanation of a person's score. */
export const reviewExplanationLengthMax = 2_000;

/** Maximum length of a chart's name and owner, of its description, and of a field it names. */
export const chartNameLengthMax = 256;
export const chartDescriptionLengthMax = 10_000;
export const chartFieldLengthMax = 1_000;

/** Maximum length of a saved view's name, and of a field that it names. */
export const viewNameLengthMax = 256;
export const viewFieldLengthMax = 1_000;

/** Maximum length of a dashboard's name and description. */
export const dashboardNameLengthMax = 256;
export const dashboardDescriptionLengthMax = 10_000;

/** Maximum characters of the name of an alert, of its description, and of a measure it names. */
export const alertNameLengthMax = 256;
export const alertDescriptionLengthMax = 10_000;
export const alertFieldLengthMax = 1_000;

/** Maximum characters of the URL of a webhook. */
export const webhookUrlLengthMax = 2_000;

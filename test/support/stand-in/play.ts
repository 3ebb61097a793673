// Behaviors of the stand-in's models, selected by the model's name. `+` joins several; any text may
// precede the first, as in `gpt-4o-fail-500`.

const patterns = {
  /** `slow-<ms>`: the first byte comes after this time. */
  slow: /slow-(\d+)$/,
  /** `pause-<ms>`: a stream pauses for this time in its middle. */
  pause: /pause-(\d+)$/,
  /** `trickle-<ms>`: a stream pauses for this time before every part. */
  trickle: /trickle-(\d+)$/,
  /** `fail-<status>`: always an error with this status. */
  fail: /fail-(\d{3})$/,
  /**
   * `flaky-<status>-<n>`: n such errors for a user, then a success, then again; status 0: reset.
   */
  flaky: /flaky-(\d+)-(\d+)$/,
  /** `flaky-event-<n>`: n streams for a user begin with an error, then a success, then again. */
  flakyEvent: /flaky-event-(\d+)$/,
  /** `retry-after-<s>`: a 429 with this header once for a user, then a success, then again. */
  retryAfter: /retry-after-(\d+)$/,
  /** `limited-<s>`: always a 429 with this header. */
  limited: /limited-(\d+)$/,
  /** The connection ends before an answer begins. */
  reset: /reset$/,
  /** The connection ends in the middle of the answer. */
  cutOff: /cut-off$/,
  /** A stream ends in order, but without the end mark. */
  noDone: /no-done$/,
  /** A stream stays open after its last event. */
  hang: /hang$/,
  /** An answer, whole or streamed, ends in order, but no choice was finished. */
  noFinish: /no-finish$/,
  /** An answer, whole or streamed, has no choices. */
  noChoices: /no-choices$/,
  /** An unreadable answer with status 200. */
  malformed: /malformed$/,
  /** An error with status 200, of a stream too. */
  errorBody: /error-body$/,
  /** A stream that is unreadable from its middle on. */
  malformedStream: /malformed-stream$/,
  /** An endless answer, whole or streamed, as fast as the client reads. */
  endless: /endless$/,
  /** A stream with an error in its middle. */
  errorEvent: /error-event$/,
  /** An error that repeats the secrets of the request: 401, or `leak-key-<status>`. */
  leakKey: /leak-key(?:-(\d{3}))?$/,
  /** A stream with an error in its middle that repeats the secrets of the request. */
  leakKeyEvent: /leak-key-event$/,
  /** A redirect to `/redirected` of the stand-in: 302, or `redirect-<status>`. */
  redirect: /redirect(?:-(\d{3}))?$/,
  /** An answer of 40 MB, or `huge-<mb>`. */
  huge: /huge(?:-(\d+))?$/,
  /** Sends reasoning, and reports 16 tokens of it. */
  reasoning: /reasoning$/,
  /** Reports 64 tokens read from a cache, and 32 written if the API reports these. */
  cached: /cached$/,
  /** The answer ends because of its length. */
  length: /length$/,
  /** The answer ends because the model failed, where the API has a reason for this. */
  failedEnd: /failed-end$/,
  /** Answers the text of the last message. */
  echo: /echo$/,
  /** Calls every offered function at once. */
  parallel: /parallel$/,
  /** Reports no usage. */
  noUsage: /no-usage$/,
} as const;

export type PlayName = keyof typeof patterns;

/** The plays of a model with their numbers, in the order of the name. */
export type Plays = { readonly [Name in PlayName]?: readonly number[] };

/** Returns the plays in a model's name; empty if there are none. */
export function playsOf(model: string): Plays {
  const plays: { [Name in PlayName]?: readonly number[] } = {};
  for (const part of model.split("+")) {
    for (const [name, pattern] of Object.entries(patterns)) {
      const found = new RegExp(`(?:^|[-_.:/])${pattern.source}`).exec(part);
      if (!found) continue;
      const numbers = found.slice(1).filter((text) => text !== undefined);
      plays[name as PlayName] = numbers.map(Number);
    }
  }
  return plays;
}

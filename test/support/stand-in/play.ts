// What a model of the stand-in does beside answering, told by its name. Read by perform.ts and the
// APIs. Several are joined by `+`; anything may stand before the first, as in `gpt-4o-fail-500`.

const patterns = {
  /** `slow-<ms>`: the first byte comes after so long. */
  slow: /slow-(\d+)$/,
  /** `pause-<ms>`: a stream rests so long in its middle. */
  pause: /pause-(\d+)$/,
  /** `trickle-<ms>`: a stream rests so long before every part. */
  trickle: /trickle-(\d+)$/,
  /** `fail-<status>`: an error of that status, always. */
  fail: /fail-(\d{3})$/,
  /** `flaky-<status>-<n>`: n such errors for a user, then a success, and over again; 0: reset. */
  flaky: /flaky-(\d+)-(\d+)$/,
  /** `retry-after-<s>`: 429 with that header once for a user, then a success, and over again. */
  retryAfter: /retry-after-(\d+)$/,
  /** `limited-<s>`: 429 with that header, always. */
  limited: /limited-(\d+)$/,
  /** The connection ends before an answer begins. */
  reset: /reset$/,
  /** The connection ends in the middle of the answer. */
  cutOff: /cut-off$/,
  /** A stream ends in order, without the mark that says so. */
  noDone: /no-done$/,
  /** A stream stays open behind its last event. */
  hang: /hang$/,
  /** A stream ends in order, but no choice was finished. */
  noFinish: /no-finish$/,
  /** Nothing that can be read, with status 200. */
  malformed: /malformed$/,
  /** A stream that cannot be read from its middle on. */
  malformedStream: /malformed-stream$/,
  /** Never ends, whole or streamed; as fast as it is read. */
  endless: /endless$/,
  /** A stream in whose middle stands an error. */
  errorEvent: /error-event$/,
  /** 401 that repeats the secrets of the request; `leak-key-<status>`: with that status. */
  leakKey: /leak-key(?:-(\d{3}))?$/,
  /** A stream in whose middle stands an error that repeats the secrets of the request. */
  leakKeyEvent: /leak-key-event$/,
  /** 302 to `/redirected` of the stand-in; `redirect-<status>`: with that status. */
  redirect: /redirect(?:-(\d{3}))?$/,
  /** An answer of 40 MB; `huge-<mb>`: of so many. */
  huge: /huge(?:-(\d+))?$/,
  /** Tells thoughts, and 16 tokens of them. */
  reasoning: /reasoning$/,
  /** Tells 64 tokens read from a cache, and 32 written where the API tells these. */
  cached: /cached$/,
  /** Ends for its length. */
  length: /length$/,
  /** Answers what the last message said. */
  echo: /echo$/,
  /** Calls every function that is offered, at once. */
  parallel: /parallel$/,
  /** Tells no usage. */
  noUsage: /no-usage$/,
} as const;

export type PlayName = keyof typeof patterns;

/** The plays of a model with their numbers, in the order of the name. */
export type Plays = { readonly [Name in PlayName]?: readonly number[] };

/** Returns what a model's name says; nothing where it says nothing. */
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

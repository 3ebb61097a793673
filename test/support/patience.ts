// How long a test waits for a condition that must come true. vitest's own limit is one second,
// which a busy machine exceeds; a test that passes ends its wait as soon as the condition holds.

export const patience = { timeout: 120_000 };

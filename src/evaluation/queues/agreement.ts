// Agreement of people who score the same events: the share of equal pairs, Cohen's kappa and
// Krippendorff's alpha. The npm registry has no maintained library of them (docs/dependencies.md).
// Source: J. Cohen, "A Coefficient of Agreement for Nominal Scales", 1960, and "Weighted Kappa",
// 1968; K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011.

/** `nominal`: values are equal or not; `interval`: the differences of numbers count. */
export type Level = "nominal" | "interval";

/** A person's value for an event. At level interval it is a number as text. */
export type Rating = { readonly reviewer: string; readonly value: string };

export type Agreement = {
  /** Events with values of two people or more, their values, and the people who gave them. */
  readonly events: number;
  readonly scores: number;
  readonly reviewers: number;
  /** Mean over events of the share of equal pairs; undefined without events. */
  readonly observed: number | undefined;
  /**
   * Kappa of exactly two people; at level interval, weighted by squared differences. Undefined for
   * other numbers of people, and if chance alone makes them agree.
   */
  readonly kappa: number | undefined;
  /** Undefined without events, and if all values are equal. */
  readonly alpha: number | undefined;
};

export type AgreementSum = {
  /** Adds the values of an event, one for each person. Fewer than two change nothing. */
  readonly add: (ratings: readonly Rating[]) => void;
  readonly get: () => Agreement;
};

/** Sums a level's differences between values. */
type Spread = {
  /** Adds a value. */
  add(value: string): void;
  readonly count: () => number;
  /** Returns the sum of differences over all ordered pairs of the values. */
  readonly within: () => number;
};

type LevelOf<S extends Spread> = {
  createSpread(): S;
  /** Returns the sum of differences over the pairs of a value of one and a value of the other. */
  across(one: S, other: S): number;
};

/** Greatest number of people that Cohen's kappa compares. */
const kappaReviewers = 2;

export function createAgreementSum(level: Level): AgreementSum {
  return level === "nominal" ? createSum(nominal) : createSum(interval);
}

function createSum<S extends Spread>(level: LevelOf<S>): AgreementSum {
  const all = level.createSpread();
  const byReviewer = new Map<string, S>();
  let events = 0;
  let shares = 0;
  /** Differences within events, as Krippendorff weighs them and as Cohen does. */
  let observed = 0;
  let differences = 0;

  function getKappa(): number | undefined {
    const [one, other] = byReviewer.values();
    if (byReviewer.size !== kappaReviewers || !one || !other) return undefined;
    const expected = level.across(one, other) / (one.count() * other.count());
    return expected === 0 ? undefined : 1 - differences / events / expected;
  }

  function getAlpha(): number | undefined {
    const expected = all.within();
    return expected === 0 ? undefined : 1 - ((all.count() - 1) * observed) / expected;
  }

  return {
    add(ratings) {
      if (ratings.length < 2) return;
      const own = level.createSpread();
      const equal = new Map<string, number>();
      for (const { reviewer, value } of ratings) {
        own.add(value);
        all.add(value);
        equal.set(value, (equal.get(value) ?? 0) + 1);
        let spread = byReviewer.get(reviewer);
        if (!spread) byReviewer.set(reviewer, (spread = level.createSpread()));
        spread.add(value);
      }
      const pairs = ratings.length * (ratings.length - 1);
      events += 1;
      shares += [...equal.values()].reduce((sum, count) => sum + count * (count - 1), 0) / pairs;
      observed += own.within() / (ratings.length - 1);
      differences += own.within() / pairs;
    },
    get: () => ({
      events,
      scores: all.count(),
      reviewers: byReviewer.size,
      observed: events === 0 ? undefined : shares / events,
      kappa: getKappa(),
      alpha: getAlpha(),
    }),
  };
}

type NominalSpread = Spread & { readonly counts: ReadonlyMap<string, number> };

/** The difference of values is 1, of equal ones 0. */
const nominal: LevelOf<NominalSpread> = {
  createSpread() {
    const counts = new Map<string, number>();
    let total = 0;
    return {
      counts,
      add(value) {
        total += 1;
        counts.set(value, (counts.get(value) ?? 0) + 1);
      },
      count: () => total,
      within: () => [...counts.values()].reduce((sum, count) => sum + count * (total - count), 0),
    };
  },
  across(one, other) {
    let equal = 0;
    for (const [value, count] of one.counts) equal += count * (other.counts.get(value) ?? 0);
    return one.count() * other.count() - equal;
  },
};

type IntervalSpread = Spread & {
  readonly mean: () => number;
  /** Returns the sum of squared distances from the mean. */
  readonly squares: () => number;
};

/** The difference of values is the square of their distance. */
const interval: LevelOf<IntervalSpread> = {
  createSpread() {
    let count = 0;
    let mean = 0;
    let squares = 0;
    return {
      // Welford's method: a sum of squares less a squared sum would cancel digits.
      add(text) {
        const value = Number(text);
        count += 1;
        const before = value - mean;
        mean += before / count;
        squares += before * (value - mean);
      },
      count: () => count,
      mean: () => mean,
      squares: () => squares,
      within: () => 2 * count * squares,
    };
  },
  across(one, other) {
    const [n, m] = [one.count(), other.count()];
    return m * one.squares() + n * other.squares() + n * m * (one.mean() - other.mean()) ** 2;
  },
};

// A judge's scores beside those of people, as a whole and in groups: by score, by model, by
// version, over time. Source: docs/judges.md.

import type { Pacer } from "../../base/pacer.ts";
import { reliabilityGroupsMax, reliabilityWorstMax } from "../../base/tenant-limits.ts";
import { type Pair, type Summary, summarise } from "./agreement.ts";
import { type Comparing, placePairs, type ScorePair } from "./scale.ts";

/** The scores of one version and of people on one event. */
export type JudgedEvent = ScorePair & {
  readonly eventId: string;
  readonly startMs: number;
  readonly model: string | undefined;
  readonly judgeModel: string | undefined;
  readonly version: number;
};

export const bucketNames = ["day", "week", "month"] as const;
export type BucketName = (typeof bucketNames)[number];

export type Group<K = string> = { readonly key: K; readonly summary: Summary };

export type Disagreement = JudgedEvent & { readonly difference: number | undefined };

export type Comparison = {
  readonly levels: readonly string[];
  readonly binning: string | undefined;
  readonly incomparable: number;
  readonly overall: Summary;
  readonly byScore: readonly Group[];
  readonly byModel: readonly Group[];
  readonly byJudgeModel: readonly Group[];
  readonly byVersion: readonly Group<number>[];
  readonly overTime: readonly Group[];
  readonly groupsLeftOut: number;
  readonly worst: readonly Disagreement[];
};

type Placed = Pair & { readonly of: JudgedEvent };

const none = "none";

/** Compares scores, given newest event first and, for each event, newest version first. */
export async function compareScores(
  given: readonly JudgedEvent[],
  comparing: Comparing,
  { bucket, pacer }: { readonly bucket: BucketName; readonly pacer: Pacer },
): Promise<Comparison> {
  const { pairs, levels, names, binning } = placePairs(given, comparing);
  const newest = newestOf(pairs);
  let groupsLeftOut = 0;
  /** Summarises groups by key: the largest ones, or with `isOrdered` the last ones, by key. */
  async function group<K extends string | number>(
    members: readonly Placed[],
    keyOf: (pair: Placed) => K,
    isOrdered = false,
  ): Promise<Group<K>[]> {
    const groups = [...Map.groupBy(members, keyOf)];
    const sorted = groups.toSorted(([a, of], [b, other]) => {
      const bySize = isOrdered ? 0 : other.length - of.length;
      return bySize === 0 ? (a < b ? -1 : 1) : bySize;
    });
    const listed = isOrdered
      ? sorted.slice(-reliabilityGroupsMax)
      : sorted.slice(0, reliabilityGroupsMax);
    groupsLeftOut += sorted.length - listed.length;
    const summaries: Group<K>[] = [];
    for (const [key, of] of listed) {
      summaries.push({ key, summary: summarise(of, levels) });
      if (pacer.due()) await pacer.rest();
    }
    return summaries;
  }
  const overall = summarise(newest, levels);
  const byLevel = await group(newest, ({ humanLevel }) => humanLevel, true);
  return {
    levels: names,
    binning,
    incomparable: given.length - pairs.length,
    overall,
    // Within one score of people, chance and kappa have no meaning.
    byScore: byLevel.map(({ key, summary }) => ({
      key: names[key] ?? nameOf(newest, key),
      summary: { ...summary, kappa: undefined, correlation: undefined },
    })),
    byModel: await group(newest, ({ of }) => of.model ?? none),
    byJudgeModel: await group(newest, ({ of }) => of.judgeModel ?? none),
    byVersion: await group(pairs, ({ of }) => of.version, true),
    overTime: await group(newest, ({ of }) => startOfBucket(of.startMs, bucket), true),
    groupsLeftOut,
    worst: worstOf(newest),
  };
}

function newestOf(pairs: readonly Placed[]): readonly Placed[] {
  return pairs.filter(({ of }, index) => of.eventId !== pairs[index - 1]?.of.eventId);
}

// Names of levels are absent where there are too many categories.
function nameOf(pairs: readonly Placed[], level: number): string {
  return String(pairs.find(({ humanLevel }) => humanLevel === level)?.of.human);
}

const dayMs = 86_400_000;

/** Returns the first day, in UTC, of the bucket of a time, as YYYY-MM-DD. */
export function startOfBucket(timeMs: number, bucket: BucketName): string {
  const date = new Date(timeMs);
  // getUTCDay is 0 on Sundays.
  const back = bucket === "week" ? (date.getUTCDay() + 6) % 7 : 0;
  const day = new Date(timeMs - back * dayMs).toISOString().slice(0, 10);
  return bucket === "month" ? `${day.slice(0, 7)}-01` : day;
}

function worstOf(pairs: readonly Placed[]): readonly Disagreement[] {
  const differing = pairs.flatMap(({ of, human, judge, humanLevel, judgeLevel }) => {
    const difference = Number.isNaN(judge - human) ? undefined : judge - human;
    const isSame = difference === undefined ? humanLevel === judgeLevel : difference === 0;
    return isSame ? [] : [{ ...of, difference }];
  });
  const sizeOf = ({ difference = 0 }: Disagreement) => Math.abs(difference);
  return differing.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, reliabilityWorstMax);
}

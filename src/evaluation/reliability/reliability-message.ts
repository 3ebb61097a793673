// Messages of the comparison of a judge's scores with those of people.

import { formatVersion } from "../../base/versions.ts";
import type { Summary } from "./agreement.ts";
import type { Disagreement, Group } from "./groups.ts";
import type { ReliabilityReport } from "./reliability.ts";
import { toValueMessage } from "../../base/value-message.ts";

/** Returns the message of a report. */
export function toReliabilityMessage(report: ReliabilityReport) {
  const { kind, binning, eventsLeftOut, byVersion } = report;
  return {
    metric: report.metric,
    against: report.against,
    scale: kind,
    kappaWeights: kind === "ordered" || kind === "number" ? "quadratic" : "none",
    levels: [...report.levels],
    ...(binning !== undefined && { binning }),
    eventsConsidered: report.eventsConsidered,
    eventsLeftOut,
    exact: eventsLeftOut === 0,
    humanScored: report.humanScored,
    incomparable: report.incomparable,
    overall: toSummary(report.overall),
    byScore: report.byScore.map(toGroup),
    byModel: report.byModel.map(toGroup),
    byJudgeModel: report.byJudgeModel.map(toGroup),
    byVersion: byVersion.map(({ key, summary }) => toGroup({ key: formatVersion(key), summary })),
    overTime: report.overTime.map(toGroup),
    groupsLeftOut: report.groupsLeftOut,
    worst: report.worst.map(toDisagreement),
  };
}

function toGroup({ key, summary }: Group) {
  return { key, summary: toSummary(summary) };
}

function toSummary({ n, agreement, kappa, bias, ...others }: Summary) {
  const { meanAbsoluteError, correlation } = others;
  return {
    n,
    ...(agreement && {
      agreement: agreement.value,
      agreementLower: agreement.lower,
      agreementUpper: agreement.upper,
    }),
    ...(kappa && { kappa: kappa.value, kappaLower: kappa.lower, kappaUpper: kappa.upper }),
    ...(bias && { bias: bias.value }),
    ...(bias?.interval && { biasLower: bias.interval.lower, biasUpper: bias.interval.upper }),
    ...(meanAbsoluteError !== undefined && { meanAbsoluteError }),
    ...(correlation !== undefined && { correlation }),
  };
}

function toDisagreement({ eventId, startMs, human, judge, difference, version }: Disagreement) {
  return {
    eventId,
    startTime: startMs,
    human: toValueMessage(human),
    judge: toValueMessage(judge),
    ...(difference !== undefined && { difference }),
    version: formatVersion(version),
  };
}

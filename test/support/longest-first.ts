// The order of test files: those that take longest begin first, so that none of them is left at the
// end with one worker. vitest's own order goes by file size until it has seen a run.

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Path patterns of the longest files, the longest first. */
const longest: readonly RegExp[] = [
  /process\/(recovery|start|temporal|workflows|faults)\.test/,
  /sandbox\/(processes|python-results)\.test/,
  /workflows\/.*-killed\.test/,
  /api\/access/,
  /api\/golden\.test/,
  /browser\/(evaluators|workflows|charts)\.test/,
  /test\/(process|workflows|clients|sandbox)\//,
  /store\/(sized-read|large-events)\.test/,
  /api\/(clusters|chat-failures|run-metric|proxy-streams)\.test/,
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((pattern) => pattern.test(moduleId));
  return rank === -1 ? longest.length : rank;
}

// vitest takes a class.
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

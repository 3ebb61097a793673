// Walks from the nodes of a trace to those above them.

export type Upwards<Node, Answer> = {
  readonly parentOf: (node: Node) => Node | undefined;
  /** Returns undefined if the answer is further up. */
  readonly answerOf: (node: Node) => Answer | undefined;
  /** Answers of the nodes on the way of earlier walks; a walk adds its own. */
  readonly found: Map<Node, Answer | undefined>;
};

/**
 * Returns the answer of the nearest node that has one, `start` included; undefined if no node has.
 * All walks with the same `found` together take each node once.
 */
export function findUpwards<Node, Answer>(
  start: Node | undefined,
  { parentOf, answerOf, found }: Upwards<Node, Answer>,
): Answer | undefined {
  const walked = new Set<Node>();
  let answer: Answer | undefined;
  let at = start;
  // Parents of a malformed trace may lead back to a node.
  while (at !== undefined && !walked.has(at)) {
    answer = answerOf(at) ?? found.get(at);
    if (answer !== undefined || found.has(at)) break;
    walked.add(at);
    at = parentOf(at);
  }
  for (const node of walked) found.set(node, answer);
  return answer;
}

// Keeps an answer within what an agent can read: long texts inside are cut, and each says so.

/** Maximum length of an answer, about 50,000 tokens. */
export const answerLengthMax = 200_000;

/** Lengths at which the texts inside an answer are cut, until the answer fits. */
const textLengths = [20_000, 5_000, 1_000, 200];

/**
 * Returns the JSON of an answer, with its texts cut if it is too long. Throws if cuts do not help.
 */
export function shortenAnswer(text: string): string {
  if (text.length <= answerLengthMax) return text;
  const answer: unknown = JSON.parse(text);
  for (const length of textLengths) {
    const shortened = JSON.stringify(answer, (_, value: unknown) =>
      typeof value === "string" ? cut(value, length) : value,
    );
    if (shortened.length <= answerLengthMax) return shortened;
  }
  throw new Error(
    `the answer has ${text.length} characters, of which ${answerLengthMax} can be returned: ` +
      "ask for fewer at once (limit, event_ids) or name the fields that are needed",
  );
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const shown = text.slice(0, length).toWellFormed();
  const left = text.length - length;
  return `${shown}… [cut: ${left} more characters; fewer events or fields at once show more]`;
}

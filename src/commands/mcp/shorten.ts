// Keeps an answer within what an agent can read: long texts inside are cut, then long lists, and
// each says so.

/** Maximum length of an answer, about 50,000 tokens. */
export const answerLengthMax = 200_000;

type Bounds = {
  /** Maximum length of a text. */
  readonly text: number;
  /** Maximum items of a list. */
  readonly items: number;
};

/** Bounds that are tried in turn, until the answer fits. */
const attempts: readonly Bounds[] = [
  ...[150_000, 50_000, 20_000, 5_000, 1_000, 200].map((text) => ({ text, items: Infinity })),
  ...[1_000, 300, 100, 30, 10].map((items) => ({ text: 200, items })),
];

/**
 * Returns the JSON of an answer, with its texts and lists cut if it is too long. Texts of more than
 * `textFrom` characters begin there. Throws if cuts do not help.
 */
export function shortenAnswer(text: string, textFrom = 0): string {
  if (text.length <= answerLengthMax && textFrom === 0) return text;
  const answer: unknown = JSON.parse(text);
  for (const bounds of [{ text: Infinity, items: Infinity }, ...attempts]) {
    const shortened = JSON.stringify(answer, (_, value: unknown) => {
      if (typeof value === "string") return cutText(value, textFrom, bounds.text);
      return Array.isArray(value) ? cutList(value, bounds.items) : value;
    });
    if (shortened.length <= answerLengthMax) return shortened;
  }
  throw new Error(
    `the answer has ${text.length} characters, of which ${answerLengthMax} can be returned: ` +
      "ask for fewer at once (limit, event_ids) or name the fields that are needed",
  );
}

function cutText(text: string, textFrom: number, length: number): string {
  const from = text.length > textFrom ? textFrom : 0;
  const start = from === 0 ? "" : `[from character ${from}] …`;
  if (text.length - from <= length) return `${start}${text.slice(from)}`;
  // A character of two units is not parted.
  const end = from + length - ((text.codePointAt(from + length - 1) ?? 0) > 0xffff ? 1 : 0);
  const way = `ask for less at once, or by read_events with text_from ${end}`;
  const mark = `[cut: ${text.length - end} more characters; ${way}]`;
  return `${start}${text.slice(from, end)}… ${mark}`;
}

function cutList(list: readonly unknown[], items: number): readonly unknown[] {
  if (list.length <= items) return list;
  const mark = `[cut: ${list.length - items} more items; ask for fewer at once, or over the API]`;
  return [...list.slice(0, items), mark];
}

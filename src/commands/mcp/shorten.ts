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

/** Place at which longer texts and lists begin, so that one that was cut can be read on. */
export type ReadingFrom = {
  /** Characters. */
  readonly text_from?: number;
  readonly items_from?: number;
};

/**
 * Returns the JSON of an answer, with its texts and lists cut if it is too long. Throws if cuts do
 * not help.
 */
export function shortenAnswer(text: string, from: ReadingFrom = {}): string {
  const { text_from: textFrom = 0, items_from: itemsFrom = 0 } = from;
  if (text.length <= answerLengthMax && textFrom === 0 && itemsFrom === 0) return text;
  const answer: unknown = JSON.parse(text);
  for (const bounds of [{ text: Infinity, items: Infinity }, ...attempts]) {
    const shortened = JSON.stringify(answer, (_, value: unknown) => {
      if (typeof value === "string") return cutText(value, textFrom, bounds.text);
      return Array.isArray(value) ? cutList(value, itemsFrom, bounds.items) : value;
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

function cutList(list: readonly unknown[], itemsFrom: number, items: number): readonly unknown[] {
  const from = list.length > itemsFrom ? itemsFrom : 0;
  const end = from + items;
  const start = from === 0 ? [] : [`[from item ${from}]`];
  const way = `ask for fewer at once, or with items_from ${end} where the tool has it`;
  const rest = list.length <= end ? [] : [`[cut: ${list.length - end} more items; ${way}]`];
  return [...start, ...list.slice(from, end), ...rest];
}

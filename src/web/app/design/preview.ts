// One line about a value, for a cell of a table: a text as it is, anything else as JSON, cut.

const charsMax = 300;

/** Returns a short form of a value; of an object with one text, the text with its key. */
export function previewOf(value: unknown): string {
  if (value === undefined || value === null) return "–";
  if (typeof value === "string") return cut(value);
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return cut(shallow(value));
  const entries = Object.entries(value);
  if (entries.length === 0) return "–";
  return cut(
    entries
      .slice(0, 8)
      .map(([key, part]) => `${key}: ${typeof part === "string" ? cut(part) : shallow(part)}`)
      .join(" · "),
  );
}

/** JSON of a value without what lies deep inside, so that a megabyte costs as little as a line. */
function shallow(value: unknown, depth = 0): string {
  if (typeof value === "string") return JSON.stringify(cut(value));
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (depth > 2) return "…";
  if (Array.isArray(value)) {
    return `[${value
      .slice(0, 8)
      .map((part) => shallow(part, depth + 1))
      .join(", ")}]`;
  }
  const parts = Object.entries(value).slice(0, 8);
  return `{${parts.map(([key, part]) => `${key}: ${shallow(part, depth + 1)}`).join(", ")}}`;
}

function cut(text: string): string {
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
}

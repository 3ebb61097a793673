// One line about a value, for a cell of a table: a text as it is, anything else as JSON, cut. Data
// such as an image in base64 is only named.

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
  const media = mediaOf(text);
  if (media !== undefined) return media;
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
}

/** A data URL, or a long text of nothing but base64. */
const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+)*,/;
const base64 = /^[A-Za-z0-9+/]{200,}={0,2}$/;
/** Characters that are looked at. */
const lookedAt = 400;

/** Returns the type and size of data in base64; undefined for other text. */
export function mediaOf(text: string): string | undefined {
  const url = dataUrl.exec(text.slice(0, lookedAt));
  if (!url && (text.length < lookedAt || !base64.test(text.slice(0, lookedAt)))) return undefined;
  const chars = text.length - (url?.[0].length ?? 0);
  const kilobytes = Math.max(1, Math.round((chars * 3) / 4 / 1_000));
  return `[${url?.[1] ?? "base64"}, ${kilobytes} kB]`;
}

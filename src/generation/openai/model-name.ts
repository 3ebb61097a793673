// Replaces the model name in the bytes of a request. All other bytes stay: parsing and formatting
// would change number forms, order and duplicate keys.
// Source: docs/decisions.md, 21.1; RFC 8259.

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closings: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Byte range from `start` (inclusive) to `end` (exclusive). */
type Span = { readonly start: number; readonly end: number };

/**
 * Returns the bytes of a JSON object with every text under its top-level key `model` replaced; the
 * same bytes if nothing changes. `bytes` must be a valid JSON object.
 */
export function withModel(bytes: Uint8Array, model: string): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wanted = Buffer.from(JSON.stringify(model));
  const spans = modelSpans(buffer).filter(
    ({ start, end }) => !buffer.subarray(start, end).equals(wanted),
  );
  if (spans.length === 0) return bytes;
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    parts.push(buffer.subarray(at, start), wanted);
    at = end;
  }
  return Buffer.concat([...parts, buffer.subarray(at)]);
}

/** Finds the texts under the key `model`. JSON parsers differ in which duplicate key they use. */
function modelSpans(bytes: Buffer): Span[] {
  const spans: Span[] = [];
  let depth = 0;
  let isKeyNext = false;
  let isModelNext = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === quote) {
      const end = endOfText(bytes, index);
      if (isKeyNext) isModelNext = isModelKey(bytes.toString("utf8", index, end));
      else if (isModelNext && depth === 1) spans.push({ start: index, end });
      if (!isKeyNext) isModelNext = false;
      isKeyNext = false;
      index = end - 1;
    } else if (openings.has(byte)) {
      depth += 1;
      isKeyNext = depth === 1;
    } else if (closings.has(byte)) {
      depth -= 1;
    } else if (byte === comma && depth === 1) {
      isKeyNext = true;
      isModelNext = false;
    }
  }
  return spans;
}

/** Returns the position after the text that begins at `start`. */
function endOfText(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start + 1);
  while (isEscaped(bytes, end)) end = bytes.indexOf(quote, end + 1);
  return end + 1;
}

function isEscaped(bytes: Buffer, index: number): boolean {
  let first = index;
  while (bytes[first - 1] === backslash) first -= 1;
  return (index - first) % 2 === 1;
}

// The key may contain escapes.
function isModelKey(text: string): boolean {
  return text === '"model"' || (text.includes("\\") && JSON.parse(text) === "model");
}

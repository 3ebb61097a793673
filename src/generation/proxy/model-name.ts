// Puts the provider's own name of a model into a request's bytes, and leaves every other byte as it
// is: bodies that were parsed and written again would lose what the client wrote (number forms,
// order, duplicates). Called by pass-through.ts. Source: docs/decisions.md, 21; RFC 8259.

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closings: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** From the first byte to the one behind the last. */
type Span = { readonly start: number; readonly end: number };

/**
 * Returns the bytes of a JSON object with every text under its own key `model` replaced; the same
 * bytes where it says so already. `bytes` must be known to be a JSON object.
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

/**
 * Finds the texts under the key `model`; JSON allows a key twice, and readers differ in which
 * counts.
 */
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

/** Returns where the text that begins at `start` has ended. */
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

// A key may be written with escapes.
function isModelKey(text: string): boolean {
  return text === '"model"' || (text.includes("\\") && JSON.parse(text) === "model");
}

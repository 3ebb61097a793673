// Request bodies made once and sent many times: the positions of ids and times in the bytes are
// known, and each sending overwrites them. So the generator costs a fraction of the measured work.

/** Content of a slot: the id of an event or session, or the start or end time of an event. */
type Kind = "event" | "session" | "start" | "end";
type Slot = { readonly offset: number; readonly kind: Kind; readonly index: number };

export type Template = {
  readonly bytes: Buffer;
  readonly slots: readonly Slot[];
  readonly isText: boolean;
  readonly events: number;
};

/** Start time of event number 0. Each number adds a millisecond, so rounds can be told apart. */
export const firstStartMs = 1_760_000_000_000;
const durationMs = 250;

const letters: readonly (readonly [Kind, string])[] = [
  ["event", "i"],
  ["session", "s"],
  ["start", "b"],
  ["end", "e"],
];

/** Marks in text: 8 hexadecimal digits of an id, 13 digits of a time. */
export const textMarks = {
  id: (kind: "event" | "session", index: number) => `~${letterOf(kind)}${pad(index, 6)}`,
  time: (kind: "start" | "end", index: number) => `~${letterOf(kind)}${pad(index, 11)}`,
};

/** Marks in bytes: the first 4 of an id, the 8 of a fixed64 time in nanoseconds. */
export const byteMarks = {
  id: (kind: "event" | "session", index: number) => markBytes(kind, index),
  time: (kind: "start" | "end", index: number) =>
    Buffer.concat([markBytes(kind, index), Buffer.alloc(4)]).readBigUInt64LE(),
};

/**
 * Makes a template of JSON text whose strings contain marks. The quotes around a time's mark are
 * removed, so that a time is a number.
 */
export function textTemplate(json: string, events: number): Template {
  const text = json.replace(/"(~[be]\d{11})"/g, "$1");
  const slots = [...text.matchAll(/~([isbe])(\d{6,11})/g)].map((match) => ({
    offset: match.index,
    kind: kindOf(match[1]),
    index: Number(match[2]),
  }));
  return { bytes: Buffer.from(text, "latin1"), slots, isText: true, events };
}

/** Makes a template of Protobuf bytes; UTF-8 text never contains the first byte of a mark. */
export function binaryTemplate(bytes: Uint8Array, events: number): Template {
  const buffer = Buffer.from(bytes);
  const slots: Slot[] = [];
  for (let at = buffer.indexOf(0xf5); at >= 0; at = buffer.indexOf(0xf5, at + 1)) {
    const letter = String.fromCharCode(buffer[at + 1] ?? 0);
    if (!/[isbe]/.test(letter) || buffer[at + 2] !== 0xf6) continue;
    slots.push({ offset: at, kind: kindOf(letter), index: buffer[at + 3] ?? 0 });
  }
  return { bytes: buffer, slots, isText: false, events };
}

/** Writes the ids and times of the events from number `first` on. Ids are spread as if random. */
export function patch(template: Template, first: number): void {
  const write = template.isText ? writeText : writeBinary;
  for (const { offset, kind, index } of template.slots) {
    switch (kind) {
      case "event":
        write.id(template.bytes, offset, spread(first + index));
        break;
      case "session":
        write.id(template.bytes, offset, spread(first));
        break;
      case "start":
        write.time(template.bytes, offset, firstStartMs + first + index);
        break;
      case "end":
        write.time(template.bytes, offset, firstStartMs + first + index + durationMs);
        break;
    }
  }
}

const writeText = {
  id: (bytes: Buffer, offset: number, id: number) =>
    bytes.write(id.toString(16).padStart(8, "0"), offset, "latin1"),
  time: (bytes: Buffer, offset: number, ms: number) => bytes.write(String(ms), offset, "latin1"),
};

const writeBinary = {
  id: (bytes: Buffer, offset: number, id: number) => bytes.writeUInt32BE(id, offset),
  time: (bytes: Buffer, offset: number, ms: number) =>
    bytes.writeBigUInt64LE(BigInt(ms) * 1_000_000n, offset),
};

// An odd factor gives each of the 2^32 numbers a different result.
function spread(n: number): number {
  return Math.imul(n, 0x9e3779b1) >>> 0;
}

function markBytes(kind: Kind, index: number): Buffer {
  return Buffer.from([0xf5, letterOf(kind).charCodeAt(0), 0xf6, index]);
}

function letterOf(kind: Kind): string {
  return letters.find(([known]) => known === kind)?.[1] ?? "";
}

function kindOf(letter: string | undefined): Kind {
  const found = letters.find(([, known]) => known === letter);
  if (found === undefined) throw new Error(`no mark has the letter ${letter}`);
  return found[0];
}

function pad(index: number, length: number): string {
  return String(index).padStart(length, "0");
}

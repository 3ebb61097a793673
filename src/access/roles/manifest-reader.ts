// Reads maps, lists and texts of a YAML document, and collects their faults by line.

import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node } from "yaml";
import { OperatorError } from "../../base/operator-error.ts";

/** A value of the document, or its key if the value is empty. */
export type Item = Node;

/** Values of a map by key. */
export type Entries = ReadonlyMap<string, Item>;

export type Entry = { readonly key: string; readonly value: Item; readonly at: Item };

export type ManifestReader = {
  readonly root: Item | undefined;
  /** Notes a fault at a value's line; reading continues, to find the other faults. */
  fault(at: Item | undefined, what: string): void;
  /** Returns the line of a value, counted from 1. */
  lineOf(at: Item | undefined): number;
  /** Throws OperatorError if the text is not YAML. */
  assertSyntax(): void;
  /** Throws OperatorError with a line for each fault noted so far. */
  assertFaultless(): void;
  /** Returns the entries of a map. Keys outside `known` and missing `required` keys are faults. */
  readEntries(
    at: Item | undefined,
    name: string,
    known: readonly string[],
    required: readonly string[],
  ): Entries;
  /** Returns the entries of a map with any keys, repeated ones included. */
  listEntries(at: Item | undefined, name: string): readonly Entry[];
  /** Returns the items of a list; empty if it is absent. */
  listItems(at: Item | undefined, name: string): readonly Item[];
  /** Returns the texts of a list; an empty list is a fault. */
  listTexts(
    at: Item | undefined,
    name: string,
  ): readonly { readonly text: string; readonly at: Item }[];
  /**
   * Returns a text. An invalid value is a fault and returns an empty text; an absent value only
   * returns an empty text.
   */
  readText(at: Item | undefined, name: string, lengthMax: number): string;
};

export type ManifestReaderOptions = {
  readonly document: Document;
  readonly lines: LineCounter;
  /** Name of the file in the faults. */
  readonly source: string;
};

const faultsShownMax = 20;
const itemsMax = 10_000;
const textLengthMax = 256;
const unprintable = /[\p{Cc}\p{Cs}]/u;

export function createManifestReader(options: ManifestReaderOptions): ManifestReader {
  const { document, lines, source } = options;
  const faults: { readonly line: number; readonly what: string }[] = [];

  const lineOf = (at: Item | undefined): number => lineAt(lines, at?.range?.[0]);
  const fault = (at: Item | undefined, what: string): void => {
    faults.push({ line: lineOf(at), what });
  };
  const resolve = (at: Item | undefined): Item | undefined =>
    isAlias(at) ? at.resolve(document) : at;

  function listEntries(at: Item | undefined, name: string): readonly Entry[] {
    if (at === undefined) return [];
    const map = resolve(at);
    if (!isMap(map) || map.items.length > itemsMax) {
      fault(at, `${name} must be a map, at most ${itemsMax} long`);
      return [];
    }
    return map.items.flatMap(({ key, value }): Entry[] => {
      const keyAt = key as Item;
      if (!isScalar(keyAt) || typeof keyAt.value !== "string") {
        fault(keyAt, `a key of ${name} must be text`);
        return [];
      }
      return [{ key: keyAt.value, value: (value as Item | null) ?? keyAt, at: keyAt }];
    });
  }

  function listItems(at: Item | undefined, name: string): readonly Item[] {
    if (at === undefined) return [];
    const list = resolve(at);
    if (isSeq(list) && list.items.length <= itemsMax) return list.items as Item[];
    fault(at, `${name} must be a list, at most ${itemsMax} long`);
    return [];
  }

  function readText(at: Item | undefined, name: string, lengthMax: number): string {
    if (at === undefined) return "";
    const scalar = resolve(at);
    const text = isScalar(scalar) && typeof scalar.value === "string" ? scalar.value : "";
    if (text !== "" && text.length <= lengthMax && !unprintable.test(text)) return text;
    fault(at, `${name} must be text of 1 to ${lengthMax} printable characters`);
    return "";
  }

  return {
    root: document.contents ?? undefined,
    fault,
    lineOf,
    listEntries,
    listItems,
    readText,

    assertSyntax() {
      for (const { pos, message } of [...document.errors, ...document.warnings]) {
        faults.push({ line: lineAt(lines, pos[0]), what: message });
      }
      throwFaults(faults, source);
    },

    assertFaultless: () => throwFaults(faults, source),

    readEntries(at, name, known, required) {
      if (at === undefined) fault(at, `${name} must be a map with ${required.join(", ")}`);
      const entries = new Map<string, Item>();
      const read = listEntries(at, name);
      for (const { key, value, at: keyAt } of read) {
        if (!known.includes(key)) {
          fault(keyAt, `${name} has the unknown key ${JSON.stringify(key)}`);
        } else if (entries.has(key)) {
          fault(keyAt, `${key} stands a second time in ${name}`);
        }
        entries.set(key, value);
      }
      if (at === undefined || !isMap(resolve(at))) return entries;
      for (const key of required.filter((one) => !entries.has(one))) {
        fault(at, `${name} has no ${key}`);
      }
      return entries;
    },

    listTexts(at, name) {
      const items = listItems(at, name);
      if (isSeq(resolve(at)) && items.length === 0) fault(at, `${name} must not be empty`);
      return items.flatMap((item) => {
        const text = readText(item, `an item of ${name}`, textLengthMax);
        return text === "" ? [] : [{ text, at: item }];
      });
    },
  };
}

function lineAt(lines: LineCounter, offset: number | undefined): number {
  return offset === undefined ? 1 : Math.max(1, lines.linePos(offset).line);
}

function throwFaults(
  faults: readonly { readonly line: number; readonly what: string }[],
  source: string,
): void {
  if (faults.length === 0) return;
  const shown = faults.toSorted((a, b) => a.line - b.line).slice(0, faultsShownMax);
  const rest = faults.length - shown.length;
  const texts = shown.map(({ line, what }) => `${source}:${line}: ${what}`);
  throw new OperatorError([...texts, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n"));
}

// Content of a datapoint: checked against its limits, and as the texts that are stored.

import { refuse } from "../../base/errors.ts";
import { datapointBytesMax, historyLengthMax } from "../../base/tenant-limits.ts";
import { isRecordId } from "../../base/ids.ts";
import { createPacer } from "../../base/pacer.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { assertSound } from "../../tracing/events/parse-event.ts";
import type { DatapointTexts } from "./datapoint-store.ts";

/** Content of a datapoint; an absent part is null. */
export type DatapointContent = {
  readonly inputs: JsonObject;
  /** Messages before the inputs. */
  readonly history: readonly JsonObject[];
  readonly groundTruth: JsonObject | null;
  readonly metadata: JsonObject | null;
  /** Id of an event. */
  readonly linkedEvent: string | null;
};

export const emptyContent: DatapointContent = {
  inputs: {},
  history: [],
  groundTruth: null,
  metadata: null,
  linkedEvent: null,
};

export type CheckedTexts = DatapointTexts & { readonly bytes: number };

/** Returns the texts of a content. Throws INVALID_ARGUMENT naming the field, after `path`. */
export function toTexts(content: DatapointContent, path = ""): CheckedTexts {
  const { inputs, history, groundTruth, metadata, linkedEvent } = content;
  assertSound(inputs, `${path}inputs`);
  if (history.length > historyLengthMax) {
    refuse(`${path}history`, `must have at most ${historyLengthMax} messages`);
  }
  history.forEach((message, index) => {
    assertSound(message, `${path}history[${index}]`);
  });
  if (groundTruth) assertSound(groundTruth, `${path}ground_truth`);
  if (metadata) assertSound(metadata, `${path}metadata`);
  if (linkedEvent !== null && !isRecordId(linkedEvent)) {
    refuse(`${path}linked_event`, "must be 1 to 128 printable characters");
  }
  const texts = {
    inputs: JSON.stringify(inputs),
    history: JSON.stringify(history),
    groundTruth: groundTruth && JSON.stringify(groundTruth),
    metadata: metadata && JSON.stringify(metadata),
  };
  const bytes = Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
  if (bytes > datapointBytesMax) {
    refuse(`${path}inputs`, `the datapoint has more than ${datapointBytesMax} bytes as JSON`);
  }
  return { ...texts, linkedEvent, bytes };
}

/**
 * Returns the texts of all items, with pauses for the event loop. `contentOf` makes the content of
 * an item; `pathOf` names the item in refusals.
 */
export async function toAllTexts<Item>(
  items: readonly Item[],
  { contentOf, pathOf, lane }: TextsOptions<Item>,
): Promise<readonly CheckedTexts[]> {
  const pacer = createPacer(lane);
  const texts: CheckedTexts[] = [];
  for (const [index, item] of items.entries()) {
    const path = pathOf(item, index);
    texts.push(toTexts(contentOf(item, path), path));
    if (pacer.due()) await pacer.rest();
  }
  return texts;
}

export type TextsOptions<Item> = {
  readonly contentOf: (item: Item, path: string) => DatapointContent;
  readonly pathOf: (item: Item, index: number) => string;
  /** Lane of the pauses; see base/pacer.ts. */
  readonly lane: string;
};

/** Returns the objects of a list. Throws INVALID_ARGUMENT naming the item that is none. */
export function toMessages(list: readonly JsonValue[], path: string): readonly JsonObject[] {
  return list.map((item, index) =>
    isJsonObject(item) ? item : refuse(`${path}[${index}]`, "must be an object"),
  );
}

// Draws the frames of a flame graph that are seen. Frames narrower than a pixel are drawn once a
// pixel, so that 100,000 of them cost no more than the pixels of the window.

import { colorStep, type FlameColor, type FlameLayout, type Frame, rowPx } from "./flame-layout.ts";
import type { SessionTree } from "./session-tree.ts";

const gapPx = 1;
const labelPxMin = 28;
const paddingPx = 5;

export type FlameColors = {
  readonly steps: readonly { readonly ground: string; readonly text: string }[];
  readonly bad: string;
  readonly focus: string;
  readonly font: string;
};

export type FlamePicture = {
  readonly context: CanvasRenderingContext2D;
  readonly tree: SessionTree;
  readonly layout: FlameLayout;
  readonly color: FlameColor;
  readonly colors: FlameColors;
  readonly selected: number;
  readonly hits: ReadonlySet<string>;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly scrollTop: number;
};

export function drawFlame(picture: FlamePicture): void {
  const { context, layout, widthPx, heightPx, scrollTop, colors } = picture;
  context.clearRect(0, 0, widthPx, heightPx);
  context.font = colors.font;
  context.textBaseline = "middle";
  const firstRow = Math.floor(scrollTop / rowPx) - 1;
  const lastRow = Math.ceil((scrollTop + heightPx) / rowPx);
  const drawnTo = new Map<number, number>();
  for (const frame of layout.frames) {
    if (frame.row < firstRow || frame.row > lastRow) continue;
    const right = Math.round(frame.to * widthPx);
    const isChosen = frame.at === picture.selected;
    if (right - frame.from * widthPx < 1 && !isChosen) {
      if ((drawnTo.get(frame.row) ?? -1) >= right) continue;
      drawnTo.set(frame.row, right);
    }
    drawFrame(picture, frame);
  }
}

function drawFrame(picture: FlamePicture, frame: Frame): void {
  const { context, tree, layout, color, colors, widthPx, scrollTop } = picture;
  const event = tree.nodes[frame.at]?.event;
  if (!event) return;
  const step = colors.steps[colorStep(frame.values[color], layout.max[color])];
  const left = Math.round(frame.from * widthPx);
  const width = Math.max(2, Math.round(frame.to * widthPx) - left - gapPx);
  const top = frame.row * rowPx - scrollTop;
  const height = rowPx - gapPx;
  context.fillStyle = step?.ground ?? colors.bad;
  context.fillRect(left, top, width, height);
  if (event.error !== undefined) {
    context.fillStyle = colors.bad;
    context.fillRect(left, top + height - 3, width, 3);
  }
  const isChosen = frame.at === picture.selected;
  if (isChosen || picture.hits.has(event.id)) {
    context.strokeStyle = colors.focus;
    context.lineWidth = isChosen ? 2 : 1;
    context.strokeRect(left + 1, top + 1, Math.max(1, width - 2), height - 2);
  }
  if (width < labelPxMin) return;
  context.fillStyle = step?.text ?? colors.focus;
  const label = fitted(context, event.name.slice(0, 200), width - 2 * paddingPx);
  context.fillText(label, left + paddingPx, top + height / 2);
}

/** Returns as much of a text as fits. */
function fitted(context: CanvasRenderingContext2D, text: string, widthPx: number): string {
  const whole = context.measureText(text).width;
  if (whole <= widthPx) return text;
  const chars = Math.floor((text.length * widthPx) / whole) - 1;
  return chars > 0 ? `${text.slice(0, chars)}…` : "";
}

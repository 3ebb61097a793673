// DashboardGrid: tiles in 12 columns. While they are arranged, a tile is dragged by its head and
// resized by its corner; by keys, the arrows move it, Shift with arrows resizes it, Delete removes
// it. Narrow windows show one column.

import { GripVertical, MoveDiagonal2, X } from "lucide-react";
import { useRef, useState } from "react";
import type { CSSProperties, KeyboardEvent, PointerEvent, ReactNode } from "react";
import { IconButton } from "../../design/button.tsx";
import { columns, inOrder, placeTile, removeTile, type Tile } from "./layout.ts";
import "./dashboard-grid.css";

export type GridTile = Tile & { readonly name: string };

export type DashboardGridProps = {
  readonly tiles: readonly GridTile[];
  readonly isArranging: boolean;
  readonly onChange: (tiles: readonly Tile[]) => void;
  readonly render: (tile: GridTile, heightPx: number) => ReactNode;
  /** Buttons at the right of a tile's name. */
  readonly actionsOf: (tile: GridTile) => ReactNode;
};

const rowPx = 44;
const gapPx = 12;
/** Height of a tile's head and padding. */
const framePx = 62;

type Drag = {
  readonly tile: Tile;
  readonly kind: "move" | "resize";
  readonly x: number;
  readonly y: number;
};

export function DashboardGrid(props: DashboardGridProps) {
  const { tiles, isArranging, onChange, render, actionsOf } = props;
  const grid = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Drag>();
  const [said, setSaid] = useState("");
  const nameOf = (id: string): string => tiles.find((tile) => tile.id === id)?.name ?? "";
  const put = (changed: Tile): void => {
    const next = placeTile(tiles, changed);
    const now = next.find(({ id }) => id === changed.id);
    if (now) setSaid(positionOf(nameOf(changed.id), now));
    onChange(next);
  };
  const onPointerMove = (event: PointerEvent): void => {
    if (!drag || !grid.current) return;
    const columnPx = (grid.current.clientWidth + gapPx) / columns;
    const dx = Math.round((event.clientX - drag.x) / columnPx);
    const dy = Math.round((event.clientY - drag.y) / (rowPx + gapPx));
    put(changedBy(drag.tile, drag.kind, dx, dy));
  };
  const start = (tile: Tile, kind: Drag["kind"]) => (event: PointerEvent) => {
    if (!isArranging || event.button !== 0) return;
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ tile, kind, x: event.clientX, y: event.clientY });
  };
  return (
    <div
      ref={grid}
      className="dashboard-grid"
      data-arranging={isArranging}
      onPointerMove={onPointerMove}
      onPointerUp={() => setDrag(undefined)}
      onPointerCancel={() => setDrag(undefined)}
    >
      <p className="visually-hidden" role="status">
        {said}
      </p>
      {inOrder(tiles).map(({ id }) => {
        const tile = tiles.find((one) => one.id === id);
        if (!tile) return null;
        const { h, name } = tile;
        return (
          <section
            key={id}
            className="dashboard-tile"
            aria-label={name}
            data-dragged={drag?.tile.id === id}
            style={placeOf(tile)}
          >
            <header onPointerDown={start(tile, "move")}>
              {isArranging ? (
                <MoveHandle
                  tile={tile}
                  onPut={put}
                  onRemove={() => {
                    setSaid(`${name} was taken off`);
                    onChange(removeTile(tiles, id));
                  }}
                />
              ) : null}
              <h2 className="truncate" title={name}>
                {name}
              </h2>
              {isArranging ? (
                <IconButton
                  size="small"
                  label={`Take ${name} off`}
                  icon={<X />}
                  onPointerDown={(event) => event.stopPropagation()}
                  onClick={() => onChange(removeTile(tiles, id))}
                />
              ) : (
                actionsOf(tile)
              )}
            </header>
            <div className="dashboard-tile-content">
              {render(tile, h * (rowPx + gapPx) - gapPx - framePx)}
            </div>
            {isArranging ? (
              <span className="dashboard-corner" aria-hidden onPointerDown={start(tile, "resize")}>
                <MoveDiagonal2 />
              </span>
            ) : null}
          </section>
        );
      })}
    </div>
  );
}

/** Place in the grid as variables, which narrow windows do not use. */
function placeOf({ x, y, w, h }: Tile): CSSProperties {
  return {
    "--column": `${x + 1} / span ${w}`,
    "--row": `${y + 1} / span ${h}`,
    "--rows": h,
  } as CSSProperties;
}

type MoveHandleProps = {
  readonly tile: GridTile;
  readonly onPut: (tile: Tile) => void;
  readonly onRemove: () => void;
};

const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function MoveHandle({ tile, onPut, onRemove }: MoveHandleProps) {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      onRemove();
    }
    if (!step) return;
    event.preventDefault();
    onPut(changedBy(tile, event.shiftKey ? "resize" : "move", ...step));
  };
  return (
    <IconButton
      size="small"
      label={`Move ${tile.name}: arrows move, Shift with arrows resizes, Delete takes it off`}
      icon={<GripVertical />}
      onKeyDown={onKeyDown}
    />
  );
}

function changedBy(tile: Tile, kind: Drag["kind"], dx: number, dy: number): Tile {
  const { x, y, w, h } = tile;
  return kind === "move" ? { ...tile, x: x + dx, y: y + dy } : { ...tile, w: w + dx, h: h + dy };
}

function positionOf(name: string, { x, y, w, h }: Tile): string {
  return `${name}: column ${x + 1}, row ${y + 1}, ${w} wide, ${h} high`;
}

// The grid of a dashboard: tiles in 12 columns. A moved or resized tile pushes those it meets down;
// then all rise as far as they can. Pure functions.

export type Tile = {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
};

type StoredTile = Omit<Tile, "id"> & { readonly chartId: string };

/** Returns the tiles of a dashboard as it is stored. */
export function toTiles(layout: { readonly tiles: readonly StoredTile[] } | undefined): Tile[] {
  return (layout?.tiles ?? []).map(({ chartId, x, y, w, h }) => ({ id: chartId, x, y, w, h }));
}

/** Returns the layout under which a dashboard is stored. */
export function toLayout(tiles: readonly Tile[]): { tiles: StoredTile[] } {
  return { tiles: tiles.map(({ id, x, y, w, h }) => ({ chartId: id, x, y, w, h })) };
}

export const columns = 12;
const [widthMin, heightMin, heightMax] = [2, 2, 20];

/** Returns the tiles after one of them was put elsewhere or resized, within the grid. */
export function placeTile(tiles: readonly Tile[], changed: Tile): readonly Tile[] {
  const w = bound(changed.w, widthMin, columns);
  const placed = {
    id: changed.id,
    w,
    h: bound(changed.h, heightMin, heightMax),
    x: bound(changed.x, 0, columns - w),
    y: Math.max(0, changed.y),
  };
  const others = inOrder(tiles.filter(({ id }) => id !== changed.id));
  return compact(others.reduce<readonly Tile[]>(pushDown, [placed]), placed.id);
}

/** Returns the tiles without one of them. */
export function removeTile(tiles: readonly Tile[], id: string): readonly Tile[] {
  return compact(tiles.filter((tile) => tile.id !== id));
}

/** Returns the tiles with a new one below all others, or beside the last where there is room. */
export function addTile(tiles: readonly Tile[], id: string): readonly Tile[] {
  const size = { id, w: 6, h: 5 };
  const bottom = Math.max(0, ...tiles.map(({ y, h }) => y + h));
  const last = inOrder(tiles).at(-1);
  const beside = last && { ...size, x: last.x + last.w, y: last.y };
  const fits = beside && beside.x + size.w <= columns && !tiles.some((one) => meets(one, beside));
  return compact([...tiles, fits ? beside : { ...size, x: 0, y: bottom }]);
}

/** Returns the tiles from the top left to the bottom right, as readers come to them. */
export function inOrder(tiles: readonly Tile[]): readonly Tile[] {
  return tiles.toSorted((left, right) => left.y - right.y || left.x - right.x);
}

function pushDown(placed: readonly Tile[], tile: Tile): readonly Tile[] {
  let moved = tile;
  for (;;) {
    const met = placed.find((one) => meets(one, moved));
    if (!met) return [...placed, moved];
    moved = { ...moved, y: met.y + met.h };
  }
}

/** Lets tiles rise; the one that is moved first, so that others give way to it. */
function compact(tiles: readonly Tile[], firstId?: string): readonly Tile[] {
  const ordered = tiles.toSorted(
    (left, right) =>
      left.y - right.y ||
      Number(right.id === firstId) - Number(left.id === firstId) ||
      left.x - right.x,
  );
  return ordered.reduce<readonly Tile[]>((placed, tile) => {
    let y = tile.y;
    while (y > 0 && !placed.some((one) => meets(one, { ...tile, y: y - 1 }))) y -= 1;
    return pushDown(placed, { ...tile, y });
  }, []);
}

function meets(left: Tile, right: Tile): boolean {
  return (
    left.x < right.x + right.w &&
    right.x < left.x + left.w &&
    left.y < right.y + right.h &&
    right.y < left.y + left.h
  );
}

function bound(value: number, least: number, greatest: number): number {
  return Math.min(greatest, Math.max(least, value));
}

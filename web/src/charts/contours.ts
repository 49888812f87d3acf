// Lines of equal density: each holds the given share of the points, in the smallest area that does.

import type { Points } from "./density";

export interface Contour {
  share: number;
  /** In pixels of the plot. */
  path: string;
}

const NX = 64;
const NY = 52;
/** Standard deviation of the smoothing, as a share of the axis: that of figures (analysis/plane.py). */
const BLUR = 2 / 64;

/** Gaussian smoothing along one axis; what would leave at a border is mirrored, so that no points are lost. */
function smooth(grid: Float64Array, columns: number, rows: number, across: boolean, sigma: number): Float64Array {
  const reach = Math.ceil(3 * sigma);
  const kernel = Array.from({ length: 2 * reach + 1 }, (_, k) => Math.exp(-((k - reach) ** 2) / (2 * sigma * sigma)));
  const sum = kernel.reduce((a, b) => a + b, 0);
  const size = across ? columns : rows;
  const found = new Float64Array(grid.length);
  for (let y = 0; y < rows; y++)
    for (let x = 0; x < columns; x++) {
      const from = grid[y * columns + x];
      if (from === 0) continue;
      for (let k = -reach; k <= reach; k++) {
        let to = (across ? x : y) + k;
        while (to < 0 || to >= size) to = to < 0 ? -1 - to : 2 * size - 1 - to;
        found[across ? y * columns + to : to * columns + x] += (from * kernel[k + reach]) / sum;
      }
    }
  return found;
}

/** The points that are wanted, in each of NX x NY cells. */
function counted({ effort, gain, cell, top }: Points, wanted?: (i: number) => boolean): Float64Array {
  const grid = new Float64Array(NX * NY);
  for (let i = 0; i < cell.length; i++) {
    if (cell[i] < 0 || (wanted && !wanted(i))) continue;
    const x = Math.min(1, Math.max(0, effort[i]));
    const y = Math.min(1, Math.max(0, gain[i] / top));
    grid[Math.min(NY - 1, Math.floor(y * NY)) * NX + Math.min(NX - 1, Math.floor(x * NX))]++;
  }
  return grid;
}

/** The density above which the given share of the points lies. */
function levelOf(counts: Float64Array, height: Float64Array, share: number): number {
  const filled = Array.from(counts.keys()).filter((k) => counts[k] > 0);
  filled.sort((a, b) => height[b] - height[a]);
  const all = counts.reduce((a, b) => a + b, 0);
  let seen = 0;
  for (const k of filled) {
    seen += counts[k];
    if (seen >= share * all - 1e-9) return height[k];
  }
  return 0;
}

/** Marching squares over the middles of the cells; beyond the border density goes on as it is there. */
function lines(grid: Float64Array, level: number, width: number, height: number): string {
  const px = (x: number): number => Math.min(width, Math.max(0, ((x + 0.5) * width) / NX));
  const py = (y: number): number => height - Math.min(height, Math.max(0, ((y + 0.5) * height) / NY));
  let path = "";
  for (let y = -1; y < NY; y++) {
    const lower = Math.max(0, y) * NX;
    const upper = Math.min(NY - 1, y + 1) * NX;
    for (let x = -1; x < NX; x++) {
      const left = Math.max(0, x);
      const right = Math.min(NX - 1, x + 1);
      const a = grid[lower + left] - level;
      const b = grid[lower + right] - level;
      const c = grid[upper + right] - level;
      const d = grid[upper + left] - level;
      // Most cells have no line: they are skipped before anything is allocated.
      if (a >= 0 === b >= 0 && b >= 0 === c >= 0 && c >= 0 === d >= 0) continue;
      const inside = [a, b, c, d].map((v) => v >= 0);
      const between = (u: number, v: number): number => u / (u - v);
      const crossings: [number, number][] = [];
      if (inside[0] !== inside[1]) crossings.push([x + between(a, b), y]);
      if (inside[1] !== inside[2]) crossings.push([x + 1, y + between(b, c)]);
      if (inside[2] !== inside[3]) crossings.push([x + between(d, c), y + 1]);
      if (inside[3] !== inside[0]) crossings.push([x, y + between(a, d)]);
      for (let k = 0; k + 1 < crossings.length; k += 2) {
        const [[ax, ay], [bx, by]] = [crossings[k], crossings[k + 1]];
        path += `M${px(ax).toFixed(1)} ${py(ay).toFixed(1)}L${px(bx).toFixed(1)} ${py(by).toFixed(1)}`;
      }
    }
  }
  return path;
}

export function contours(points: Points, shares: readonly number[], wanted?: (i: number) => boolean): Contour[] {
  const counts = counted(points, wanted);
  const height = smooth(smooth(counts, NX, NY, true, BLUR * NX), NX, NY, false, BLUR * NY);
  return shares.map((share) => ({ share, path: lines(height, levelOf(counts, height, share), points.width, points.height) }));
}

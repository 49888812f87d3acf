// The effort/gain plane: grid of effort columns and gain quartiles, and which points lie where. The rules are those of
// analysis/effort.py: an effort on a border belongs to the column above, a gain equal to a quartile to the row below.

import { sortedQuantile } from "../stats/statistics";
import type { Brush } from "../state.svelte";

export const EFFORTS = ["huge effort", "high", "medium", "low effort"] as const;
export const GAINS = ["low gain", "medium", "high", "huge gain"] as const;
export const COLUMNS = [0.25, 0.5, 0.75] as const;

export interface Grid {
  /** Quartiles of the gain over all points. */
  rows: [number, number, number];
  /** counts[gain][effort], gain from low to huge, effort from huge to low. */
  counts: number[][];
  total: number;
  diagonal: number;
  highHigh: number;
  cell: Int8Array;
}

/** Cell of each point (4 * gain row + effort column, -1 where a value is undefined) and the counts. */
export function grid(effort: Float64Array, gain: Float64Array): Grid {
  const defined: number[] = [];
  for (let i = 0; i < gain.length; i++) if (!Number.isNaN(gain[i]) && !Number.isNaN(effort[i])) defined.push(gain[i]);
  const sorted = Float64Array.from(defined).sort();
  const rows: Grid["rows"] = [sortedQuantile(sorted, 0.25), sortedQuantile(sorted, 0.5), sortedQuantile(sorted, 0.75)];
  const counts = [0, 1, 2, 3].map(() => [0, 0, 0, 0]);
  const cell = new Int8Array(gain.length).fill(-1);
  for (let i = 0; i < gain.length; i++) {
    if (Number.isNaN(gain[i]) || Number.isNaN(effort[i])) continue;
    const column = effort[i] < 0.25 ? 0 : effort[i] < 0.5 ? 1 : effort[i] < 0.75 ? 2 : 3;
    const row = gain[i] <= rows[0] ? 0 : gain[i] <= rows[1] ? 1 : gain[i] <= rows[2] ? 2 : 3;
    counts[row][column]++;
    cell[i] = 4 * row + column;
  }
  return {
    rows,
    counts,
    total: defined.length,
    diagonal: [0, 1, 2, 3].reduce((n, k) => n + counts[k][k], 0),
    highHigh: counts[2][0] + counts[2][1] + counts[3][0] + counts[3][1],
    cell,
  };
}

/** Which quartiles are the same number, in words; empty if none. The rows between them have no points. */
export function coinciding([lower, median, upper]: Grid["rows"]): string {
  if (lower === upper) return "All quartiles coincide";
  if (lower === median) return "The lower quartile and the median coincide";
  return median === upper ? "The median and the upper quartile coincide" : "";
}

export function inside(brush: Brush, x: number, y: number): boolean {
  return x >= brush.x0 && x <= brush.x1 && y >= brush.y0 && y <= brush.y1;
}

/** The part of the plane that a cell covers; open ends reach beyond every value. */
export function cellBrush(rows: Grid["rows"], gain: number, effort: number, top: number): Brush {
  const xs = [0, ...COLUMNS, 1];
  const ys = [0, ...rows, top];
  const tiny = 1e-9;
  return {
    x0: xs[effort],
    x1: effort === 3 ? 1 : xs[effort + 1] - tiny,
    y0: gain === 0 ? ys[0] : ys[gain] + tiny,
    y1: ys[gain + 1],
  };
}

// The effort/gain plane: grid of effort columns and gain quartiles, and which points lie where. The rules are those of
// analysis/effort.py: an effort on a border belongs to the column above, a gain equal to a quartile to the row below.

import { sortedQuantile } from "../stats/statistics";
import type { Brush } from "../state.svelte";

/** A part of the plane, whatever the measure of gain. */
export type Box = Omit<Brush, "measure">;

export const EFFORTS = ["huge effort", "high", "medium", "low effort"] as const;
export const GAINS = ["low gain", "medium", "high", "huge gain"] as const;
export const COLUMNS = [0.25, 0.5, 0.75] as const;

export interface Grid {
  /** Quartiles of the gain over all points, ascending. */
  rows: [number, number, number];
  /** counts[gain][effort], gain from low to huge, effort from huge to low. */
  counts: number[][];
  total: number;
  diagonal: number;
  highHigh: number;
  cell: Int8Array;
}

/**
 * Cell of each point (4 * gain row + effort column, -1 where a value is undefined or infinite) and the counts; `sign` is
 * -1 where lower gains are better, so that they have the upper rows.
 */
export function grid(effort: Float64Array, gain: Float64Array, sign: 1 | -1 = 1): Grid {
  const merits = new Float64Array(gain.length);
  let total = 0;
  const counted = (i: number): boolean => Number.isFinite(gain[i]) && !Number.isNaN(effort[i]);
  for (let i = 0; i < gain.length; i++) if (counted(i)) merits[total++] = sign * gain[i];
  const sorted = merits.subarray(0, total).sort();
  const borders = [0.25, 0.5, 0.75].map((q) => sortedQuantile(sorted, q));
  const counts = [0, 1, 2, 3].map(() => [0, 0, 0, 0]);
  const cell = new Int8Array(gain.length).fill(-1);
  for (let i = 0; i < gain.length; i++) {
    if (!counted(i)) continue;
    const column = effort[i] < 0.25 ? 0 : effort[i] < 0.5 ? 1 : effort[i] < 0.75 ? 2 : 3;
    const merit = sign * gain[i];
    const row = merit <= borders[0] ? 0 : merit <= borders[1] ? 1 : merit <= borders[2] ? 2 : 3;
    counts[row][column]++;
    cell[i] = 4 * row + column;
  }
  const rows = (sign > 0 ? borders : borders.map((q) => -q).reverse()) as Grid["rows"];
  return {
    rows,
    counts,
    total,
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

/** Which rows have no points because many lists share a gain, and how many do; empty if none. */
export function collapsed({ rows, cell }: Grid, gain: Float64Array, sign: 1 | -1): { value: number; lists: number; empty: string[]; row: string }[] {
  const merit = sign > 0 ? rows : [...rows].reverse();
  const found: { value: number; lists: number; empty: string[]; row: string }[] = [];
  for (let k = 0; k < 2; k++) {
    if (merit[k] !== merit[k + 1]) continue;
    const last = found[found.length - 1];
    if (last?.value === merit[k]) last.empty.push(GAINS[k + 1]);
    else found.push({ value: merit[k], lists: 0, empty: [GAINS[k + 1]], row: GAINS[k] });
  }
  for (const one of found)
    for (let i = 0; i < gain.length; i++) if (cell[i] >= 0 && gain[i] === one.value) one.lists++;
  return found;
}

export function inside(brush: Box, x: number, y: number): boolean {
  return x >= brush.x0 && x <= brush.x1 && y >= brush.y0 && y <= brush.y1;
}

/** The part of the plane that a cell covers; open ends reach beyond every value. */
export function cellBrush(rows: Grid["rows"], gain: number, effort: number, top: number, sign: 1 | -1 = 1): Box {
  const xs = [0, ...COLUMNS, 1];
  const ys = [0, ...rows, top];
  const tiny = 1e-9;
  const [x0, x1] = [xs[effort], effort === 3 ? 1 : xs[effort + 1] - tiny];
  if (sign > 0) return { x0, x1, y0: gain === 0 ? ys[0] : ys[gain] + tiny, y1: ys[gain + 1] };
  return { x0, x1, y0: ys[3 - gain], y1: gain === 0 ? ys[4] : ys[4 - gain] - tiny };
}

// SVG paths of curves over ranks.

import { line } from "d3-shape";

/** A line through (rank, value), leaving out the ranks in the middle of straight stretches. */
export function path(
  values: ArrayLike<number>,
  last: number,
  x: (rank: number) => number,
  y: (value: number) => number,
  keepAll = false,
): string {
  const ranks: number[] = [];
  for (let j = 1; j <= last; j++) {
    const straight = j > 1 && j < last && values[j] - values[j - 1] === values[j - 1] - values[j - 2];
    if (!straight || keepAll) ranks.push(j);
  }
  return (
    line<number>()
      .x((j) => Math.round(10 * x(j)) / 10)
      .y((j) => Math.round(10 * y(values[j - 1])) / 10)(ranks) ?? ""
  );
}

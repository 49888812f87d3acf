// Many translucent points at once: counted for each pixel, then painted in one go.

import { prepare, rgb } from "../ui/canvas";

/** Room around the plot so that points on its border are whole. */
export const EDGE = 4;

export interface Points {
  effort: Float64Array;
  gain: Float64Array;
  /** Negative where the point is not to be drawn. */
  cell: Int8Array;
  /** Gain at the upper border. */
  top: number;
  width: number;
  height: number;
}

/** The pixels of a disc, as distances from its middle. */
function disc(side: number): [number, number][] {
  const found: [number, number][] = [];
  const middle = (side - 1) / 2;
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) if (Math.hypot(x - middle, y - middle) <= side / 2) found.push([x, y]);
  return found;
}

/** Draws every point as a disc of `size`; `alpha` is the strength of one, overlapping ones add up. */
export function scatter(canvas: HTMLCanvasElement, points: Points, size: number, ink: string, alpha: number): void {
  const context = prepare(canvas, points.width + 2 * EDGE, points.height + 2 * EDGE);
  const { width: columns, height: rows } = canvas;
  const scale = columns / (points.width + 2 * EDGE);
  const side = Math.max(1, Math.round(size * scale));
  const hits = new Uint16Array(columns * rows);
  const shape = disc(side);
  const steps = Int32Array.from(shape, ([x, y]) => y * columns + x);
  const { effort, gain, cell, top, width, height } = points;
  for (let i = 0; i < cell.length; i++) {
    if (cell[i] < 0) continue;
    const left = Math.round((EDGE + effort[i] * width) * scale - side / 2);
    const upper = Math.round((EDGE + height - (gain[i] / top) * height) * scale - side / 2);
    if (left >= 0 && upper >= 0 && left + side <= columns && upper + side <= rows) {
      const corner = upper * columns + left;
      for (let k = 0; k < steps.length; k++) hits[corner + steps[k]]++;
      continue;
    }
    for (let k = 0; k < shape.length; k++) {
      const x = left + shape[k][0];
      const y = upper + shape[k][1];
      if (x >= 0 && x < columns && y >= 0 && y < rows) hits[y * columns + x]++;
    }
  }
  const image = context.createImageData(columns, rows);
  const pixels = image.data;
  const [r, g, b] = rgb(ink);
  // Few numbers of points occur at many pixels.
  const strength = Float64Array.from({ length: 64 }, (_, n) => 255 * (1 - Math.pow(1 - alpha, n)));
  for (let k = 0; k < hits.length; k++) {
    if (hits[k] === 0) continue;
    pixels[4 * k] = r;
    pixels[4 * k + 1] = g;
    pixels[4 * k + 2] = b;
    pixels[4 * k + 3] = hits[k] < 64 ? strength[hits[k]] : 255 * (1 - Math.pow(1 - alpha, hits[k]));
  }
  context.putImageData(image, 0, 0);
}

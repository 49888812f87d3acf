// Canvas that is sharp on every screen and follows the colours of the style sheet.

export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

const RUNS = ["run-0", "run-1", "run-2", "run-3", "run-4", "run-5", "run-6", "run-7"] as const;
/** Colours of the archetypes, and of the quarters of the topics by recall base. */
export const SHAPES = ["shape-0", "shape-1", "shape-2", "shape-3", "shape-4", "shape-5", "shape-6", "shape-7"] as const;
export const QUARTERS = ["quarter-0", "quarter-1", "quarter-2", "quarter-3"] as const;
const COLOURS = ["paper", "ink", "muted", "accent", "early", "late", "exact", "empty", ...RUNS, ...SHAPES, ...QUARTERS] as const;
export type Palette = Record<(typeof COLOURS)[number], string>;

/** The colours of the style sheet as they are now. Asking costs a style computation, so ask once for each theme. */
export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Palette;
}

export type RGB = [number, number, number];

export function rgb(hex: string): RGB {
  const n = parseInt(hex.replace("#", ""), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

export function mix(a: RGB, b: RGB, t: number): RGB {
  return [0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * t)) as RGB;
}

export const css = ([r, g, b]: RGB): string => `rgb(${r} ${g} ${b})`;

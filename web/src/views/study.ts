// Reads the tables of a study (correlations, pool robustness, discriminative power, bounds) for drawing.

import type { Cell, StudyTable } from "../data/payload";

export type Row = Record<string, Cell>;

export function rowsOf(table: StudyTable | undefined): Row[] {
  if (!table) return [];
  return table.rows.map((row) => Object.fromEntries(table.columns.map((c, i) => [c, row[i]])));
}

export const text = (v: Cell | undefined): string => (v === null || v === undefined ? "" : String(v));
/** A number of a table; JSON has words for infinite ones, and null for those that are undefined. */
export const number = (v: Cell | undefined): number =>
  typeof v === "number" ? v : v === "Infinity" ? Infinity : v === "-Infinity" ? -Infinity : NaN;

export function distinct(rows: Row[], column: string): string[] {
  return [...new Set(rows.map((r) => text(r[column])))];
}

/** Symmetric matrix of correlations of one method. */
export function matrix(rows: Row[], method: string): { names: string[]; at: (a: string, b: string) => number } {
  const own = rows.filter((r) => text(r.method) === method);
  const names = [...new Set([...distinct(own, "a"), ...distinct(own, "b")])];
  const values = new Map<string, number>();
  for (const r of own) {
    values.set(JSON.stringify([text(r.a), text(r.b)]), number(r.value));
    if (!values.has(JSON.stringify([text(r.b), text(r.a)])))
      values.set(JSON.stringify([text(r.b), text(r.a)]), number(r.value));
  }
  return { names, at: (a, b) => (a === b ? 1 : (values.get(JSON.stringify([a, b])) ?? NaN)) };
}

export interface Series {
  name: string;
  points: [number, number][];
}

/** The share of the pool as a number: "70", "70%", 0.7 and "ratio 70" all occur in practice. */
export function share(pool: Cell | undefined): number {
  if (typeof pool === "number") return pool <= 1 ? 100 * pool : pool;
  const found = /[\d.]+/.exec(text(pool));
  return found ? Number(found[0]) : NaN;
}

/** Mean tau against the pool, one line for each measure. */
export function robustness(rows: Row[]): Series[] {
  return distinct(rows, "measure").map((name) => {
    const sums = new Map<number, [number, number]>();
    for (const r of rows) {
      const x = share(r.pool);
      const y = number(r.tau);
      if (text(r.measure) !== name || Number.isNaN(x) || Number.isNaN(y)) continue;
      const [s, n] = sums.get(x) ?? [0, 0];
      sums.set(x, [s + y, n + 1]);
    }
    return { name, points: [...sums].map(([x, [s, n]]) => [x, s / n] as [number, number]).sort((a, b) => b[0] - a[0]) };
  });
}

/** ASL curve: pairs of runs sorted by achieved significance level, the least significant first. */
export function aslCurves(rows: Row[]): Series[] {
  return distinct(rows, "measure").map((name) => {
    const own = rows.filter((r) => text(r.measure) === name && !Number.isNaN(number(r.asl)));
    own.sort((a, b) => number(b.asl) - number(a.asl));
    return {
      name,
      points: own.map((r, i) => [typeof r.pairs === "number" ? r.pairs : i + 1, number(r.asl)] as [number, number]),
    };
  });
}

/** Mean lower and upper bound against depth, over runs and topics. */
export function bounds(rows: Row[], p: string): Series[] {
  const own = rows.filter((r) => text(r.p) === p);
  return ["lower", "upper"].map((name) => {
    const sums = new Map<number, [number, number]>();
    for (const r of own) {
      const x = number(r.depth);
      const y = number(r[name]);
      if (Number.isNaN(x) || Number.isNaN(y)) continue;
      const [s, n] = sums.get(x) ?? [0, 0];
      sums.set(x, [s + y, n + 1]);
    }
    return { name, points: [...sums].map(([x, [s, n]]) => [x, s / n] as [number, number]).sort((a, b) => a[0] - b[0]) };
  });
}

// Once after loading: do the page's own formulas give the values that came with the data?

import { OF_EFFORT } from "../measures/catalogue";
import type { Collection } from "./collection";

export interface Difference {
  measure: string;
  /** The largest difference, and how many lists have one. */
  largest: number;
  lists: number;
}

export interface Agreement {
  /** Measures and lists that were compared. */
  measures: number;
  lists: number;
  differences: Difference[];
}

const TOLERANCE = 1e-9;

function apart(a: number, b: number): number {
  if (Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b))) return 0;
  const difference = Math.abs(a - b) / Math.max(1, Math.abs(b));
  return difference <= TOLERANCE ? 0 : Number.isNaN(difference) ? Infinity : Math.abs(a - b);
}

/** Compares every formula with every value, in slices so that the page stays responsive. */
export async function agreement(d: Collection): Promise<Agreement> {
  const compared = d.measures.flatMap((m) =>
    m.formula && (!m.formula.needsNonrelevant || d.hasNonrelevant)
      ? [{ m, formula: m.formula, given: d.values(m.name, d.defaults), found: { measure: m.name, largest: 0, lists: 0 } }]
      : [],
  );
  let slice = performance.now();
  for (let i = 0; i < d.size; i++) {
    if (d.skips(i)) continue;
    const list = d.list(i);
    const effort = d.effort(i, d.defaults);
    for (const { formula, given, found } of compared) {
      const pick = OF_EFFORT[formula.name];
      const own = pick ? (effort ? pick(effort) : NaN) : formula.of(list, d.defaults);
      const difference = apart(own, given[i]);
      if (difference === 0) continue;
      found.lists++;
      found.largest = Math.max(found.largest, difference);
    }
    if (i % 64 === 0 && performance.now() - slice > 8) {
      await new Promise((resume) => setTimeout(resume, 16));
      slice = performance.now();
    }
  }
  return { measures: compared.length, lists: d.size, differences: compared.map((c) => c.found).filter((f) => f.lists > 0) };
}

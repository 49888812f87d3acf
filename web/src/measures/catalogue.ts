// Measures, and the formulas that the page implements for what-if and for settings changed in the browser.
// Names, meanings, directions, ranges, values and means come from Python with the data.

import type { Measured } from "../data/types";
import * as effort from "./effort";
import * as gain from "./gain";
import type { List, Settings } from "./list";

export type Better = Measured["better"];
export type Summary = Measured["summary"];

/** 1 if higher values are better or if there is no direction, -1 if lower values are better. */
export const sign = (better: Better): 1 | -1 => (better === "lower" ? -1 : 1);

export interface Measure {
  name: string;
  meaning: string;
  kind: Measured["kind"];
  summary: Summary;
  better: Better;
  low: number | null;
  high: number | null;
  /** Values lie in [0, 1], so axes and colours need not look at the data. */
  unit: boolean;
  formula?: Formula;
}

export interface Formula {
  name: string;
  of: (list: List, settings: Settings) => number;
  /** The settings that its values depend on. */
  depends: readonly (keyof Settings)[];
  needsNonrelevant?: boolean;
}

/** Effort measures as functions of the effort of a list. */
export const OF_EFFORT: Readonly<Record<string, (e: effort.Effort) => number>> = {
  Twist: (e) => e.twist,
  Rho: (e) => e.rho,
  Sigma: (e) => e.sigma,
  SigmaPlus: (e) => e.sigmaPlus,
  SigmaMinus: (e) => e.sigmaMinus,
  Rho2012: (e) => e.rho2012,
  b_ratio: (e) => e.bRatio,
  CRP_min: (e) => e.crpMin,
  CRP_N: (e) => e.crpN,
};

function g(name: string, of: Formula["of"], depends: Formula["depends"] = [], needsNonrelevant = false): Formula {
  return { name, of, depends, needsNonrelevant };
}

function e(name: string): Formula {
  const pick = OF_EFFORT[name];
  return {
    name,
    depends: ["length", "crossing"],
    of: (list, s) => {
      const value = effort.effort(list, s.length, s.crossing);
      return value === null ? NaN : pick(value);
    },
  };
}

export const FORMULAS: ReadonlyMap<string, Formula> = new Map(
  [
    g("AP", gain.averagePrecision),
    g("nDCG", (l, s) => (s.dcg === "jk10" ? gain.ndcg(l, "jk10", s.length) : gain.ndcg(l, "trec_eval")), ["dcg"]),
    g("nDCG@10", (l, s) => gain.ndcg(l, s.dcg, 10), ["dcg"]),
    g("RBP", (l) => gain.rankBiasedPrecision(l, 0.8)),
    g("RBP(p=0.5)", (l) => gain.rankBiasedPrecision(l, 0.5)),
    g("P@10", (l) => gain.precision(l, 10)),
    g("RR", gain.reciprocalRank),
    g("Rprec", gain.rPrecision),
    g("R@100", (l) => gain.recall(l, 100)),
    g("Bpref", gain.bpref, [], true),
    g("Judged@10", (l) => (l.retrieved === 0 ? 0 : l.judged10 / Math.min(10, l.retrieved))),
    ...Object.keys(OF_EFFORT).map(e),
  ].map((formula) => [formula.name, formula]),
);

/** Whether a measure has other values with these settings than with those. */
export function dependsOn(formula: Formula | undefined, a: Settings, b: Settings): boolean {
  if (!formula) return false;
  // the paper's nDCG is cut at N
  const length = formula.name === "nDCG" && a.dcg === "jk10" && a.length !== b.length;
  return length || formula.depends.some((key) => a[key] !== b[key]);
}

// The measures the page can compute by itself, under the names the command line uses.

import * as effort from "./effort";
import * as gain from "./gain";
import type { List, Settings } from "./list";

export type Better = "higher" | "lower" | "neither";

/** 1 where higher values are better, -1 where lower ones are; what is neither is ordered like the former. */
export const sign = (better: Better): 1 | -1 => (better === "lower" ? -1 : 1);

export interface Measure {
  name: string;
  meaning: string;
  kind: "gain" | "effort" | "data" | "given";
  /** Values lie in [0, 1], so axes and colours need not look at the data. */
  unit: boolean;
  /** Which values are better, as Python says it. */
  better: Better;
  of: (list: List, settings: Settings) => number;
  needsNonrelevant?: boolean;
}

/** A measure without its direction, which comes with the data. */
type Formula = Omit<Measure, "better">;

function g(name: string, meaning: string, of: Measure["of"], needsNonrelevant = false): Formula {
  return { name, meaning, kind: "gain", unit: true, of, needsNonrelevant };
}

function e(name: string, meaning: string, pick: (e: effort.Effort) => number, unit = true): Formula {
  return {
    name,
    meaning,
    kind: "effort",
    unit,
    of: (list, s) => {
      const value = effort.effort(list, s.length, s.crossing);
      return value === null ? NaN : pick(value);
    },
  };
}

export const CATALOGUE: readonly Formula[] = [
  g("AP", "mean over the relevant documents of the precision at their ranks", gain.averagePrecision),
  g("nDCG", "discounted gain of the list over that of the ideal list", (l, s) =>
    s.dcg === "jk10" ? gain.ndcg(l, "jk10", s.length) : gain.ndcg(l, "trec_eval"),
  ),
  g("nDCG@10", "the same in the first ten ranks", (l, s) => gain.ndcg(l, s.dcg, 10)),
  g("RBP(p=0.8)", "expected gain of a patient reader who goes on with probability 0.8", (l) =>
    gain.rankBiasedPrecision(l, 0.8),
  ),
  g("RBP(p=0.5)", "the same with an impatient reader, probability 0.5", (l) => gain.rankBiasedPrecision(l, 0.5)),
  g("P@10", "share of relevant documents in the first ten ranks", (l) => gain.precision(l, 10)),
  g("RR", "one over the rank of the first relevant document", gain.reciprocalRank),
  g("Rprec", "precision at the rank of the recall base", gain.rPrecision),
  g("R@100", "share of the relevant documents in the first hundred ranks", (l) => gain.recall(l, 100)),
  g("Bpref", "relevant documents preferred to judged non-relevant ones", gain.bpref, true),
  e("Twist", "1 minus avoidable effort: mean of recovery ratio and space ratio", (x) => x.twist),
  e("Rho", "recovery ratio: recall base over balance point", (x) => x.rho),
  e("Sigma", "space ratio: harmonic mean of its two halves", (x) => x.sigma),
  e("SigmaPlus", "1 minus the space walked for documents that come too late", (x) => x.sigmaPlus),
  e("SigmaMinus", "1 minus the space walked for documents that come too early", (x) => x.sigmaMinus),
  e("Rho2012", "recovery value of 2012: recall base over balance point after the turn", (x) => x.rho2012, false),
  e("b_ratio", "1 minus the balance point over that of the full-scale run", (x) => x.bRatio, false),
  e("CRP_min", "1 minus CRP at the turn over that of the full-scale run", (x) => x.crpMin, false),
  e("CRP_N", "1 minus the last CRP over that of the full-scale run", (x) => x.crpN, false),
  {
    name: "Judged@10",
    meaning: "share of judged documents among those in the first ten ranks",
    kind: "data",
    unit: true,
    of: (l) => (l.retrieved === 0 ? 0 : l.judged10 / Math.min(10, l.retrieved)),
  },
];

// One list rank by rank, for the curve panel.

import { effectiveLength, relativePosition } from "./effort";
import { discountTable, gainOf } from "./gain";
import type { Discount, List, Settings } from "./list";

export interface Curve {
  /** Arrays hold rank 1 at index 0. */
  rp: Int32Array;
  crp: Int32Array;
  /** Index of the grade at each rank, -1 where the document is not relevant. */
  grade: Int16Array;
  dcg: Float64Array;
  idealDcg: Float64Array;
  /** Discounted gain of the run minus that of the ideal list at each rank. */
  deltaGain: Float64Array;
}

/** The grade index of the ideal list at rank j, or -1. */
function idealGrade(list: List, j: number): number {
  const { max, counts } = list.topic;
  if (j > list.topic.recallBase) return -1;
  for (let g = 0; g < counts.length; g++) if (j <= max[g]) return g;
  return -1;
}

export function curve(list: List, settings: Settings): Curve {
  const { topic, rank, grade } = list;
  const n = effectiveLength(topic, settings.length);
  const grades = new Int16Array(n).fill(-1);
  for (let h = list.from; h < list.to && rank[h] <= settings.length; h++) grades[rank[h] - 1] = grade[h];
  const kind: Discount = settings.dcg;
  const discount = discountTable(kind, n);
  const rp = new Int32Array(n);
  const crp = new Int32Array(n);
  const dcg = new Float64Array(n);
  const ideal = new Float64Array(n);
  const delta = new Float64Array(n);
  let c = 0;
  let d = 0;
  let i = 0;
  for (let j = 1; j <= n; j++) {
    const g = grades[j - 1];
    const best = idealGrade(list, j);
    const gain = g < 0 ? 0 : gainOf(topic, g, kind);
    const idealGain = best < 0 ? 0 : gainOf(topic, best, kind);
    rp[j - 1] = relativePosition(topic, j, g);
    crp[j - 1] = c += rp[j - 1];
    dcg[j - 1] = d += gain / discount[j];
    ideal[j - 1] = i += idealGain / discount[j];
    delta[j - 1] = (gain - idealGain) / discount[j];
  }
  return { rp, crp, grade: grades, dcg, idealDcg: ideal, deltaGain: delta };
}

/** CRP of the full-scale run at every rank, the reference line of the panel. */
export function fullScale(list: List, settings: Settings): Int32Array {
  const { topic } = list;
  const n = effectiveLength(topic, settings.length);
  const R = topic.recallBase;
  const crp = new Int32Array(n);
  let c = 0;
  let g = topic.counts.length - 1;
  let left = g >= 0 ? topic.counts[g] : 0;
  for (let j = 1; j <= n; j++) {
    let at = -1;
    if (j > n - R) {
      while (left === 0) left = topic.counts[--g];
      left--;
      at = g;
    }
    crp[j - 1] = c += relativePosition(topic, j, at);
  }
  return crp;
}

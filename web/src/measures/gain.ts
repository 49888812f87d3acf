// Measures of gain, as trec_eval defines them (the effort measures are in effort.ts).

import type { Discount, List, Topic } from "./list";

export function averagePrecision(list: List): number {
  const { rank, from, to, topic } = list;
  if (topic.recallBase === 0) return 0;
  let sum = 0;
  for (let h = from; h < to; h++) sum += (h - from + 1) / rank[h];
  return sum / topic.recallBase;
}

function hitsWithin(list: List, cutoff: number): number {
  const { rank, from, to } = list;
  let h = from;
  while (h < to && rank[h] <= cutoff) h++;
  return h - from;
}

export const precision = (list: List, k: number): number => hitsWithin(list, k) / k;

export function recall(list: List, k: number): number {
  return list.topic.recallBase === 0 ? 0 : hitsWithin(list, k) / list.topic.recallBase;
}

export function rPrecision(list: List): number {
  const R = list.topic.recallBase;
  return R === 0 ? 0 : hitsWithin(list, R) / R;
}

export const reciprocalRank = (list: List): number => (list.to > list.from ? 1 / list.rank[list.from] : 0);

/** RBP = (1 - p) sum over relevant hits of p^(rank - 1). */
export function rankBiasedPrecision(list: List, p: number): number {
  const { rank, from, to } = list;
  let sum = 0;
  for (let h = from; h < to; h++) sum += Math.pow(p, rank[h] - 1);
  return (1 - p) * sum;
}

/**
 * Bpref = 1/R sum over retrieved relevant documents of 1 - min(n, R) / min(R, N), n = judged non-relevant above. Grades
 * below zero say that a document was not really judged, as trec_eval has it.
 */
export function bpref(list: List): number {
  const { rank, from, to, topic, below } = list;
  const R = topic.recallBase;
  if (!below) return NaN;
  if (R === 0) return 0;
  const bound = Math.min(R, topic.nonrelevant - topic.negative);
  let sum = 0;
  let above = 0;
  let b = below.from;
  for (let h = from; h < to; h++) {
    for (; b < below.to && below.rank[b] < rank[h]; b++) if (!below.negative?.[b]) above++;
    sum += above === 0 ? 1 : 1 - Math.min(above, R) / bound;
  }
  return sum / R;
}

let discounts: Record<Discount, Float64Array> = { trec_eval: new Float64Array(0), jk10: new Float64Array(0) };

/** Discounts of ranks 1..n at index 1..n. */
export function discountTable(kind: Discount, n: number): Float64Array {
  if (discounts[kind].length <= n) {
    const table = new Float64Array(Math.max(2048, 2 * n) + 1);
    for (let i = 1; i < table.length; i++) {
      table[i] = kind === "trec_eval" ? Math.log2(1 + i) : Math.max(1, Math.log10(i));
    }
    discounts[kind] = table;
  }
  return discounts[kind];
}

/** Gain of the grade at index g: the grade itself, or 5, 10, 15, ... as in the Twist paper. */
export const gainOf = (topic: Topic, g: number, kind: Discount): number =>
  kind === "trec_eval" ? topic.grades[g] : 5 * topic.grades[g];

export function dcg(list: List, kind: Discount, cutoff = Infinity): number {
  const { rank, grade, from, to, topic } = list;
  if (to === from) return 0;
  const discount = discountTable(kind, rank[to - 1]);
  let sum = 0;
  for (let h = from; h < to && rank[h] <= cutoff; h++) sum += gainOf(topic, grade[h], kind) / discount[rank[h]];
  return sum;
}

export function idealDcg(topic: Topic, kind: Discount, cutoff = Infinity): number {
  return topic.ideal(`${kind}@${cutoff}`, () => {
    const discount = discountTable(kind, topic.recallBase);
    let sum = 0;
    for (let g = 0, i = 1; g < topic.counts.length; g++) {
      const gain = gainOf(topic, g, kind);
      for (; i <= topic.max[g] && i <= cutoff; i++) sum += gain / discount[i];
    }
    return sum;
  });
}

/** nDCG: DCG over the ideal of all judged documents, cut at the same rank. */
export function ndcg(list: List, kind: Discount, cutoff = Infinity): number {
  const ideal = idealDcg(list.topic, kind, cutoff);
  return ideal === 0 ? 0 : dcg(list, kind, cutoff) / ideal;
}

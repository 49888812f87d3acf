// The input of a measure: one list (a run on a topic) as the ranks and grades of its relevant documents.

import type { Numbers } from "../data/payload";

export type Crossing = "sign-change" | "definition" | "matters";
export type Discount = "trec_eval" | "jk10";

export interface Settings {
  /** Evaluation length N of the effort measures. */
  length: number;
  crossing: Crossing;
  /** DCG of the curves and of nDCG: trec_eval (gain = grade, log2(1+i)) or gains 5, 10, ... with max(1, log10 i). */
  dcg: Discount;
  /** Topics that means, intervals and tests use; absent: all. */
  subset?: Subset;
  /** Hypothetical labels and gains; absent: the judgments as they are. */
  changes?: Changes;
}

/** A hypothetical grade of an unjudged document. */
export interface Label {
  topic: number;
  name: string;
  grade: number;
}

/** Changes of the judgments; equal keys mean equal changes. */
export interface Changes {
  key: string;
  labels: readonly Label[];
  /** Gain of every grade of the collection in DCG, highest grade first; null: the grades. */
  gains: readonly number[] | null;
}

/** Some of the topics; equal keys mean equal topics. */
export interface Subset {
  key: string;
  topics: readonly number[];
}

export const DEFAULTS: Settings = { length: 1000, crossing: "sign-change", dcg: "trec_eval" };

/** The judgments of a topic. Grades are indexed from the highest (0) to the lowest. */
export class Topic {
  readonly recallBase: number;
  /** First and last rank of each grade in the ideal list. */
  readonly min: Int32Array;
  readonly max: Int32Array;
  private ideals = new Map<string, number>();

  constructor(
    readonly grades: readonly number[],
    readonly counts: Int32Array,
    readonly nonrelevant: number,
    /** Those of them with grades below zero. */
    readonly negative = 0,
  ) {
    this.min = new Int32Array(counts.length);
    this.max = new Int32Array(counts.length);
    let above = 0;
    for (let g = 0; g < counts.length; g++) {
      this.min[g] = above + 1;
      above += counts[g];
      this.max[g] = above;
    }
    this.recallBase = above;
  }

  /** A value that depends on the ideal list only, computed once. */
  ideal(key: string, compute: () => number): number {
    let value = this.ideals.get(key);
    if (value === undefined) {
      value = compute();
      this.ideals.set(key, value);
    }
    return value;
  }
}

/** Ranks of judged documents that are not relevant; `negative` is 1 where the grade is below zero. */
export interface Below {
  rank: Numbers;
  negative?: Numbers;
  from: number;
  to: number;
}

/** Hits `from` to `to` (exclusive) of shared arrays; `grade` holds indices into the topic's grades. */
export interface List {
  topic: Topic;
  rank: Numbers;
  grade: Numbers;
  from: number;
  to: number;
  retrieved: number;
  judged10: number;
  /** Ranks of judged non-relevant documents, when the data has them. */
  below?: Below;
}

/** A list from the grade index at every rank (-1: not relevant), as the what-if view edits it. */
export function listOf(grades: readonly number[], topic: Topic, retrieved = grades.length): List {
  const rank: number[] = [];
  const grade: number[] = [];
  grades.forEach((g, i) => {
    if (g >= 0) {
      rank.push(i + 1);
      grade.push(g);
    }
  });
  return {
    topic,
    rank: Uint32Array.from(rank),
    grade: Uint8Array.from(grade),
    from: 0,
    to: rank.length,
    retrieved,
    judged10: NaN,
  };
}

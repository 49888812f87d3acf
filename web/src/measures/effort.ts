// Effort: relative position, its cumulation, Twist, archetypes and the indicators of 2012.

import type { Crossing, List, Topic } from "./list";

export const ARCHETYPES = [
  "ideal",
  "excellent A",
  "excellent B",
  "ups-and-downs",
  "typical A",
  "typical B",
  "full scale",
  "worst",
] as const;
export type Archetype = (typeof ARCHETYPES)[number];

export interface Effort {
  /** Effective evaluation length: at least twice the recall base. */
  length: number;
  rho: number;
  sigma: number;
  sigmaPlus: number;
  sigmaMinus: number;
  twist: number;
  /** First crossing of the axis (Infinity: none) and balance point max(RB, crossing). */
  crossing: number;
  balance: number;
  archetype: Archetype;
  crpLast: number;
  lossAtR: number;
  /** Indicators of 2012: turn-around rank, balance ranks of the run and of the full-scale run, CRP at the turn. */
  turn: number;
  crpAtTurn: number;
  balance2012: number;
  worstBalance: number;
  rho2012: number;
  bRatio: number;
  crpMin: number;
  crpN: number;
  rhoWorst: number;
}

/** Signed distance of rank j from where its grade stands in the ideal list (g = -1: not relevant). */
export function relativePosition(topic: Topic, j: number, g: number): number {
  if (g < 0) return j <= topic.recallBase ? j - topic.recallBase - 1 : 0;
  if (j < topic.min[g]) return j - topic.min[g];
  return j > topic.max[g] ? j - topic.max[g] : 0;
}

export const effectiveLength = (topic: Topic, N: number): number => Math.max(N, 2 * topic.recallBase);

function crosses(before: number, after: number, mode: Crossing): boolean {
  if (mode === "sign-change") return (before < 0 && after >= 0) || (before > 0 && after <= 0);
  if (mode === "definition") return (before <= 0 && after >= 0) || (before >= 0 && after <= 0);
  return before <= 0 !== after <= 0;
}

/** Space of late documents of the full-scale run (the ideal list reversed, at the end). */
export function fullScaleLate(topic: Topic, length: number): number {
  const R = topic.recallBase;
  let held = 0;
  for (let g = 0; g < topic.counts.length; g++) held += topic.counts[g] * topic.max[g];
  return R * (length - R) + (R * (R + 1)) / 2 - held;
}

/** First rank after the recall base at which the full-scale run is back at zero. */
function fullScaleBalance(topic: Topic, length: number): number {
  const R = topic.recallBase;
  let crp = (-R * (R + 1)) / 2;
  let j = length - R;
  for (let g = topic.counts.length - 1; g >= 0; g--) {
    for (let k = 0; k < topic.counts[g]; k++) {
      j++;
      crp += relativePosition(topic, j, g);
      if (crp >= 0) return j;
    }
  }
  return Infinity;
}

interface FullScale {
  length: number;
  late: number;
  balance: number;
}

const references = new WeakMap<Topic, FullScale>();

/** Return the values that depend only on the topic and N; one N per topic is cached. */
function reference(topic: Topic, length: number): FullScale {
  let cached = references.get(topic);
  if (cached === undefined || cached.length !== length) {
    cached = { length, late: fullScaleLate(topic, length), balance: fullScaleBalance(topic, length) };
    references.set(topic, cached);
  }
  return cached;
}

/** Everything about the effort of one list, in O(recall base + hits): after RB only relevant documents move CRP. */
export function effort(list: List, N: number, mode: Crossing): Effort | null {
  const { topic, rank, grade, from } = list;
  const R = topic.recallBase;
  if (R === 0) return null;
  const length = effectiveLength(topic, N);
  let to = list.to;
  while (to > from && rank[to - 1] > N) to--;

  let crp = 0;
  let late = 0;
  let early = 0;
  let crossing = Infinity;
  let turn = 0;
  let lowest = Infinity;
  let balance2012 = Infinity;
  let dipsAgain = false;
  let lossAtR = 0;
  let inTop = 0;
  for (let j = 0, h = from; j < R || h < to;) {
    let g = -1;
    if (j >= R) {
      j = rank[h];
      g = grade[h++];
    } else {
      j++;
      if (h < to && rank[h] === j) g = grade[h++];
    }
    const rp = relativePosition(topic, j, g);
    const before = crp;
    crp += rp;
    if (rp > 0) late += rp;
    else early -= rp;
    if (crossing === Infinity) {
      if (j > 1 && crosses(before, crp, mode)) crossing = j - 1;
    } else if (crp < 0 && j <= R && crossing < j - 1) dipsAgain = true;
    if (crp < lowest) {
      lowest = crp;
      turn = j;
      balance2012 = Infinity;
    } else if (crp >= 0 && balance2012 === Infinity) balance2012 = j;
    if (j === R) {
      lossAtR = crp;
      inTop = h - from;
    }
  }

  const ideal = late === 0 && early === 0;
  if (ideal) {
    crossing = 1;
    turn = R;
    balance2012 = R;
    lowest = 0;
  }
  const full = reference(topic, length);
  const fullEarly = (R * (R + 1)) / 2;
  const sigmaPlus = 1 - late / full.late;
  const sigmaMinus = 1 - early / fullEarly;
  const sigma = sigmaPlus + sigmaMinus === 0 ? 0 : (2 * sigmaPlus * sigmaMinus) / (sigmaPlus + sigmaMinus);
  const balance = Math.max(R, crossing);
  const rho = balance === Infinity ? 0 : R / balance;

  let archetype: Archetype;
  if (to === from) archetype = "worst";
  else if (ideal) archetype = "ideal";
  else if (isFullScale(list, to, length)) archetype = "full scale";
  else if (crossing === Infinity) archetype = "typical B";
  else if (crossing > R) archetype = "typical A";
  else if (dipsAgain) archetype = "ups-and-downs";
  else archetype = inTop === R ? "excellent A" : "excellent B";

  const worstAtTurn = (turn * (turn + 1)) / 2 - turn * (R + 1);
  const worstAtEnd = full.late - fullEarly;
  return {
    length,
    rho,
    sigma,
    sigmaPlus,
    sigmaMinus,
    twist: (rho + sigma) / 2,
    crossing,
    balance,
    archetype,
    crpLast: crp,
    lossAtR,
    turn,
    crpAtTurn: lowest,
    balance2012,
    worstBalance: full.balance,
    rho2012: balance2012 === Infinity ? 0 : R / balance2012,
    bRatio: 1 - balance2012 / full.balance,
    crpMin: 1 - lowest / worstAtTurn,
    crpN: worstAtEnd === 0 ? NaN : 1 - crp / worstAtEnd,
    rhoWorst: full.balance === Infinity ? 0 : R / full.balance,
  };
}

function isFullScale(list: List, to: number, length: number): boolean {
  const { topic, rank, grade, from } = list;
  if (to - from !== topic.recallBase || rank[from] !== length - topic.recallBase + 1) return false;
  for (let h = from + 1; h < to; h++) if (grade[h] > grade[h - 1]) return false;
  return rank[to - 1] === length;
}

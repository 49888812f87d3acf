// The few statistics the page needs: quantiles, t intervals, ranges of ranks.

import type { Summary } from "../measures/catalogue";

/** Quantile with linear interpolation, as numpy's default; values need not be sorted. */
export function quantile(values: ArrayLike<number>, q: number): number {
  const sorted = new Float64Array(values).filter((v) => !Number.isNaN(v)).sort();
  return sortedQuantile(sorted, q);
}

export function sortedQuantile(sorted: Float64Array, q: number): number {
  if (sorted.length === 0) return NaN;
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  const width = sorted[high] - sorted[low];
  // from the nearer side, as numpy does: the same bits, so the same side of a border
  return at - low < 0.5 ? sorted[low] + (at - low) * width : sorted[high] - (1 - (at - low)) * width;
}

function logGamma(x: number): number {
  const c = [
    76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2,
    -0.5395239384953e-5,
  ];
  let sum = 1.000000000190015;
  for (let i = 0; i < 6; i++) sum += c[i] / (x + 1 + i);
  const t = x + 5.5;
  return (x + 0.5) * Math.log(t) - t + Math.log((2.5066282746310005 * sum) / x);
}

/** Continued fraction of the incomplete beta function (Lentz). */
function betaFraction(a: number, b: number, x: number): number {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let value = d;
  for (let m = 1; m < 300; m++) {
    for (const odd of [false, true]) {
      const numerator = odd
        ? (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
        : (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 + numerator * d;
      d = 1 / (Math.abs(d) < tiny ? tiny : d);
      c = 1 + numerator / c;
      if (Math.abs(c) < tiny) c = tiny;
      value *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-13) break;
  }
  return value;
}

function incompleteBeta(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

/** The same of the normal distribution: the limit of tCritical. */
const NORMAL_CRITICAL = 1.959963984540054;

const critical = new Map<number, number>();

/** The t for which a two-sided 95% interval with `df` degrees of freedom is mean +- t standard errors. */
export function tCritical(df: number): number {
  let t = critical.get(df);
  if (t === undefined) critical.set(df, (t = tFor(0.05, df)));
  return t;
}

/** The t that has a two-sided p value; infinite for 0. */
function tFor(p: number, df: number): number {
  let low = 0;
  let high = 1000;
  while (incompleteBeta(df / 2, 0.5, df / (df + high * high)) > p && high < 1e300) high *= 1000;
  for (let i = 0; i < 100; i++) {
    const mid = (low + high) / 2;
    if (incompleteBeta(df / 2, 0.5, df / (df + mid * mid)) > p) low = mid;
    else high = mid;
  }
  return (low + high) / 2;
}

export interface Interval {
  n: number;
  mean: number;
  low: number;
  high: number;
}

/** Transform values so that the summary is a plain mean: logarithms for geometric means. */
export function terms(values: Float64Array, summary: Summary): Float64Array {
  return summary === "geometric mean" ? values.map(Math.log) : values;
}

/** Numbers rounded to 12 digits of the largest, so that values equal but for rounding errors are equal; as in Python. */
export function rounded(values: ArrayLike<number>): Float64Array {
  const numbers = Float64Array.from(values);
  const largest = numbers.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  if (largest === 0 || !Number.isFinite(largest)) return numbers;
  const scale = 10 ** (12 - Math.ceil(Math.log10(largest)));
  return numbers.map((v) => Math.round(v * scale) / scale);
}

/** Values whose plain mean and variance are those of the weighted mean; as in Python. */
export function linearised(values: Float64Array, weights?: ArrayLike<number>): Float64Array {
  if (!weights) return values;
  let [sum, total, n] = [0, 0, 0];
  values.forEach((v, t) => {
    if (Number.isNaN(v)) return;
    sum += weights[t] * v;
    total += weights[t];
    n++;
  });
  const mean = sum / total;
  return values.map((v, t) => mean + ((weights[t] * n) / total) * (v - mean));
}

/** Degrees of freedom of the variance of a mean, fewer with weights (Satterthwaite 1946); as in Python. */
export function freedom(values: ArrayLike<number>, weights?: ArrayLike<number>): number {
  let [n, squares, fourths] = [0, 0, 0];
  for (let t = 0; t < values.length; t++) {
    if (Number.isNaN(values[t])) continue;
    const w = weights ? weights[t] : 1;
    n++;
    squares += w * w;
    fourths += w ** 4;
  }
  return weights && n > 1 ? Math.max(1, (((n - 1) / n) * squares * squares) / fourths) : n - 1;
}


/** The values of topics as one number with its 95% t interval, undefined values left out. */
export function interval(raw: Float64Array, summary: Summary, weights?: ArrayLike<number>): Interval {
  const values = linearised(terms(raw, summary), weights);
  let n = 0;
  let mean = 0;
  let squares = 0;
  let sum = 0;
  for (const v of values) {
    if (Number.isNaN(v)) continue;
    n++;
    sum += v;
    const d = v - mean;
    mean += d / n;
    squares += d * (v - mean);
  }
  const back = (x: number): number => (summary === "sum" ? n * x : summary === "geometric mean" ? Math.exp(x) : x);
  if (n === 0) return { n, mean: summary === "sum" ? 0 : NaN, low: NaN, high: NaN };
  if (!Number.isFinite(sum)) return { n, mean: back(sum), low: NaN, high: NaN };
  if (n === 1) return { n, mean: back(mean), low: NaN, high: NaN };
  const half = tCritical(freedom(raw, weights)) * Math.sqrt(squares / (n - 1) / n);
  return { n, mean: back(mean), low: back(mean - half), high: back(mean + half) };
}

/** The first and the last rank of a run. */
export interface Range {
  first: number;
  last: number;
}

/**
 * The ranges that hold the true ranks of the runs with 95%, as rs.leaderboard has them: see rank_intervals in Python. The
 * bootstrap samples of the topics are its own; runs with equal means share their ranks. `sign` is -1 where lower values are better.
 * Works in slices so that the page stays responsive; null when aborted, empty when there are fewer than two topics.
 */
export async function rankRanges(
  values: Float64Array,
  runs: number,
  topics: number,
  sign: number,
  samples: ArrayLike<number>,
  aborted: () => boolean,
  weights?: ArrayLike<number>,
): Promise<Range[] | null> {
  if (topics < 2) return [];
  const replicates = samples.length / topics;
  const every = Int32Array.from({ length: topics }, (_, t) => t);
  const means = new Float64Array(runs);
  const counts = new Int32Array(runs);
  for (let r = 0; r < runs; r++) {
    means[r] = sign * meanOf(values, r * topics, every, weights);
    for (let t = 0; t < topics; t++) if (!Number.isNaN(values[r * topics + t])) counts[r]++;
  }
  const merits = new Float64Array(runs * replicates);
  const drawn = new Int32Array(topics);
  let slice = performance.now();
  const pause = async (): Promise<boolean> => {
    if (performance.now() - slice < 24) return false;
    await new Promise((resume) => setTimeout(resume));
    slice = performance.now();
    return aborted();
  };
  for (let b = 0; b < replicates; b++) {
    for (let t = 0; t < topics; t++) drawn[t] = samples[b * topics + t];
    for (let r = 0; r < runs; r++) merits[b * runs + r] = sign * meanOf(values, r * topics, drawn, weights);
    if (await pause()) return null;
  }
  const reach = Array.from(counts, (n, r) => tCritical(Math.max(1, freedom(values.subarray(r * topics, (r + 1) * topics), n > 0 ? weights : undefined))));
  rankedBy(merits, means, counts, reach);
  const firsts = Array.from({ length: runs }, () => new Int32Array(runs + 1));
  const lasts = Array.from({ length: runs }, () => new Int32Array(runs + 1));
  const digits = 10 ** (12 - Math.ceil(Math.log10(largest(merits))));
  for (let b = 0; b < replicates; b++) {
    ranked(merits.subarray(b * runs, (b + 1) * runs), digits, (r, first, last) => {
      firsts[r][first]++;
      lasts[r][last]++;
    });
    if (await pause()) return null;
  }
  const found: Range[] = Array.from({ length: runs }, () => ({ first: 1, last: runs }));
  ranked(means, 10 ** (12 - Math.ceil(Math.log10(largest(means)))), (r, first, last) => {
    if (counts[r] > 1) found[r] = nearestRange(firsts[r], lasts[r], first, last, 0.95 * replicates);
  });
  return found;
}

/** The mean of a run over some topics, undefined values left out. */
function meanOf(values: Float64Array, start: number, topics: Int32Array, weights?: ArrayLike<number>): number {
  let sum = 0;
  let n = 0;
  for (const t of topics) {
    const v = values[start + t];
    if (Number.isNaN(v)) continue;
    const w = weights ? weights[t] : 1;
    sum += w * v;
    n += w;
  }
  return n === 0 ? NaN : sum / n;
}

/** The largest finite number without its sign; 1 if all are zero. */
function largest(numbers: Float64Array): number {
  const most = numbers.reduce((m, x) => (Number.isFinite(x) ? Math.max(m, Math.abs(x)) : m), 0);
  return most === 0 ? 1 : most;
}

/** Replace the means of the samples by the ranking criterion: shrunk towards each other, with the spread of Student's t. */
function rankedBy(merits: Float64Array, means: Float64Array, counts: Int32Array, reach: readonly number[]): void {
  const runs = means.length;
  const replicates = merits.length / runs;
  const several = Array.from(counts, (n) => Math.max(n, 2));
  const moved = (b: number, r: number): number =>
    (merits[b * runs + r] - means[r]) * Math.sqrt(several[r] / (several[r] - 1));
  const kept = Array.from(means.keys()).filter((r) => Number.isFinite(means[r]));
  const full = Array.from({ length: replicates }, (_, b) => b).filter((b) => kept.every((r) => Number.isFinite(moved(b, r))));
  const closer = Float64Array.from(means);
  const order = kept.sort((i, j) => means[i] - means[j]);
  let group: number[] = [];
  for (let i = 0; i < order.length && full.length > 0; i++) {
    group.push(order[i]);
    if (i + 1 < order.length) {
      const [r, next] = [order[i], order[i + 1]];
      const error = Math.sqrt(full.reduce((sum, b) => sum + (moved(b, next) - moved(b, r)) ** 2, 0) / full.length);
      if (means[next] - means[r] <= Math.max(reach[r], reach[next]) * error) continue;
    }
    if (group.length > 1) {
      const spread = variance(group.map((r) => means[r]));
      const chance = full.reduce((sum, b) => sum + variance(group.map((r) => moved(b, r))), 0) / full.length;
      const share = spread > 0 ? Math.max(0, 1 - chance / spread) : 0;
      const middle = group.reduce((sum, r) => sum + means[r], 0) / group.length;
      for (const r of group) closer[r] = middle + Math.sqrt(share) * (means[r] - middle);
    }
    group = [];
  }
  for (let b = 0; b < replicates; b++)
    for (let r = 0; r < runs; r++) {
      const by = closer[r] + (reach[r] / NORMAL_CRITICAL) * moved(b, r);
      if (Number.isFinite(by)) merits[b * runs + r] = by;
    }
}

function variance(numbers: number[]): number {
  const mean = numbers.reduce((a, b) => a + b, 0) / numbers.length;
  return numbers.reduce((a, b) => a + (b - mean) ** 2, 0) / (numbers.length - 1);
}

/** Says of each number the first and the last rank it has, the highest first, undefined ones last; equal but for rounding errors is equal. */
function ranked(merits: Float64Array, digits: number, say: (r: number, first: number, last: number) => void): void {
  const merit = merits.map((x) => (Number.isNaN(x) ? -Infinity : Number.isFinite(x) ? Math.round(x * digits) : x));
  const order = Array.from(merit.keys()).sort((i, j) => (merit[i] === merit[j] ? 0 : merit[j] > merit[i] ? 1 : -1));
  for (let i = 0; i < order.length; ) {
    let j = i;
    while (j + 1 < order.length && merit[order[j + 1]] === merit[order[i]]) j++;
    for (let k = i; k <= j; k++) say(order[k], i + 1, j + 1);
    i = j + 1;
  }
}

/**
 * The shortest range of ranks, those that the run has among them, that as many samples have as are wanted, or the best one that
 * is a rank shorter if its number of samples is nearer; of equally long ones the first with most samples.
 */
function nearestRange(firsts: Int32Array, lasts: Int32Array, first: number, last: number, wanted: number): Range {
  const runs = firsts.length - 1;
  const below = new Int32Array(runs + 2);
  const within = new Int32Array(runs + 1);
  for (let rank = 1; rank <= runs; rank++) {
    below[rank + 1] = below[rank] + firsts[rank];
    within[rank] = within[rank - 1] + lasts[rank];
  }
  let shorter: (Range & { held: number }) | null = null;
  for (let length = 0; length < runs; length++) {
    let best: (Range & { held: number }) | null = null;
    for (let begin = Math.max(1, last - length); begin <= Math.min(first, runs - length); begin++) {
      const held = within[begin + length] - below[begin];
      if (best === null || held > best.held) best = { first: begin, last: begin + length, held };
    }
    if (best !== null && best.held >= wanted - 1e-9) {
      const chosen = shorter !== null && wanted - shorter.held < best.held - wanted - 1e-9 ? shorter : best;
      return { first: chosen.first, last: chosen.last };
    }
    shorter = best ?? shorter;
  }
  return { first: 1, last: runs };
}

/** Bootstrap samples of topics, one after the other, where those of Python do not fit; the same in every browser. */
export function drawTopics(topics: number, replicates: number): Uint32Array {
  let seed = 1;
  return Uint32Array.from({ length: topics * replicates }, () => {
    // mulberry32
    seed = (seed + 0x6d2b79f5) | 0;
    let x = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return (((x ^ (x >>> 14)) >>> 0) * topics) / 4294967296;
  });
}

/**
 * The tier of each run, from 1, as rs.leaderboard has them: a tier ends before the first run that differs significantly from one of its
 * members (paired t tests of all pairs, Holm's correction, 5%). `rows` are the values on the same topics, `order` the runs from the
 * best to the worst. Empty with fewer than two topics. `separated` is the number of pairs that differ.
 */
export function tiers(rows: readonly Float64Array[], order: readonly number[], df = (rows[0]?.length ?? 0) - 1): { tiers: number[]; separated: number } {
  const topics = rows[0]?.length ?? 0;
  if (topics < 2) return { tiers: [], separated: 0 };
  const zero = 1e-12 * rows.reduce((most, row) => row.reduce((m, v) => Math.max(m, Math.abs(v)), most), 0);
  const R = order.length;
  // of every pair t^2 of the paired differences
  const squares = new Float64Array((R * (R - 1)) / 2);
  const at = (i: number, j: number): number => (j * (j - 1)) / 2 + i;
  for (let j = 1; j < R; j++) {
    const b = rows[order[j]];
    for (let i = 0; i < j; i++) {
      const a = rows[order[i]];
      let mean = 0;
      for (let t = 0; t < topics; t++) mean += a[t] - b[t];
      mean /= topics;
      let spread = 0;
      for (let t = 0; t < topics; t++) spread += (a[t] - b[t] - mean) ** 2;
      const square = spread / (topics - 1);
      const error = Math.sqrt(square) <= zero ? 0 : square / topics;
      squares[at(i, j)] = Math.abs(mean) <= zero ? 0 : (mean * mean) / error;
    }
  }
  const limit = holmLimit(squares, df);
  const found = new Array<number>(R);
  let members: number[] = [];
  let tier = 1;
  for (let j = 0; j < R; j++) {
    if (members.some((i) => squares[at(i, j)] > limit)) {
      members = [];
      tier++;
    }
    members.push(j);
    found[order[j]] = tier;
  }
  return { tiers: found, separated: squares.reduce((n, square) => n + Number(square > limit), 0) };
}

/** The largest t^2 that is not significant after Holm's correction; -1 if all are. */
function holmLimit(squares: Float64Array, df: number): number {
  const sorted = Float64Array.from(squares).sort().reverse();
  const m = sorted.length;
  const p = (square: number): number => (square === Infinity ? 0 : incompleteBeta(df / 2, 0.5, df / (df + square)));
  // Blocks double while even their largest p is below the smallest limit in them, so that few p are computed.
  for (let k = 0, block = 1; k < m; ) {
    const end = Math.min(m, k + block);
    if (p(sorted[end - 1]) * (m - k) < 0.05) {
      k = end;
      block *= 2;
    } else if (block === 1) return sorted[k];
    else block >>= 1;
  }
  return -1;
}

/** Holm's correction of p values for their number; undefined ones stay so and do not count. */
export function holm(p: readonly number[]): number[] {
  const order = Array.from(p.keys())
    .filter((i) => !Number.isNaN(p[i]))
    .sort((a, b) => p[a] - p[b]);
  const adjusted = p.map(() => NaN);
  let least = 0;
  order.forEach((i, k) => (adjusted[i] = least = Math.max(least, Math.min(1, p[i] * (order.length - k)))));
  return adjusted;
}

/** The p values of a family of differences by Holm's correction, and intervals that exclude zero exactly if they are below 5%: see holm_levels in Python. */
export function holmIntervals(family: readonly Paired[]): { adjusted: number; low: number; high: number }[] {
  const p = family.map((one) => Math.max(one.p, 2 ** -1022));
  const adjusted = holm(p);
  const retained = adjusted.filter((q) => q >= 0.05).length;
  return family.map((one, k) => {
    const level = adjusted[k] < 0.05 ? (0.05 * p[k]) / adjusted[k] : 0.05 / Math.max(1, retained);
    const half = ((one.high - one.mean) * tFor(level, one.df)) / tCritical(one.df);
    return { adjusted: Number.isNaN(one.p) ? NaN : adjusted[k], low: one.mean - half, high: one.mean + half };
  });
}

/** Number of topics from which on every slice is large enough for Welch's test; as in Python. */
const SMALL_SLICE = 5;

/** Do differences vary between slices? See welch_anova and permuted_anova in Python; `orders` are its permutations, without which p is undefined. */
export function interaction(
  differences: readonly number[][],
  weights: readonly (number[] | undefined)[],
  orders?: ArrayLike<number>,
): { test: "welch" | "permutation"; p: number } {
  const k = differences.length;
  if (k < 2) return { test: "welch", p: NaN };
  const all = differences.flat();
  const negligible = (1e-12 * all.reduce((most, z) => Math.max(most, Math.abs(z)), 0)) ** 2;
  const parts = differences.map((z, s) => {
    const u = linearised(Float64Array.from(z), weights[s]);
    const mean = u.reduce((a, b) => a + b, 0) / u.length;
    const spread = u.reduce((sum, v) => sum + (v - mean) ** 2, 0) / Math.max(1, u.length - 1) / u.length;
    return { n: u.length, mean, spread, df: freedom(z, weights[s]) };
  });
  if (parts.some(({ n, spread }) => n < SMALL_SLICE || spread <= negligible)) {
    const w = weights.flatMap((own, s) => own ?? differences[s].map(() => 1));
    return { test: "permutation", p: orders?.length ? permuted(all, w, parts.map(({ n }) => n), orders) : NaN };
  }
  const precision = parts.reduce((sum, { spread }) => sum + 1 / spread, 0);
  const share = parts.map(({ spread }) => 1 / spread / precision);
  const centre = parts.reduce((sum, { mean }, s) => sum + share[s] * mean, 0);
  const rest = parts.reduce((sum, { df }, s) => sum + (1 - share[s]) ** 2 / df, 0);
  const between = parts.reduce((sum, { mean, spread }) => sum + (mean - centre) ** 2 / spread, 0) / (k - 1);
  const statistic = between / (1 + ((2 * (k - 2)) / (k * k - 1)) * rest);
  const df = (k * k - 1) / (3 * rest);
  return { test: "welch", p: incompleteBeta(df / 2, (k - 1) / 2, df / (df + (k - 1) * statistic)) };
}

/** Share of the orders of the topics in which the means of the slices vary at least as much. */
function permuted(values: readonly number[], weights: readonly number[], sizes: readonly number[], orders: ArrayLike<number>): number {
  const n = values.length;
  const total = weights.reduce((a, b) => a + b, 0);
  const mean = values.reduce((sum, z, t) => sum + weights[t] * z, 0) / total;
  const pulls = values.map((z, t) => weights[t] * (z - mean));
  const statistic = (at: (position: number) => number): number => {
    let [sum, position] = [0, 0];
    for (const size of sizes) {
      let [pull, weight] = [0, 0];
      for (const end = position + size; position < end; position++) {
        pull += pulls[at(position)];
        weight += weights[at(position)];
      }
      sum += pull ** 2 / weight;
    }
    return sum;
  };
  const observed = statistic((t) => t) * (1 - 1e-9) - 1e-12 * values.reduce((sum, z) => sum + z * z, 0);
  const replicates = orders.length / n;
  let reached = 0;
  for (let b = 0; b < replicates; b++) if (statistic((t) => orders[b * n + t]) >= observed) reached++;
  return (1 + reached) / (1 + replicates);
}

export interface Paired extends Interval {
  /** Degrees of freedom. */
  df: number;
  /** Two-sided p of Student's paired t test; 1 for identical runs. */
  p: number;
  /** Cohen's d of the paired differences: mean over standard deviation. */
  effect: number;
}

/** Student's paired t test of differences, as in rs.compare: differences within rounding are exactly zero. */
export function paired(differences: readonly number[], largest: number, weights?: readonly number[]): Paired {
  const known = differences.map(Number.isFinite);
  const own = weights?.filter((_, t) => known[t]);
  const plain = differences.filter((_, t) => known[t]);
  const df = freedom(plain, own);
  const z = Array.from(linearised(Float64Array.from(plain), own));
  const zero = largest * 1e-12;
  const n = z.length;
  let mean = z.reduce((sum, v) => sum + v, 0) / n;
  const squares = z.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  if (Math.abs(mean) <= zero) mean = 0;
  if (n < 2) return { n, df, mean, low: NaN, high: NaN, p: mean === 0 ? 1 : NaN, effect: mean === 0 ? 0 : NaN };
  let spread = Math.sqrt(squares / (n - 1));
  if (spread <= zero) spread = 0;
  const error = spread / Math.sqrt(n);
  // d is about the distribution of weighted topics, not about the error of the mean
  const total = own?.reduce((a, b) => a + b, 0) ?? n;
  const deviation = own && spread > 0 ? Math.sqrt(plain.reduce((sum, v, k) => sum + ((own[k] * n) / total) * (v - mean) ** 2, 0) / (n - 1)) : spread;
  const t = Math.abs(mean) / error;
  const half = tCritical(df) * error;
  const p = Number.isNaN(t) ? 1 : Number.isFinite(t) ? incompleteBeta(df / 2, 0.5, df / (df + t * t)) : 0;
  return { n, df, mean, low: mean - half, high: mean + half, p, effect: mean === 0 ? 0 : mean / deviation };
}

// The few statistics the page needs: quantiles, t intervals, ranges of ranks.

import type { Summary } from "../measures/catalogue";

/** Quantile with linear interpolation, as numpy's default; values need not be sorted. */
export function quantile(values: ArrayLike<number>, q: number): number {
  const sorted = Float64Array.from(Array.from(values).filter((v) => !Number.isNaN(v))).sort();
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

const critical = new Map<number, number>();

/** The t for which a two-sided 95% interval with `df` degrees of freedom is mean +- t standard errors. */
export function tCritical(df: number): number {
  let t = critical.get(df);
  if (t === undefined) {
    let low = 0;
    let high = 1000;
    for (let i = 0; i < 100; i++) {
      const mid = (low + high) / 2;
      if (incompleteBeta(df / 2, 0.5, df / (df + mid * mid)) > 0.05) low = mid;
      else high = mid;
    }
    t = (low + high) / 2;
    critical.set(df, t);
  }
  return t;
}

export interface Interval {
  n: number;
  mean: number;
  low: number;
  high: number;
}

/** What a summary takes the plain mean of: logarithms for geometric means. */
export function terms(values: Float64Array, summary: Summary): Float64Array {
  return summary === "geometric mean" ? values.map(Math.log) : values;
}

/** The values of topics as one number; undefined ones are left out. */
export function summarised(values: Float64Array, summary: Summary): number {
  return interval(values, summary).mean;
}

/** The values of topics as one number with its 95% t interval, undefined values left out. */
export function interval(values: Float64Array, summary: Summary): Interval {
  let n = 0;
  let mean = 0;
  let squares = 0;
  let sum = 0;
  for (const v of terms(values, summary)) {
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
  const half = tCritical(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { n, mean: back(mean), low: back(mean - half), high: back(mean + half) };
}

/**
 * The ranks that each run has in 95% of the bootstrap samples of the topics, as rs.leaderboard has them (the samples are
 * its own): at most 2.5% of the samples leave on each side; runs with equal means share their ranks. `sign` is -1 where lower values are better.
 * Works in slices so that the page stays responsive; null when aborted, empty when there are fewer than two topics.
 */
export async function rankRanges(
  values: Float64Array,
  runs: number,
  topics: number,
  sign: number,
  samples: ArrayLike<number>,
  aborted: () => boolean,
): Promise<{ first: number; last: number }[] | null> {
  if (topics < 2) return [];
  const replicates = samples.length / topics;
  const firsts = Array.from({ length: runs }, () => new Int32Array(runs + 1));
  const lasts = Array.from({ length: runs }, () => new Int32Array(runs + 1));
  const drawn = new Int32Array(topics);
  const merit = new Float64Array(runs);
  let slice = performance.now();
  for (let b = 0; b < replicates; b++) {
    for (let t = 0; t < topics; t++) drawn[t] = samples[b * topics + t];
    for (let r = 0; r < runs; r++) {
      let sum = 0;
      let n = 0;
      for (const t of drawn) {
        const v = values[r * topics + t];
        if (Number.isNaN(v)) continue;
        sum += v;
        n++;
      }
      // rounded, so that means which are equal but for rounding errors are equal
      merit[r] = n === 0 ? -Infinity : sign * Number((sum / n).toPrecision(12));
    }
    const order = Array.from(merit.keys()).sort((i, j) => (merit[i] === merit[j] ? 0 : merit[j] > merit[i] ? 1 : -1));
    for (let i = 0; i < runs; ) {
      let j = i;
      while (j + 1 < runs && merit[order[j + 1]] === merit[order[i]]) j++;
      for (let k = i; k <= j; k++) {
        firsts[order[k]][i + 1]++;
        lasts[order[k]][j + 1]++;
      }
      i = j + 1;
    }
    if (performance.now() - slice > 24) {
      await new Promise((resume) => setTimeout(resume));
      if (aborted()) return null;
      slice = performance.now();
    }
  }
  return firsts.map((counts, r) => ({
    first: reached(counts, 0.025 * replicates),
    last: reached(lasts[r], 0.975 * replicates),
  }));
}

/** The first rank at which so many samples have been counted. */
function reached(counts: Int32Array, wanted: number): number {
  let seen = 0;
  for (let rank = 1; rank < counts.length; rank++) {
    seen += counts[rank];
    if (seen >= wanted - 1e-9) return rank;
  }
  return counts.length - 1;
}

export interface Paired extends Interval {
  /** Two-sided p of Student's paired t test; 1 for identical runs. */
  p: number;
  /** Cohen's d of the paired differences: mean over standard deviation. */
  effect: number;
}

/** Student's paired t test of differences, as rs.compare does it: what is only rounding is exactly zero. */
export function paired(differences: ArrayLike<number>, largest: number): Paired {
  const z = Array.from(differences).filter(Number.isFinite);
  const zero = largest * 1e-12;
  const n = z.length;
  let mean = z.reduce((sum, v) => sum + v, 0) / n;
  const squares = z.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  if (Math.abs(mean) <= zero) mean = 0;
  if (n < 2) return { n, mean, low: NaN, high: NaN, p: mean === 0 ? 1 : NaN, effect: mean === 0 ? 0 : NaN };
  let spread = Math.sqrt(squares / (n - 1));
  if (spread <= zero) spread = 0;
  const error = spread / Math.sqrt(n);
  const t = Math.abs(mean) / error;
  const half = tCritical(n - 1) * error;
  const p = Number.isNaN(t) ? 1 : Number.isFinite(t) ? incompleteBeta((n - 1) / 2, 0.5, (n - 1) / (n - 1 + t * t)) : 0;
  return { n, mean, low: mean - half, high: mean + half, p, effect: mean === 0 ? 0 : mean / spread };
}

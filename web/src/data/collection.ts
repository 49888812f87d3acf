// The data of the page in memory: runs x topics lists, and the values of measures over them.

import { dependsOn, FORMULAS, sign, type Measure } from "../measures/catalogue";
import { ARCHETYPES, effort, type Effort } from "../measures/effort";
import { DEFAULTS, Topic, type Changes, type Crossing, type List, type Settings, type Subset } from "../measures/list";
import { relabelled, withLabels } from "../measures/whatif";
import { drawTopics, freedom, holm, holmIntervals, interaction, interval, linearised, paired, rankRanges, rounded, terms, tiers, type Interval, type Paired, type Range } from "../stats/statistics";
import { shortened } from "../ui/format";
import type { Numbers, Source, StudyTable, Warning } from "./payload";
import { VERSION, type FindingData, type RunGroups, type Order, type Measured, type OpenRange, type Packed, type Payload, type SourceFiles, type TextExcerpts, type TopDocuments } from "./types";

function offsets(counts: Numbers): Uint32Array {
  const start = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) start[i + 1] = start[i] + counts[i];
  return start;
}

export const INDICATORS = ["R", "rho_w", "rho", "b_ratio", "CRP_min", "CRP_N"] as const;
export type Indicator = (typeof INDICATORS)[number];

/** A run against the baseline by a measure. */
export interface Against extends Paired {
  /** The p value, corrected for the number of runs (Holm). */
  adjusted: number;
  /** Interval of the difference that excludes zero exactly if the corrected p value is below 5%. */
  adjustedLow: number;
  adjustedHigh: number;
  wins: number;
  losses: number;
}

/** Test whether the difference of a run from the baseline varies between slices. */
export interface Interaction {
  test: "welch" | "permutation";
  /** The p value; undefined where the page lacks the permutations. */
  p: number;
  /** The p value, corrected for runs and attributes (Holm). */
  adjusted: number;
  /** Simpson: the other run leads in every slice; reversed: it leads in a slice by a significant difference. */
  alarm: "" | "Simpson" | "reversed";
}

/** A rank of a list: grade 0: judged not relevant, null: unjudged, undefined: the page does not know. */
export interface Listed {
  rank: number;
  name?: string;
  grade?: number | null;
}

/** Beginning of the keys of values under hypothetical changes. */
const CHANGED = "changed ";

export class Collection {
  readonly title: string;
  readonly version: string;
  /** Hash of each part of the data; two copies with the same hashes show the same. */
  readonly fingerprint: Readonly<Record<string, string>>;
  readonly runs: readonly string[];
  readonly topics: readonly string[];
  readonly grades: readonly number[];
  readonly judgments: readonly Topic[];
  readonly warnings: readonly Warning[];
  /** Findings computed by Python, the most important first. */
  readonly findings: readonly FindingData[];
  readonly study: Readonly<Record<string, StudyTable>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly measures: readonly Measure[];
  /** The measure to begin with. */
  readonly lead: string;
  readonly archetypeMeanings: readonly { name: string; meaning: string }[];
  /** The topics of bootstrap samples, one after the other. */
  readonly samples?: ArrayLike<number>;
  /** Random orders of all topics, one after the other. */
  readonly permutations?: ArrayLike<number>;
  /** By measure, of every run whether it is tied for first; Python's. */
  readonly tiedFirst: Readonly<Record<string, boolean[]>>;
  private readonly ranges: Readonly<Record<string, OpenRange>>;
  readonly defaults: Settings;
  /** Files of the collection, as named on a command line. */
  readonly source?: SourceFiles;
  /** There are no rankings: views of them are left out. */
  readonly onlyScores: boolean;
  readonly server: boolean;
  /** Slices of the topics by attribute, with the indices of their topics. A title lacks the number of bins, if it is clear without. */
  readonly slices: readonly { name: string; title: string; slices: readonly { name: string; topics: readonly number[] }[] }[];
  /** Weights of the topics; absent: equal. */
  readonly weights?: ArrayLike<number>;
  /** Groups of runs, such as teams. */
  readonly groups?: RunGroups;
  /** The aspects of every topic that count, where the judgments have some. */
  readonly aspects?: readonly (readonly string[])[];
  private readonly covered?: { first: Numbers; start: Uint32Array };
  private readonly orders: readonly Order[];

  /** Topics that a run lacks are left out of its means instead of counting as an empty list. */
  private readonly skipMissing: boolean;
  /** Rankings and documents as they were written: decoded when a view needs them, which the leaderboard does not. */
  private readonly packed: Pick<Payload, "list" | "nonrelevant" | "documents" | "top">;
  private readonly given = new Map<string, Measured>();
  private readonly read: (packed: Packed) => Numbers;
  private readonly archetype: Packed;
  private readonly texts?: TextExcerpts;
  private readonly cache = new Map<string, Float64Array>();
  private readonly other = new Map<string, unknown>();

  constructor(source: Source) {
    const { payload, read } = source;
    if (payload.format !== "rankscope.page" || payload.version !== VERSION) {
      throw new Error("the data was written for another version of this page");
    }
    this.read = read;
    this.title = payload.title;
    this.version = payload.rankscope ?? "";
    this.fingerprint = payload.fingerprint;
    this.runs = payload.runs;
    this.topics = payload.topics;
    this.grades = payload.grades;
    this.warnings = payload.warnings;
    this.findings = payload.findings;
    this.study = payload.study ?? {};
    this.settings = payload.settings;
    this.judgments = judgmentsOf(payload, read);
    this.packed = payload;
    if (payload.samples) this.samples = read(payload.samples);
    if (payload.permutations) this.permutations = read(payload.permutations);
    this.server = payload.server === true;
    this.onlyScores = payload.only_scores === true;
    this.skipMissing = payload.settings.missing === "skip";
    for (const m of payload.measures) this.given.set(m.name, m);
    this.measures = payload.measures.map((m) => this.known(m));
    this.lead = payload.lead;
    this.source = payload.source;
    this.tiedFirst = payload.tied_first;
    this.ranges = payload.ranges ?? {};
    this.archetypeMeanings = payload.archetypes;
    this.archetype = payload.archetype;
    this.texts = payload.texts;
    this.groups = payload.groups;
    this.orders = payload.orders;
    if (payload.weights) this.weights = read(payload.weights);
    const bare = (name: string): string => name.replace(/:\d+$/, "");
    this.slices = (payload.slices ?? []).map(({ attribute, names, of }, _, all) => {
      const places = Array.from(read(of));
      const topics = (k: number): number[] => places.flatMap((place, t) => (place === k ? [t] : []));
      const clear = all.filter((one) => bare(one.attribute) === bare(attribute)).length === 1;
      return { name: attribute, title: clear ? bare(attribute) : attribute, slices: names.map((name, k) => ({ name, topics: topics(k) })) };
    });
    if (payload.coverage) {
      const { names, first } = payload.coverage;
      this.aspects = names;
      const many = Uint32Array.from({ length: this.size }, (_, i) => names[this.topicOf(i)].length);
      this.covered = { first: read(first), start: offsets(many) };
    }
    this.defaults = {
      length: positive(payload.settings.length) ?? DEFAULTS.length,
      crossing: (payload.settings.crossing as Crossing | undefined) ?? DEFAULTS.crossing,
      dcg: payload.settings.dcg === "jk10" ? "jk10" : DEFAULTS.dcg,
    };
  }

  get retrieved(): Numbers {
    return this.once("retrieved", () => this.read(this.packed.list.retrieved));
  }

  get judged10(): Numbers {
    return this.once("judged10", () => this.read(this.packed.list.judged10));
  }

  /** Ranks and grades of the hits, and the first hit of every list. */
  private get hits(): { rank: Numbers; grade: Numbers; start: Uint32Array } {
    return this.once("hits", () => {
      const { rank, grade, hits } = this.packed.list;
      return { rank: this.read(rank), grade: this.read(grade), start: offsets(this.read(hits)) };
    });
  }

  private get below(): { rank: Numbers; negative?: Numbers; start: Uint32Array } | undefined {
    return this.once("nonrelevant", () => {
      if (!this.packed.nonrelevant) return undefined;
      const { rank, hits, negative } = this.packed.nonrelevant;
      return { rank: this.read(rank), start: offsets(this.read(hits)), negative: negative && this.read(negative) };
    });
  }

  private get documents(): { names: string[][]; hit: Numbers } | undefined {
    return this.once("documents", () => {
      const found = this.packed.documents;
      return found && { names: found.names, hit: this.read(found.hit) };
    });
  }

  /** Documents in the first ranks; `first`: index of the first name of every topic. */
  private get top(): (Record<"judged" | "rank" | "document", Numbers> & Record<"first" | "start", Uint32Array> & Pick<TopDocuments, "names" | "depth" | "complete">) | undefined {
    return this.once("top", () => {
      if (!this.packed.top) return undefined;
      const { judged, hits, rank, document, ...rest } = this.packed.top;
      const first = offsets(Uint32Array.from(rest.names, (names) => names.length));
      return { ...rest, judged: this.read(judged), rank: this.read(rank), document: this.read(document), first, start: offsets(this.read(hits)) };
    });
  }

  /** The name of a run for a chart or table: elided in the middle if it is longer, and distinct from those of other runs. */
  short(run: number, letters = 28): string {
    const most = Math.max(6, Math.floor(letters));
    return this.once(`short ${most}`, () => shortened(this.runs, most))[run];
  }

  /** Index of the group of a run, or null. */
  groupOf(run: number): number | null {
    return this.groups?.of[run] ?? null;
  }

  /** For a list and each aspect of its topic, the rank of the first relevant document, or 0. */
  firstRanks(i: number): ArrayLike<number> {
    const { first, start } = this.covered!;
    return first.subarray(start[i], start[i + 1]);
  }

  /** The means of the runs by a measure at other cutoffs, or from smaller pools; Python's. */
  order(across: Order["across"], measure: string): { columns: readonly string[]; means: Float64Array[] } | undefined {
    const found = this.orders.find((one) => one.across === across && one.measure === measure);
    if (!found) return undefined;
    const [all, R] = [this.numbers(found.means), this.runs.length];
    return { columns: found.columns, means: found.columns.map((_, k) => all.subarray(k * R, (k + 1) * R)) };
  }

  /** Topics on which every run has a value of a measure, as comparisons of many runs need them. */
  complete(name: string, settings: Settings): number[] {
    const values = this.values(name, settings);
    return this.once(`complete ${this.part(name, settings)}`, () =>
      this.topicsOf(settings).filter((t) => this.runs.every((_, r) => Number.isFinite(values[this.index(r, t)]))),
    );
  }

  /** Every run against a baseline, topic by topic, as rs.compare does it: t tests, Holm's correction. */
  against(name: string, settings: Settings, baseline: number): Against[] {
    return this.once(`against ${baseline} ${this.part(name, settings)}`, () => {
      const values = this.values(name, settings);
      const topics = this.complete(name, settings);
      const sign = this.sign(name);
      const weights = this.weightsOf(topics);
      const found = this.runs.map((_, r) => {
        const pairs = topics.map((t) => [values[this.index(r, t)], values[this.index(baseline, t)]]);
        const largest = pairs.reduce((most, [x, y]) => Math.max(most, Math.abs(x), Math.abs(y)), 0);
        const better = pairs.map(([x, y]) => (Math.abs(x - y) <= 1e-12 * largest ? 0 : Math.sign(sign * (x - y))));
        const wins = better.filter((b) => b > 0).length;
        const losses = better.filter((b) => b < 0).length;
        return { ...paired(pairs.map(([x, y]) => x - y), largest, weights), wins, losses, adjusted: NaN, adjustedLow: NaN, adjustedHigh: NaN };
      });
      const others = Array.from(this.runs.keys()).filter((r) => r !== baseline);
      holmIntervals(others.map((r) => found[r])).forEach(({ adjusted, low, high }, k) => {
        Object.assign(found[others[k]], { adjusted, adjustedLow: low, adjustedHigh: high });
      });
      return found;
    });
  }

  /** A slice of the topics as a setting. */
  subset(attribute: number, slice: number): Subset {
    return { key: `${attribute}:${slice}`, topics: this.slices[attribute].slices[slice].topics };
  }

  /** Every run against a baseline on every slice, by attribute, slice and run, as rs.compare does it with `by`. */
  againstBySlice(name: string, settings: Settings, baseline: number): (Interval & { adjusted: number; strong: boolean })[][][] {
    return this.once(`slices ${baseline} ${this.key(name, settings)}`, () => {
      const found = this.slices.map(({ slices }, a) => slices.map((_, k) => this.against(name, { ...settings, subset: this.subset(a, k) }, baseline)));
      const others = found.flat().flatMap((runs) => runs.filter((_, r) => r !== baseline));
      const corrected = new Map(holmIntervals(others).map((one, k) => [others[k], one]));
      return found.map((slices) =>
        slices.map((runs) =>
          runs.map((one) => {
            const { adjusted, low, high } = corrected.get(one) ?? { ...one, adjusted: NaN };
            return { n: one.n, mean: one.mean, low, high, adjusted, strong: adjusted < 0.05 };
          }),
        ),
      );
    });
  }

  /** Does the difference of each run from a baseline vary between slices, and is its lead reversed? By attribute and run, as rs.compare tells with `by`. */
  interactions(name: string, settings: Settings, baseline: number): Interaction[][] {
    return this.once(`interactions ${baseline} ${this.key(name, settings)}`, () => {
      const values = this.values(name, settings);
      const lead = (part: Settings): Float64Array => {
        const means = rounded(this.means(name, part));
        return means.map((mean) => this.sign(name) * (mean - means[baseline]));
      };
      const overall = lead(settings);
      const differences = this.againstBySlice(name, settings, baseline);
      const found = this.slices.map(({ slices }, a) => {
        const subsets = slices.map((_, k) => ({ ...settings, subset: this.subset(a, k) }));
        const topics = subsets.map((one) => this.complete(name, one)).filter((one) => one.length > 0);
        const weights = topics.map((one) => this.weightsOf(one));
        const complete = topics.flat().length === this.topics.length;
        const leads = subsets.map(lead);
        return this.runs.map((_, r) => {
          const z = topics.map((one) => one.map((t) => values[this.index(r, t)] - values[this.index(baseline, t)]));
          const turned = differences[a].some((runs) => runs[r].strong && this.sign(name) * runs[r].mean * overall[r] < 0);
          const alarm = leads.every((one) => one[r] * overall[r] < 0) ? "Simpson" : turned ? "reversed" : "";
          return r === baseline ? { test: "welch", p: NaN, alarm: "" } : { ...interaction(z, weights, complete ? this.permutations : undefined), alarm };
        });
      });
      const adjusted = holm(found.flat().map(({ p }) => p));
      return found.map((runs, a) => runs.map((one, r) => ({ ...one, adjusted: adjusted[a * this.runs.length + r] }) as Interaction));
    });
  }

  /** The topics of the settings: all, or a subset. */
  topicsOf(settings: Settings): number[] {
    return settings.subset ? [...settings.subset.topics] : Array.from(this.topics.keys());
  }

  /** Weights of some topics; undefined where all weigh the same. */
  weightsOf(topics: readonly number[]): number[] | undefined {
    return this.weights && topics.map((t) => this.weights![t]);
  }

  /** Values of a run on some topics. */
  private row(values: Float64Array, run: number, topics: readonly number[]): Float64Array {
    const row = new Float64Array(topics.length);
    for (let k = 0; k < row.length; k++) row[k] = values[this.index(run, topics[k])];
    return row;
  }

  /** Tiers of some runs by a measure, as rs.leaderboard has them (by run, from 1; empty without a direction), and the number of separated pairs. */
  tiers(name: string, settings: Settings, runs: readonly number[]): { tiers: number[]; separated: number } {
    if (this.measure(name)?.better === "neither" || runs.length < 2) return { tiers: [], separated: 0 };
    const topics = this.complete(name, settings);
    const weights = this.weightsOf(topics);
    const values = this.values(name, settings);
    const means = this.means(name, settings);
    const order = this.bestFirst(name, rounded(Float64Array.from(runs, (r) => means[r])));
    const found = tiers(runs.map((r) => linearised(this.row(values, r, topics), weights)), order, freedom(topics, weights));
    const byRun: number[] = [];
    found.tiers.forEach((tier, k) => (byRun[runs[k]] = tier));
    return { tiers: byRun, separated: found.separated };
  }

  /** Confidence intervals of the ranks among some runs, by run; empty where there are none, null if aborted. */
  async rankRanges(name: string, settings: Settings, runs: readonly number[], aborted: () => boolean): Promise<Range[] | null> {
    const topics = this.topicsOf(settings);
    const T = topics.length;
    // Beyond this size the samples of the topics would take many seconds.
    if (this.measure(name)?.better === "neither" || runs.length * T > 2e5) return [];
    const values = terms(this.values(name, settings), this.measure(name)?.summary ?? "mean");
    const own = new Float64Array(runs.length * T);
    runs.forEach((r, k) => own.set(this.row(values, r, topics), k * T));
    const samples = settings.subset ? drawTopics(T, 1000) : this.samples;
    if (!samples) return [];
    const ranges = await rankRanges(own, runs.length, T, this.sign(name), samples, aborted, this.weightsOf(topics));
    if (ranges === null) return null;
    const found: Range[] = [];
    ranges.forEach((range, k) => (found[runs[k]] = range));
    return found;
  }

  /** Bounds of the means of a measure over ties and unjudged documents, computed by Python with --bounds. */
  openRange(measure: string): Readonly<Record<"worst" | "best" | "lowest" | "highest", Numbers>> & Pick<OpenRange, "exact" | "tight"> | undefined {
    const found = this.ranges[measure];
    if (!found) return undefined;
    const { worst, best, lowest, highest, exact, tight } = found;
    const [w, b, l, h] = [worst, best, lowest, highest].map(this.read);
    return { worst: w, best: b, lowest: l, highest: h, exact, tight };
  }

  get size(): number {
    return this.runs.length * this.topics.length;
  }

  index(run: number, topic: number): number {
    return run * this.topics.length + topic;
  }

  runOf(list: number): number {
    return Math.floor(list / this.topics.length);
  }

  topicOf(list: number): number {
    return list % this.topics.length;
  }

  list(i: number): List {
    const { hits } = this;
    const judged = this.below;
    const below = judged && { rank: judged.rank, negative: judged.negative, from: judged.start[i], to: judged.start[i + 1] };
    return {
      topic: this.judgments[this.topicOf(i)],
      rank: hits.rank,
      grade: hits.grade,
      from: hits.start[i],
      to: hits.start[i + 1],
      retrieved: this.retrieved[i],
      judged10: this.judged10[i],
      below,
    };
  }

  /** The name of the relevant document behind hit h of list i, when the page carries names. */
  document(i: number, h: number): string | undefined {
    const { documents } = this;
    return documents?.names[this.topicOf(i)]?.[documents.hit[h]];
  }

  /** The first ranks of a list, with names as far as the page carries them. */
  listed(i: number, depth: number): Listed[] {
    const list = this.list(i);
    const ranks: Listed[] = Array.from({ length: Math.min(depth, list.retrieved) }, (_, k) => ({ rank: k + 1 }));
    const { below } = list;
    if (below) {
      for (const one of ranks) one.grade = null;
      for (let b = below.from; b < below.to && below.rank[b] <= depth; b++) ranks[below.rank[b] - 1].grade = 0;
    }
    for (const one of this.topRanks(i)) if (one.rank <= depth) ranks[one.rank - 1] = one;
    for (let h = list.from; h < list.to && list.rank[h] <= depth; h++) {
      ranks[list.rank[h] - 1] = { rank: list.rank[h], name: this.document(i, h), grade: this.grades[list.grade[h]] };
    }
    return ranks;
  }

  /** Documents of a list that are not relevant and have a name: those in the first ranks of some run. */
  topRanks(i: number): Listed[] {
    const { top } = this;
    if (!top) return [];
    const t = this.topicOf(i);
    return Array.from(top.rank.subarray(top.start[i], top.start[i + 1]), (rank, k) => {
      const name = top.document[top.start[i] + k];
      return { rank, name: top.names[t][name], grade: top.judged[top.first[t] + name] ? 0 : null };
    });
  }

  /** Ranks down to which every document has a name, in a report. */
  get namedDepth(): number {
    return this.packed.top?.depth ?? 0;
  }

  /** Whether the ranks of the named unjudged documents are known in all lists. */
  get rankedEverywhere(): boolean {
    return this.packed.top?.complete === true;
  }

  /** Whether the page carries texts of documents. */
  get hasTexts(): boolean {
    return Object.keys(this.texts?.documents ?? {}).length > 0;
  }

  /** The text of a document, cut, when the page carries texts. */
  text(name: string): string | undefined {
    return this.texts?.documents[name];
  }

  /** The query of a topic, when the page carries texts. */
  query(topic: number): string | undefined {
    return this.texts?.queries[this.topics[topic]];
  }

  /** The name of a topic with its query, for tooltips. */
  topicTitle(topic: number): string {
    const query = this.query(topic);
    return query ? `${this.topics[topic]}: ${query}` : this.topics[topic];
  }

  /** Names of the relevant documents of a topic, when the page carries names. */
  relevant(topic: number): readonly string[] {
    return this.packed.documents?.names[topic] ?? [];
  }

  get named(): boolean {
    return this.packed.documents !== undefined;
  }

  /** Names of the relevant documents of the topic that the list does not hold. */
  missed(i: number): string[] {
    const names = this.documents?.names[this.topicOf(i)];
    if (!names) return [];
    const found = new Set<number>();
    const { start } = this.hits;
    const { hit } = this.documents!;
    for (let h = start[i]; h < start[i + 1]; h++) found.add(hit[h]);
    return names.filter((_, k) => !found.has(k));
  }

  /** Whether the data has the ranks of judged non-relevant documents; a lean report does not. */
  get hasNonrelevant(): boolean {
    return this.packed.nonrelevant !== undefined;
  }

  private known(m: Measured): Measure {
    const { name, meaning, kind, summary, better, low, high } = m;
    const formula = FORMULAS.get(m.formula ?? "");
    let unit = low === 0 && high === 1;
    // Without a declared range, the values decide; they are decoded only for measures that the user requested.
    if (!unit && kind === "given" && summary !== "sum") unit = this.numbers(m.values).every((v) => !(v < 0 || v > 1));
    return { name, meaning, kind, summary, better, low, high, unit, formula };
  }

  private numbers(packed: Packed): Float64Array {
    return this.read(packed) as Float64Array;
  }

  /** The measure of the page that a formula is for: "Twist" is Twist@20 where N is 20. */
  byFormula(name: string): Measure | undefined {
    return this.measures.find((m) => m.formula?.name === name);
  }

  /** Names of the measures that some formulas are for, as far as they are there. */
  namesOf(formulas: readonly string[]): string[] {
    return formulas.flatMap((f) => this.byFormula(f)?.name ?? []);
  }

  /** Twist at the N of the page. */
  get twist(): string {
    return this.byFormula("Twist")!.name;
  }

  measure(name: string): Measure | undefined {
    return this.measures.find((m) => m.name === name);
  }

  /** 1 where higher values of a measure are better or neither is, -1 where lower ones are. */
  sign(name: string): 1 | -1 {
    return sign(this.measure(name)?.better ?? "higher");
  }

  /** The places of values of a measure from the best to the worst, undefined ones last; ties as they come. */
  bestFirst(name: string, values: ArrayLike<number>): number[] {
    return this.ordered(this.sign(name), values);
  }

  /** The same where the sign is known. */
  ordered(by: 1 | -1, values: ArrayLike<number>): number[] {
    return Array.from(values, (_, i) => i).sort((a, b) => {
      const x = by * values[a];
      const y = by * values[b];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
      return x === y ? a - b : y - x;
    });
  }

  effort(i: number, settings: Settings): Effort | null {
    return effort(this.list(i), settings.length, settings.crossing);
  }

  /** Whether a measure has to be computed here, because a setting it depends on was changed. */
  recomputed(name: string, settings: Settings): boolean {
    return dependsOn(this.measure(name)?.formula, settings, this.defaults);
  }

  private key(name: string, settings: Settings): string {
    if (settings.changes) return `${CHANGED}${name}\0${settings.changes.key} ${this.key(name, { ...settings, changes: undefined })}`;
    return this.recomputed(name, settings)
      ? `${name} ${settings.length} ${settings.crossing} ${settings.dcg}`
      : `${name} as given`;
  }

  /** The same of numbers that also depend on the topics. */
  private part(name: string, settings: Settings): string {
    return `${this.key(name, settings)} ${settings.subset?.key ?? ""}`;
  }

  /** Values of a measure for every list, runs first: Python's, unless a setting was changed. */
  values(name: string, settings: Settings): Float64Array {
    const key = this.key(name, settings);
    let values = this.cache.get(key);
    if (values) return values;
    if (settings.changes) {
      values = this.changed(name, settings, settings.changes);
      // Readers try many changes: only the values of the last ones are kept.
      for (const old of this.cache.keys()) if (old.startsWith(`${CHANGED}${name}\0`)) this.cache.delete(old);
      this.cache.set(key, values);
      return values;
    }
    const given = this.given.get(name);
    if (this.recomputed(name, settings)) values = this.computed(this.measure(name)!, settings);
    else values = given ? this.numbers(given.values) : new Float64Array(this.size).fill(NaN);
    this.cache.set(key, values);
    return values;
  }

  /** Values under hypothetical labels and gains: those of the affected lists are computed again. */
  private changed(name: string, settings: Settings, { labels, gains }: Changes): Float64Array {
    const values = this.values(name, { ...settings, changes: undefined }).slice();
    const formula = this.measure(name)?.formula;
    if (!formula) return values;
    const regained = gains !== null && formula.depends.includes("dcg");
    for (let t = 0; t < this.topics.length; t++) {
      const own = labels.filter((one) => one.topic === t);
      if (own.length === 0 && !regained) continue;
      const topic = relabelled(this.judgments[t], own, regained ? gains : this.grades);
      for (let r = 0; r < this.runs.length; r++) {
        const i = this.index(r, t);
        if (this.skips(i)) continue;
        const ranks = own.length === 0 ? [] : this.topRanks(i);
        const found = own.flatMap(({ name, grade }) => ranks.filter((one) => one.name === name).map(({ rank }) => ({ rank, grade })));
        values[i] = formula.of(withLabels(this.list(i), topic, found, this.grades), settings);
      }
    }
    return values;
  }

  private computed(measure: Measure, settings: Settings): Float64Array {
    const values = new Float64Array(this.size);
    for (let i = 0; i < values.length; i++) {
      values[i] = this.skips(i) ? NaN : measure.formula!.of(this.list(i), settings);
    }
    return values;
  }

  /** Whether a list is left out because its run lacks the topic. */
  skips(i: number): boolean {
    return this.skipMissing && this.retrieved[i] === 0;
  }

  /** Index of the archetype of every list, 255 where effort is undefined. */
  archetypes(settings: Settings): Uint8Array {
    const { length, crossing } = this.defaults;
    if (settings.length === length && settings.crossing === crossing) {
      return this.once("archetypes as given", () => this.read(this.archetype) as Uint8Array);
    }
    return this.once(`archetypes ${settings.length} ${settings.crossing}`, () => {
      const kinds = new Uint8Array(this.size).fill(255);
      for (let i = 0; i < kinds.length; i++) {
        const e = this.skips(i) ? null : this.effort(i, settings);
        if (e) kinds[i] = ARCHETYPES.indexOf(e.archetype);
      }
      return kinds;
    });
  }

  /** The axes of the parallel coordinates for every list, the measures forced into [0, 1]. */
  indicators(settings: Settings): Record<Indicator, Float64Array> {
    return this.once(`indicators ${settings.length}`, () => {
      const T = this.topics.length;
      const largest = this.judgments.reduce((most, t) => Math.max(most, t.recallBase), 1);
      const worst = this.judgments.map((_, t) => this.effort(t, settings)?.rhoWorst ?? NaN);
      const unit = (x: number): number => Math.min(1, Math.max(0, x));
      const of = (formula: string): Float64Array => this.values(this.byFormula(formula)!.name, settings);
      const rho = of("Rho2012").map(unit);
      const defined = (v: number, i: number): number => (Number.isNaN(rho[i]) ? NaN : v);
      return {
        R: rho.map((_, i) => defined(this.judgments[i % T].recallBase / largest, i)),
        rho_w: rho.map((_, i) => defined(Math.min(1, worst[i % T]), i)),
        rho,
        // never back on the axis: infinitely late
        b_ratio: of("b_ratio").map((v, i) => (rho[i] === 0 ? 0 : unit(v))),
        CRP_min: of("CRP_min").map(unit),
        CRP_N: of("CRP_N").map(unit),
      };
    });
  }

  private once<V>(key: string, compute: () => V): V {
    if (!this.other.has(key)) this.other.set(key, compute());
    return this.other.get(key) as V;
  }

  /** The number of each run over topics, as the measure sums topics up: Python's, unless settings or topics were changed. */
  means(name: string, settings: Settings): Float64Array {
    const given = this.given.get(name);
    return this.once(`means ${this.part(name, settings)}`, () => {
      if (given && !settings.subset && !settings.changes && !this.recomputed(name, settings)) return this.numbers(given.means);
      return Float64Array.from(this.intervals(name, settings), (i) => i.mean);
    });
  }

  /** Values of one run on all topics as one number, as the leaderboard summarises them: only its topics, with their weights. */
  summarise(name: string, values: ArrayLike<number>, settings: Settings): number {
    const topics = this.topicsOf(settings);
    return interval(Float64Array.from(topics, (t) => values[t]), this.measure(name)?.summary ?? "mean", this.weightsOf(topics)).mean;
  }

  /** The same with its 95% interval and the number of topics that have a value. */
  intervals(name: string, settings: Settings): Interval[] {
    const given = this.given.get(name);
    return this.once(`intervals ${this.part(name, settings)}`, () => {
      const values = this.values(name, settings);
      const topics = this.topicsOf(settings);
      const weights = this.weightsOf(topics);
      const summary = this.measure(name)?.summary ?? "mean";
      const found = this.runs.map((_, r) => interval(this.row(values, r, topics), summary, weights));
      if (!given || settings.subset || settings.changes || this.recomputed(name, settings)) return found;
      const [means, low, high] = [given.means, given.mean_low, given.mean_high].map((part) => this.numbers(part));
      return found.map(({ n }, r) => ({ n, mean: means[r], low: low[r], high: high[r] }));
    });
  }
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? Math.floor(value) : undefined;
}

function judgmentsOf(payload: Payload, read: (packed: Packed) => Numbers): Topic[] {
  const G = payload.grades.length;
  const [counts, nonrelevant, negative] = [
    payload.topic.counts,
    payload.topic.nonrelevant,
    payload.topic.negative,
  ].map(read);
  return payload.topics.map((_, t) => {
    const own = Int32Array.from(counts.subarray(t * G, (t + 1) * G));
    return new Topic(payload.grades, own, nonrelevant[t], negative[t]);
  });
}

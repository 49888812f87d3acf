// The data of the page in memory: runs x topics lists, and the values of measures over them.

import { CATALOGUE, sign, type Measure } from "../measures/catalogue";
import { ARCHETYPES, clamped, effort, type Effort } from "../measures/effort";
import { DEFAULTS, Topic, type Crossing, type List, type Settings } from "../measures/list";
import type { Numbers, Payload, Source, StudyTable, Warning } from "./payload";

function offsets(counts: Numbers): Uint32Array {
  const start = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) start[i + 1] = start[i] + counts[i];
  return start;
}

export const INDICATORS = ["R", "rho_w", "rho", "b_ratio", "CRP_min", "CRP_N"] as const;
export type Indicator = (typeof INDICATORS)[number];

export class Collection {
  readonly title: string;
  readonly version: string;
  readonly runs: readonly string[];
  readonly topics: readonly string[];
  readonly grades: readonly number[];
  readonly judgments: readonly Topic[];
  readonly retrieved: Numbers;
  readonly judged10: Numbers;
  readonly warnings: readonly Warning[];
  readonly study: Readonly<Record<string, StudyTable>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly measures: readonly Measure[];
  /** The topics of bootstrap samples, one after the other. */
  readonly samples?: ArrayLike<number>;
  readonly defaults: Settings;
  readonly server: boolean;

  /** Topics that a run lacks are left out of its means instead of counting as an empty list. */
  private readonly skipMissing: boolean;
  private readonly rank: Numbers;
  private readonly grade: Numbers;
  private readonly start: Uint32Array;
  private readonly below?: { rank: Numbers; start: Uint32Array };
  private readonly documents?: { names: string[][]; hit: Numbers };
  private readonly given = new Map<string, Numbers>();
  private readonly cache = new Map<string, Float64Array>();
  private readonly other = new Map<string, unknown>();

  constructor(source: Source) {
    const { payload, read } = source;
    if (payload.format !== "rankscope.page" || payload.version !== 1) {
      throw new Error("the data was made for another version of this page");
    }
    this.title = payload.title;
    this.version = payload.rankscope ?? "";
    this.runs = payload.runs;
    this.topics = payload.topics;
    this.grades = payload.grades;
    this.warnings = payload.warnings;
    this.study = payload.study ?? {};
    this.settings = payload.settings;
    this.judgments = topicsOf(payload, read(payload.topic.counts), read(payload.topic.nonrelevant));
    this.retrieved = read(payload.list.retrieved);
    this.judged10 = read(payload.list.judged10);
    this.start = offsets(read(payload.list.hits));
    this.rank = read(payload.list.rank);
    this.grade = read(payload.list.grade);
    if (payload.nonrelevant) {
      this.below = { rank: read(payload.nonrelevant.rank), start: offsets(read(payload.nonrelevant.hits)) };
    }
    if (payload.documents) {
      this.documents = { names: payload.documents.names, hit: read(payload.documents.hit) };
    }
    if (payload.samples) this.samples = read(payload.samples);
    this.server = payload.server === true;
    this.skipMissing = payload.settings.missing === "skip";
    for (const m of payload.measures ?? []) this.given.set(m.name, read(m.values));
    this.measures = [
      ...CATALOGUE.filter((m) => !this.given.has(m.name) && (!m.needsNonrelevant || this.below)),
      ...(payload.measures ?? []).map((m) => givenMeasure(m.name, m.meaning ?? "", this.given.get(m.name)!)),
    ].map((m) => ({ ...m, better: payload.better?.[m.name] ?? "higher" }));
    this.defaults = {
      length: positive(payload.settings.length) ?? DEFAULTS.length,
      crossing: (payload.settings.crossing as Crossing | undefined) ?? DEFAULTS.crossing,
      dcg: payload.settings.dcg === "jk10" ? "jk10" : DEFAULTS.dcg,
    };
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
    const below = this.below && { rank: this.below.rank, from: this.below.start[i], to: this.below.start[i + 1] };
    return {
      topic: this.judgments[this.topicOf(i)],
      rank: this.rank,
      grade: this.grade,
      from: this.start[i],
      to: this.start[i + 1],
      retrieved: this.retrieved[i],
      judged10: this.judged10[i],
      below,
    };
  }

  /** The name of the relevant document behind hit h of list i, when the page carries names. */
  document(i: number, h: number): string | undefined {
    return this.documents?.names[this.topicOf(i)]?.[this.documents.hit[h]];
  }

  get named(): boolean {
    return this.documents !== undefined;
  }

  /** Names of the relevant documents of the topic that the list does not hold. */
  missed(i: number): string[] {
    const names = this.documents?.names[this.topicOf(i)];
    if (!names) return [];
    const found = new Set<number>();
    for (let h = this.start[i]; h < this.start[i + 1]; h++) found.add(this.documents!.hit[h]);
    return names.filter((_, k) => !found.has(k));
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
    const by = this.sign(name);
    return Array.from(values, (_, i) => i).sort((a, b) => {
      const [x, y] = [by * values[a], by * values[b]];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
      return x === y ? a - b : y - x;
    });
  }

  effort(i: number, settings: Settings): Effort | null {
    return effort(this.list(i), settings.length, settings.crossing);
  }

  /** Values of a measure for every list, runs first. */
  values(name: string, settings: Settings): Float64Array {
    const key = `${name} ${settings.length} ${settings.crossing} ${settings.dcg}`;
    let values = this.cache.get(key);
    if (values) return values;
    const measure = this.measure(name);
    values = new Float64Array(this.size).fill(NaN);
    const given = this.given.get(name);
    if (given) values.set(given);
    else if (measure) for (let i = 0; i < values.length; i++) values[i] = measure.of(this.list(i), settings);
    if (this.skipMissing) for (let i = 0; i < values.length; i++) if (this.retrieved[i] === 0) values[i] = NaN;
    this.cache.set(key, values);
    return values;
  }

  /** Index of the archetype of every list, 255 where effort is undefined. */
  archetypes(settings: Settings): Uint8Array {
    return this.once(`archetypes ${settings.length} ${settings.crossing}`, () => {
      const kinds = new Uint8Array(this.size).fill(255);
      for (let i = 0; i < kinds.length; i++) {
        const e = this.effort(i, settings);
        if (e) kinds[i] = ARCHETYPES.indexOf(e.archetype);
      }
      return kinds;
    });
  }

  /** The axes of the parallel coordinates for every list, all in [0, 1]. */
  indicators(settings: Settings): Record<Indicator, Float64Array> {
    return this.once(`indicators ${settings.length}`, () => {
      const column = (): Float64Array => new Float64Array(this.size).fill(NaN);
      const axes = {
        R: column(),
        rho_w: column(),
        rho: column(),
        b_ratio: column(),
        CRP_min: column(),
        CRP_N: column(),
      };
      const largest = this.judgments.reduce((most, t) => Math.max(most, t.recallBase), 1);
      for (let i = 0; i < this.size; i++) {
        const e = this.effort(i, settings);
        if (!e) continue;
        const R = this.judgments[this.topicOf(i)].recallBase;
        const c = clamped(e, R);
        axes.R[i] = R / largest;
        axes.rho_w[i] = Math.min(1, e.rhoWorst);
        axes.rho[i] = c.rho;
        axes.b_ratio[i] = c.bRatio;
        axes.CRP_min[i] = c.crpMin;
        axes.CRP_N[i] = c.crpN;
      }
      return axes;
    });
  }

  private once<V>(key: string, compute: () => V): V {
    if (!this.other.has(key)) this.other.set(key, compute());
    return this.other.get(key) as V;
  }

  /** Mean of each run over the topics where the measure is defined. */
  means(name: string, settings: Settings): Float64Array {
    const values = this.values(name, settings);
    const T = this.topics.length;
    return Float64Array.from(this.runs, (_, r) => {
      let sum = 0;
      let n = 0;
      for (let t = 0; t < T; t++) {
        const v = values[r * T + t];
        if (!Number.isNaN(v)) {
          sum += v;
          n++;
        }
      }
      return n === 0 ? NaN : sum / n;
    });
  }
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? Math.floor(value) : undefined;
}

function topicsOf(payload: Payload, counts: Numbers, nonrelevant: Numbers): Topic[] {
  const G = payload.grades.length;
  return payload.topics.map(
    (_, t) => new Topic(payload.grades, Int32Array.from(counts.subarray(t * G, (t + 1) * G)), nonrelevant[t]),
  );
}

function givenMeasure(name: string, meaning: string, values: Numbers): Omit<Measure, "better"> {
  let unit = true;
  for (const v of values) if (v < 0 || v > 1) unit = false;
  return { name, meaning, kind: "given", unit, of: () => NaN };
}

// The state of the page: one object shared by all views, mirrored in the URL fragment.

import type { Agreement } from "./data/agreement";
import type { Collection, Listed } from "./data/collection";
import type { FindingData } from "./data/types";
import type { Label, Settings } from "./measures/list";
import { palette, type Palette } from "./ui/canvas";
import { queryStems } from "./ui/words";

/** Views: name in the address, label, and the tab that it belongs to. */
export const VIEWS = [
  ["runs", "Leaderboard", "Leaderboard"],
  ["map", "Heat map", "Topics"],
  ["slices", "Slices", "Topics"],
  ["coverage", "Aspect coverage", "Topics"],
  ["orders", "Rank stability", "Rank stability"],
  ["plane", "Effort and gain", "Effort"],
  ["archetypes", "Curve shapes", "Effort"],
  ["curves", "Rankings", "Rankings"],
  ["versus", "Head to head", "Head to head"],
  ["study", "Study", "Study"],
  ["whatif", "What if", "What if"],
] as const;
/** Views of values alone, which a report of scores has. */
const WITHOUT_RANKINGS: ReadonlySet<string> = new Set(["runs", "map", "slices", "study"]);
/** Parts of views that were views: where they are now, and the heading to show. */
const MOVED: Record<string, [View, string]> = {
  findings: ["runs", "findings-title"],
  summary: ["runs", "facts"],
  indicators: ["archetypes", "indicators-title"],
};
export type View = (typeof VIEWS)[number][0];

/** A rectangle in the plane, in data units: Twist, and a measure of gain. */
export interface Brush {
  measure: string;
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** Ranges brushed on the axes of the parallel coordinates, by axis. */
export type Ranges = Record<string, [number, number]>;

/** Attributes that can colour or split the points of the plane. */
export const KINDS = ["archetype", "topic", "recall base", "group"] as const;
export type Kind = "" | (typeof KINDS)[number];
/** Variations across which the order of the runs is compared. */
export const ACROSS = ["measures", "cutoffs", "pools", "samples"] as const;
export type Across = (typeof ACROSS)[number];

const MAX_RUNS = 8;
/** Letters of a note, so that an address stays short enough to be sent. */
export const MAX_NOTE = 1000;
const CROSSINGS = ["sign-change", "definition", "matters"] as const;

export class State {
  view = $state<View>("runs");
  /** Kind of the finding that was followed to this view. */
  finding = $state("");
  /** Id of the heading that the view scrolls to when it opens. */
  heading = $state("");
  /** Measure on the vertical axis, in the heat map and leading in the table of runs. */
  measure = $state("AP");
  runs = $state<number[]>([]);
  topic = $state(0);
  settings = $state<Settings>({ length: 1000, crossing: "sign-change", dcg: "trec_eval" });
  brush = $state<Brush | null>(null);
  ranges = $state<Ranges>({});
  sort = $state<{ by: string; descending: boolean }>({ by: "", descending: true });
  logRanks = $state(false);
  /** Baseline run, in every view. */
  baseline = $state<number | null>(null);
  /** With a baseline, differences from it instead of values where a view can show either. */
  relative = $state(true);
  /** The only group of runs that views show. */
  group = $state<number | null>(null);
  /** The attribute whose slices are shown, and the only slice of topics that views use. */
  attribute = $state(0);
  slice = $state.raw<{ attribute: number; slice: number } | null>(null);
  /** Attributes that colour and split the points of the plane. */
  tint = $state<Kind>("");
  facet = $state<Kind>("");
  /** Lines of equal density in the plane; null: where the points are many. */
  contours = $state<boolean | null>(null);
  /** The means of all runs in the plane. */
  centres = $state(false);
  across = $state<Across>("measures");
  /** The full-scale list as reference in the curves. */
  reference = $state(false);
  /** All runs in the parallel coordinates, not only those chosen. */
  everyone = $state(false);
  /** Measures in further columns of the leaderboard; null: as many as fit. */
  columns = $state.raw<readonly string[] | null>(null);
  /** Part of a name that runs are filtered by. */
  filter = $state("");
  /** Part of the name of a document that is looked for. */
  document = $state("");
  /** The archetype whose lists are named, and what runs are sorted by in that view. */
  archetype = $state("");
  byShare = $state("");
  /** What-if for one list, or for the collection. */
  scope = $state<"list" | "collection">("list");
  /** Topics that what-if excludes, its labels of unjudged documents, and its gains (of every grade, highest first). */
  excluded = $state.raw<number[]>([]);
  labels = $state.raw<Label[]>([]);
  gains = $state.raw<number[] | null>(null);
  /** The settings with the changes of what-if. */
  readonly changed = $derived.by<Settings>(() => {
    const { data: d, settings, excluded, labels, gains } = this;
    const topics = d.topicsOf(settings).filter((t) => !excluded.includes(t));
    const subset = excluded.length > 0 ? { key: `${settings.subset?.key ?? ""} without ${excluded.join(" ")}`, topics } : settings.subset;
    const changes = labels.length > 0 || gains ? { key: JSON.stringify([labels, gains]), labels, gains } : undefined;
    return { ...settings, subset, changes };
  });
  /** A note of the reader, stored in the address. */
  note = $state("");
  /** Parts of the data in which the page of the opened address differs; empty: none, null: unknown. */
  differs = $state.raw<string[] | null>(null);
  /** Names in the address that are not in this collection. */
  unknown = $state.raw<string[]>([]);
  /** All parts of the data have arrived. */
  complete = $state(true);
  /** The explorer's server no longer answers. */
  gone = $state(false);
  /** Complete rankings from the explorer's server, by list. */
  whole = $state.raw(new Map<number, [name: string, grade: number | null][]>());
  /** Number of ranks of the two lists side by side. */
  depth = $state<10 | 20>(10);
  /** Edits of the what-if view, as text such as "m5-2 r7=1". */
  edits = $state("");
  /** One view in the shape of a slide. */
  talk = $state(false);
  theme = $state<"auto" | "light" | "dark">("auto");
  /** Colours for canvases; App renews them when the theme changes. */
  palette = $state.raw<Palette>(palette());
  /** Comparison of the page's formulas with the values of the evaluation; null until it is done. */
  agreement = $state.raw<Agreement | null>(null);
  /** Charts draw in vectors, not on canvas: on paper, and in figures that leave the page. */
  vector = $state(false);
  /** Most runs that a chart draws: in files, so that they fit a page of a paper. */
  most = $state<number | null>(null);
  private drawings = 0;
  /** Rank under the pointer or keyboard cursor in the curve panels. */
  cursor = $state<number | null>(null);

  constructor(readonly data: Collection) {
    this.settings = { ...data.defaults };
    this.measure = data.lead;
    this.runs = data.runs.length > 0 ? [this.best()] : [];
  }

  /** Open the view of a finding with its measure, runs and topic. */
  show(one: FindingData): void {
    const d = this.data;
    if (one.measure && d.measure(one.measure)) this.measure = one.measure;
    const runs = (one.runs ?? []).map((name) => d.runs.indexOf(name)).filter((r) => r >= 0);
    if (runs.length > 0) this.runs = runs.slice(0, MAX_RUNS);
    const topic = d.topics.indexOf(one.topic ?? "");
    if (topic >= 0) this.topic = topic;
    if (one.kind === "unjudged" && !this.needsEvidence(one)) this.columns = d.namesOf(["Judged@10"]);
    if (one.view === "slices") {
      [this.baseline] = this.runs;
      this.attribute = Math.max(0, d.slices.findIndex(({ name }) => name === one.numbers.attribute));
    }
    this.open(one.view);
    this.finding = one.kind;
    this.edits = "";
  }

  /** Whether the leaderboard lacks the numbers of a finding: orders of ties, and shares of other than the first ten ranks. */
  needsEvidence(one: FindingData): boolean {
    return one.kind === "ties" || (one.kind === "unjudged" && one.numbers.depth !== 10);
  }

  /** Fetch the complete rankings of some runs on the chosen topic, if a server has them. */
  load(runs: readonly number[]): void {
    if (!this.data.server) return;
    for (const run of runs) {
      const i = this.data.index(run, this.topic);
      if (this.whole.has(i)) continue;
      fetch(`list/${run}/${this.topic}`)
        .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)))))
        .then((documents: [string, number | null][]) => {
          this.whole = new Map(this.whole).set(i, documents);
          this.gone = false;
        })
        .catch(() => (this.gone = true)); // the short rows stay
    }
  }

  /** The first ranks of a list: complete ones from the server, those of the page otherwise. */
  listed(i: number, depth: number): Listed[] {
    const whole = this.whole.get(i)?.slice(0, depth);
    return whole?.map(([name, grade], k) => ({ rank: k + 1, name, grade: grade && Math.max(0, grade) })) ?? this.data.listed(i, depth);
  }

  /** Open a view by its name in an address, if this collection has it. */
  open(name: string): void {
    const [view, heading] = Object.hasOwn(MOVED, name) ? MOVED[name] : [name, ""];
    if (!this.views.some(([one]) => one === view)) return;
    this.view = view as View;
    this.heading = heading;
  }

  /** The views there is something to show for. */
  get views(): readonly (typeof VIEWS)[number][] {
    const { study, aspects, onlyScores, slices } = this.data;
    const absent = { study: Object.keys(study).length === 0, coverage: aspects === undefined, slices: slices.length === 0 };
    return VIEWS.filter(([view]) => !absent[view as keyof typeof absent] && (!onlyScores || WITHOUT_RANKINGS.has(view)));
  }

  /** Start or stop drawing in vectors; calls nest. */
  draw(vectors: boolean): void {
    this.drawings = Math.max(0, this.drawings + (vectors ? 1 : -1));
    this.vector = this.drawings > 0;
    this.palette = palette();
  }

  /** Kinds that this collection has. */
  get kinds(): readonly (typeof KINDS)[number][] {
    return KINDS.filter((kind) => kind !== "group" || this.data.groups !== undefined);
  }

  /** Lists that pass the group filter and the brush of the plane, with their runs and topics; null: all. */
  readonly kept = $derived.by(() => {
    const { data: d, brush, group, slice } = this;
    if (!brush && group === null && slice === null) return null;
    const inside = slice && new Set(d.slices[slice.attribute].slices[slice.slice].topics);
    const [effort, gain] = brush ? [d.values(d.twist, this.settings), d.values(brush.measure, this.settings)] : [];
    const lists = new Uint8Array(d.size);
    const runs = d.runs.map(() => 0);
    const topics = d.topics.map(() => 0);
    const T = d.topics.length;
    let count = 0;
    for (let i = 0; i < lists.length; i++) {
      const r = Math.floor(i / T);
      if (group !== null && d.groupOf(r) !== group) continue;
      if (inside && !inside.has(i - r * T)) continue;
      if (brush && !(within(effort![i], brush.x0, brush.x1) && within(gain![i], brush.y0, brush.y1))) continue;
      lists[i] = 1;
      runs[r]++;
      topics[i - r * T]++;
      count++;
    }
    return { lists, runs, topics, count };
  });
  /** The first of some runs, and chosen ones, as far as a file has room for them. */
  shorten(runs: number[]): number[] {
    const { most, baseline } = this;
    return most === null ? runs : runs.filter((r, k) => k < most || this.runs.includes(r) || r === baseline);
  }
  keepsRun = (r: number): boolean => !this.kept || this.kept.runs[r] > 0;
  keepsTopic = (t: number): boolean => !this.kept || this.kept.topics[t] > 0;
  keepsList = (i: number): boolean => !this.kept || this.kept.lists[i] > 0;

  /** Use only a slice of the topics in every view, or all. */
  setSlice(slice: { attribute: number; slice: number } | null): void {
    this.slice = slice;
    if (slice) this.attribute = slice.attribute;
    this.settings = { ...this.settings, subset: slice ? this.data.subset(slice.attribute, slice.slice) : undefined };
  }

  /** A name for charts, with the mark of the baseline. */
  label(run: number): string {
    return (run === this.baseline ? "◆ " : "") + this.data.runs[run];
  }

  /** Stems of the words of the chosen topic, which excerpts highlight. */
  readonly stems = $derived.by(() => queryStems(this.data.query(this.topic) ?? ""));

  private best(): number {
    return this.data.bestFirst(this.measure, this.data.means(this.measure, this.settings))[0];
  }

  /** The colours of the chosen runs by number: a run keeps its own while it is chosen. */
  readonly slots = $derived.by(() => {
    const kept = new Map<number, number>();
    for (const r of this.runs) if (this.before.has(r)) kept.set(r, this.before.get(r)!);
    for (const r of this.runs) {
      if (kept.has(r)) continue;
      const used = new Set(kept.values());
      let free = 0;
      while (used.has(free)) free++;
      kept.set(r, free % MAX_RUNS);
    }
    this.before = kept;
    return kept;
  });
  private before = new Map<number, number>();

  /** The colour of a chosen run, for style sheets. */
  colour(run: number): string {
    const slot = this.slots.get(run);
    return slot === undefined ? "var(--muted)" : `var(--run-${slot})`;
  }

  /** The same for canvases. */
  ink(run: number): string {
    const slot = this.slots.get(run);
    return slot === undefined ? this.palette.muted : this.palette[`run-${slot}` as keyof Palette];
  }

  /** Look at one list; `add` keeps the runs already chosen. */
  choose(run: number, topic: number, add = false): void {
    this.topic = topic;
    if (!add) this.runs = [run];
    else if (!this.runs.includes(run)) this.runs = [...this.runs.slice(-(MAX_RUNS - 1)), run];
    this.edits = "";
  }

  toggle(run: number): void {
    if (!this.runs.includes(run)) this.runs = [...this.runs.slice(-(MAX_RUNS - 1)), run];
    else if (this.runs.length > 1) this.runs = this.runs.filter((r) => r !== run);
    this.edits = "";
  }

  toFragment(): string {
    const q = new URLSearchParams();
    const d = this.data;
    q.set("view", this.view);
    q.set("measure", this.measure);
    for (const r of this.runs) q.append("run", d.runs[r]);
    const colours = this.runs.map((r) => this.slots.get(r));
    if (colours.some((c, k) => c !== k)) q.set("colours", colours.join(","));
    if (d.topics.length > 0) q.set("topic", d.topics[this.topic]);
    if (this.settings.length !== d.defaults.length) q.set("length", String(this.settings.length));
    if (this.settings.crossing !== d.defaults.crossing) q.set("crossing", this.settings.crossing);
    if (this.settings.dcg !== d.defaults.dcg) q.set("dcg", this.settings.dcg);
    if (this.baseline !== null) q.set("baseline", d.runs[this.baseline]);
    if (!this.relative) q.set("values", "absolute");
    if (this.group !== null) q.set("group", d.groups!.names[this.group]);
    if (this.attribute) q.set("by", d.slices[this.attribute].name);
    if (this.slice) q.set("slice", d.slices[this.slice.attribute].slices[this.slice.slice].name);
    if (this.brush && this.brush.measure !== this.measure) q.set("brushed", this.brush.measure);
    if (this.facet) q.set("facet", this.facet);
    if (this.contours !== null) q.set("contours", this.contours ? "on" : "off");
    if (this.centres) q.set("means", "all");
    if (this.across !== "measures") q.set("across", this.across);
    if (this.brush) q.set("brush", [this.brush.x0, this.brush.x1, this.brush.y0, this.brush.y1].map(short).join(","));
    const ranges = Object.entries(this.ranges).map(([axis, [a, b]]) => `${axis}:${short(a)}:${short(b)}`);
    if (ranges.length > 0) q.set("ranges", ranges.join(","));
    if (this.sort.by) q.set("sort", (this.sort.descending ? "-" : "") + this.sort.by);
    if (this.logRanks) q.set("ranks", "log");
    if (this.tint) q.set("tint", this.tint);
    if (this.talk) q.set("talk", "on");
    if (this.reference) q.set("reference", "full-scale");
    if (this.everyone) q.set("lines", "all");
    if (this.finding) q.set("finding", this.finding);
    if (this.columns !== null) q.set("columns", this.columns.join(" "));
    if (this.filter) q.set("find", this.filter);
    if (this.document) q.set("document", this.document);
    if (this.depth !== 10) q.set("top", String(this.depth));
    if (this.archetype) q.set("archetype", this.archetype);
    if (this.byShare) q.set("share", this.byShare);
    if (this.edits) q.set("edits", this.edits);
    if (this.scope !== "list") q.set("scope", this.scope);
    for (const t of this.excluded) q.append("exclude", d.topics[t]);
    for (const { topic, name, grade } of this.labels) q.append("label", [d.topics[topic], name, grade].join("\t"));
    if (this.gains) q.set("gains", this.gains.join(","));
    if (this.note) q.set("note", this.note);
    q.set("data", Object.values(d.fingerprint).join("."));
    return q.toString();
  }

  /** Takes what it understands from a fragment and ignores the rest: links outlive reports. */
  fromFragment(fragment: string): void {
    const q = new URLSearchParams(fragment.replace(/^#/, ""));
    const d = this.data;
    this.open(q.get("view") ?? "");
    const measure = q.get("measure");
    const unknown: string[] = [];
    if (measure && d.measure(measure)) this.measure = measure;
    else if (measure) unknown.push(`measure ${measure}`);
    const runs = q.getAll("run").map((name) => place(d.runs, name));
    q.getAll("run").forEach((name, k) => runs[k] < 0 && unknown.push(`run ${name}`));
    const known = runs.filter((r, i) => r >= 0 && runs.indexOf(r) === i).slice(0, MAX_RUNS);
    if (known.length > 0) {
      const colours = (q.get("colours") ?? "").split(",").map(Number);
      const sound = colours.length === known.length && colours.every((c) => Number.isInteger(c) && c >= 0 && c < MAX_RUNS);
      this.before = new Map(known.map((r, k) => [r, sound ? colours[k] : k]));
      this.runs = known;
    }
    const topic = place(d.topics, q.get("topic") ?? "");
    if (topic >= 0) this.topic = topic;
    else if (q.get("topic")) unknown.push(`topic ${q.get("topic")}`);
    const length = Number(q.get("length"));
    const crossing = CROSSINGS.find((c) => c === q.get("crossing"));
    const dcg = q.get("dcg");
    this.settings = {
      length: Number.isInteger(length) && length > 0 && length <= 1e6 ? length : d.defaults.length,
      crossing: crossing ?? d.defaults.crossing,
      dcg: dcg === "jk10" || dcg === "trec_eval" ? dcg : d.defaults.dcg,
    };
    const box = (q.get("brush") ?? "").split(",").map(Number);
    const brushed = d.measure(q.get("brushed") ?? "")?.name ?? this.measure;
    this.brush =
      box.length === 4 && box.every(Number.isFinite)
        ? { measure: brushed, x0: box[0], x1: box[1], y0: box[2], y1: box[3] }
        : null;
    const named = (names: readonly string[], what: string): number | null => {
      const wanted = q.get(what);
      const found = wanted === null ? -1 : place(names, wanted);
      if (wanted !== null && found < 0) unknown.push(`${what} ${wanted}`);
      return found < 0 ? null : found;
    };
    this.baseline = named(d.runs, "baseline");
    this.group = named(d.groups?.names ?? [], "group");
    this.attribute = named(d.slices.map((one) => one.name), "by") ?? 0;
    const slice = named(d.slices[this.attribute]?.slices.map((one) => one.name) ?? [], "slice");
    this.setSlice(slice === null ? null : { attribute: this.attribute, slice });
    this.relative = q.get("values") !== "absolute";
    const contours = q.get("contours");
    this.contours = contours === "on" ? true : contours === "off" ? false : null;
    this.centres = q.get("means") === "all";
    this.across = ACROSS.find((one) => one === q.get("across")) ?? "measures";
    this.ranges = {};
    for (const part of (q.get("ranges") ?? "").split(",")) {
      const [axis, a, b] = part.split(":");
      if (b !== undefined && Number.isFinite(+a) && Number.isFinite(+b)) this.ranges[axis] = [+a, +b];
    }
    const sort = q.get("sort") ?? "";
    this.sort = { by: sort.replace(/^-/, ""), descending: !sort || sort.startsWith("-") };
    this.logRanks = q.get("ranks") === "log";
    this.tint = this.kinds.find((kind) => kind === q.get("tint")) ?? "";
    this.facet = this.kinds.find((kind) => kind === q.get("facet")) ?? "";
    this.talk = q.get("talk") === "on";
    this.reference = q.get("reference") === "full-scale";
    this.everyone = q.get("lines") === "all";
    this.finding = d.findings.find((one) => one.kind === q.get("finding"))?.kind ?? "";
    const columns = q.get("columns");
    this.columns = columns === null ? null : columns.split(" ").filter((m) => d.measure(m) !== undefined);
    this.filter = q.get("find") ?? "";
    this.document = q.get("document") ?? "";
    this.depth = q.get("top") === "20" ? 20 : 10;
    const shapes = d.archetypeMeanings.map((a) => a.name);
    this.archetype = shapes.find((a) => a === q.get("archetype")) ?? "";
    this.byShare = shapes.find((a) => a === q.get("share")) ?? "";
    this.unknown = unknown;
    this.edits = q.get("edits") ?? "";
    this.scope = q.get("scope") === "collection" ? "collection" : "list";
    this.excluded = [...new Set(q.getAll("exclude").map((name) => place(d.topics, name)))].filter((t) => t >= 0).slice(0, Math.max(0, d.topics.length - 2));
    this.labels = q.getAll("label").flatMap((text) => {
      const [name, document, grade] = text.split("\t");
      const topic = place(d.topics, name);
      return topic >= 0 && grade !== undefined && (grade === "0" || d.grades.includes(Number(grade))) ? [{ topic, name: document, grade: Number(grade) }] : [];
    });
    const gains = (q.get("gains") ?? "").split(",").map(Number);
    const falls = gains.every((gain, k) => Number.isFinite(gain) && gain >= 0 && (k === 0 || gain <= gains[k - 1]));
    this.gains = q.has("gains") && falls && gains.length === d.grades.length ? gains : null;
    this.note = (q.get("note") ?? "").slice(0, MAX_NOTE);
    const hashes = q.get("data")?.split(".");
    const parts = Object.entries(d.fingerprint);
    this.differs = hashes?.length === parts.length ? parts.flatMap(([part, own], k) => (own === hashes[k] ? [] : [part])) : null;
  }
}

/** Return the index of a name from the address, which cannot contain the lone surrogates that stand for invalid bytes. */
function place(names: readonly string[], name: string): number {
  const exact = names.indexOf(name);
  return exact >= 0 ? exact : names.findIndex((other) => other.replace(/\p{Surrogate}/gu, "\ufffd") === name);
}

const within = (x: number, low: number, high: number): boolean => x >= low && x <= high;
const short = (x: number): string => String(+x.toFixed(4));

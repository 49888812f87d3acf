// Written by web/make_types.py from src/rankscope/reporting/schema.py: change it there.

export const VERSION = 2;

/** Numbers: base64 text in a report, an offset in the stream of the explorer, or indices of a table of values. */
export type Packed = { dtype: "u8" | "u16" | "u32" | "i32" | "f32" | "f64"; base64: string } | { dtype: "u8" | "u16" | "u32" | "i32" | "f32" | "f64"; at: number; length: number } | { codes: Packed; table: Packed };

/** Command line arguments that open the same collection. */
export interface SourceFiles {
  /** the judgments, as they were named */
  qrels: string;
  /** the runs, as they were named */
  runs: string[];
  /** options with which they were read */
  options: string[];
  /** runs: the file of each, null if unknown */
  files: (string | null)[];
  /** the directory of the study, as it was named */
  study?: string;
  /** the groups of runs, as they were named */
  groups?: string;
}

/** Judgments of the topics. */
export interface Judgments {
  /** topics x grades: judged documents of each grade */
  counts: Packed;
  /** topics: judged documents of grade 0 or less */
  nonrelevant: Packed;
  /** topics: those of them below 0 */
  negative: Packed;
}

/** Rankings: lengths, and ranks of their relevant documents. */
export interface RankingArrays {
  /** lists: documents in the list, 0 where the run lacks the topic */
  retrieved: Packed;
  /** lists: judged documents in the first ten ranks */
  judged10: Packed;
  /** lists: relevant documents in the list */
  hits: Packed;
  /** hits: ranks, ascending within a list, list after list */
  rank: Packed;
  /** hits: grades, as indices of grades */
  grade: Packed;
}

/** Ranks of judged documents that are not relevant. */
export interface Nonrelevant {
  /** lists: number in the list */
  hits: Packed;
  /** entries: ranks */
  rank: Packed;
  /** entries: 1 where the grade is below 0; absent if it never is */
  negative?: Packed;
}

/** Names of relevant documents. */
export interface Documents {
  /** topics x names: the relevant documents of each topic */
  names: string[][];
  /** hits: index of the name among those of its topic */
  hit: Packed;
}

/** Documents in the first ranks of some run that are not judged relevant. */
export interface TopDocuments {
  /** ranks down to which every document has a name */
  depth: number;
  /** whether the entries include all ranks of unjudged documents, not only the first */
  complete: boolean;
  /** topics x names */
  names: string[][];
  /** names of all topics: 1 if judged not relevant, 0 if unjudged */
  judged: Packed;
  /** lists: number of entries */
  hits: Packed;
  /** entries: ranks, ascending within a list */
  rank: Packed;
  /** entries: index of the name among those of its topic */
  document: Packed;
}

/** A measure and its values for all lists and runs. */
export interface Measured {
  /** canonical name */
  name: string;
  /** one-line description */
  meaning: string;
  /** given: requested with -m, in addition to the standard measures */
  kind: "gain" | "effort" | "data" | "given";
  /** summary over topics */
  summary: "mean" | "geometric mean" | "sum";
  /** direction of better values */
  better: "higher" | "lower" | "neither";
  /** lowest possible value; null if unbounded */
  low: number | null;
  /** highest possible value; null if unbounded */
  high: number | null;
  /** name of the formula that the report computes, for changed settings and rankings */
  formula?: string;
  /** lists: the values, NaN where undefined */
  values: Packed;
  /** runs: summary of the values over topics */
  means: Packed;
  /** runs: lower end of the 95 % t interval of the summary */
  mean_low: Packed;
  /** runs: its upper end */
  mean_high: Packed;
}

/** A shape of CRP curves. */
export interface Archetype {
  /** the archetype */
  name: string;
  /** condition for a ranking to belong to it */
  meaning: string;
}

/** Bounds of means over orders of tied documents and labels of unjudged documents. */
export interface OpenRange {
  /** runs: the mean in the worst order of tied documents */
  worst: Packed;
  /** runs: the mean in the best order */
  best: Packed;
  /** whether all orders were evaluated */
  exact: boolean;
  /** runs: the lowest mean over all labels of unjudged documents */
  lowest: Packed;
  /** runs: the highest mean over all labels */
  highest: Packed;
  /** runs: whether labels attain both bounds */
  tight: boolean[];
}

/** A table of a study; undefined numbers are null, infinite ones the texts "Infinity" and "-Infinity". */
export interface StudyTable {
  /** names of the columns */
  columns: string[];
  /** cells of each row */
  rows: (string | number | boolean | null)[][];
}

/** A chart of the evidence of a finding, with a mark per row of the table. */
export interface EvidenceChart {
  /** kind of chart */
  form: "bars" | "dots" | "plane" | "badges";
  /** columns that name a row */
  label: string[];
  /** column of the bar, dot, cell or word */
  value: string;
  /** column of the lower end of the interval; empty: no interval */
  low: string;
  /** column of the upper end */
  high: string;
  /** column of the rows that stand out; empty: all */
  strong: string;
  /** whether values are shares */
  percent: boolean;
  /** explanation of the marks */
  says: string;
}

/** A finding of rs.findings: a sentence, its numbers, the table it is based on, and the view that shows it. */
export interface FindingData {
  /** rule that produced it */
  kind: string;
  /** heading */
  title: string;
  /** the finding in words */
  sentence: string;
  /** every number and name in the sentence */
  numbers: Record<string, string | number | boolean | null>;
  /** first rows of the table it is based on */
  evidence: StudyTable;
  /** number of rows of that table */
  rows: number;
  /** chart of the table */
  chart: EvidenceChart;
  /** the view that shows it */
  view: string;
  /** measure to select there */
  measure?: string;
  /** runs to select there */
  runs?: string[];
  /** topic to select there */
  topic?: string;
}

/** Groups of runs, such as teams. */
export interface RunGroups {
  /** in order of first occurrence */
  names: string[];
  /** runs: index of the name, null if the run has no group */
  of: (number | null)[];
}

/** Aspects that the rankings cover, and the rank from which on. */
export interface Coverage {
  /** topics x aspects: those to which some document is relevant */
  names: string[][];
  /** lists x aspects of their topic: rank of the first document relevant to the aspect, 0: none */
  first: Packed;
}

/** Means of the runs at other cutoffs, or from smaller pools. */
export interface Order {
  /** difference between the columns */
  across: "cutoffs" | "pools";
  /** measure of the page */
  measure: string;
  /** measure at a cutoff, or pool */
  columns: string[];
  /** columns x runs: the values of the topics as one number */
  means: Packed;
}

/** Slices of the topics by an attribute. */
export interface TopicSlices {
  /** attribute that divides the topics, as named by --by */
  attribute: string;
  /** names of the slices */
  names: string[];
  /** topics: index of the name, 65535 if the topic is in no slice */
  of: Packed;
}

/** First characters of texts of documents and topics. */
export interface TextExcerpts {
  /** by name, for documents that the report names */
  documents: Record<string, string>;
  /** by topic */
  queries: Record<string, string>;
}

/** A note about the data. */
export interface Note {
  /** subject */
  kind: string;
  /** importance */
  level: "note" | "warning";
  /** the sentence */
  text: string;
  /** cases */
  items?: string[];
}

/** Data of the report. */
export interface Payload {
  /** constant */
  format: "rankscope.page";
  /** of this description */
  version: number;
  /** the version that wrote it */
  rankscope: string;
  /** heading of the page */
  title: string;
  /** order; aspects (whether the judgments have any); missing (zero: an absent topic counts as an empty list, skip: left out of means); length (N of the effort measures); crossing; dcg */
  settings: Record<string, unknown>;
  /** for commands that make a figure again; absent for data in memory */
  source?: SourceFiles;
  /** hashes of runs, topics, judgments, rankings and settings, to compare two reports */
  fingerprint: Record<string, string>;
  /** names */
  runs: string[];
  /** names */
  topics: string[];
  /** whether there are no rankings: their arrays are empty, and views of them are left out */
  only_scores?: boolean;
  /** positive grades that occur in the judgments, highest first */
  grades: number[];
  /** the judgments */
  topic: Judgments;
  /** the lists */
  list: RankingArrays;
  /** absent if it is large, or with --no-documents */
  nonrelevant?: Nonrelevant;
  /** absent likewise */
  documents?: Documents;
  /** absent with more than 25,000 lists, with --no-documents, and in notebooks */
  top?: TopDocuments;
  /** the measures of every page, then the requested ones */
  measures: Measured[];
  /** the measure to begin with */
  lead: string;
  /** from the best to the worst */
  archetypes: Archetype[];
  /** lists: index of the archetype, 255 if effort is undefined */
  archetype: Packed;
  /** 1000 x topics: the bootstrap samples of rs.leaderboard; absent where large */
  samples?: Packed;
  /** by measure: whether each run is tied for first by rs.leaderboard (multiple comparisons with the best, 5 %); without measures that have no direction */
  tied_first: Record<string, boolean[]>;
  /** by measure (--bounds): bounds of the means over ties and labels */
  ranges?: Record<string, OpenRange>;
  /** findings, the most important first (rs.findings) */
  findings: FindingData[];
  /** groups of runs (--groups) */
  groups?: RunGroups;
  /** where the judgments have aspects */
  coverage?: Coverage;
  /** means of the runs at other cutoffs and from smaller pools; none for a single run, or where large */
  orders: Order[];
  /** 2000 x topics: random orders that test interactions with slices; absent where large */
  permutations?: Packed;
  /** slices of the topics (--by) */
  slices?: TopicSlices[];
  /** topics: weights (--weights) */
  weights?: Packed;
  /** texts of documents and topics (--texts) */
  texts?: TextExcerpts;
  /** notes about the data */
  warnings: Note[];
  /** the tables of rankscope study, by name */
  study?: Record<string, StudyTable>;
  /** the explorer serves this page and answers list/RUN/TOPIC with [[document, grade], ...] */
  server?: boolean;
}

// Written by web/make_types.py from src/rankscope/reporting/schema.py: change it there.

export const VERSION = 2;

/** Numbers: in a page base64 text, in the explorer's stream a place in it, or places in a table of few values. */
export type Packed = { dtype: "u8" | "u16" | "u32" | "i32" | "f32" | "f64"; base64: string } | { dtype: "u8" | "u16" | "u32" | "i32" | "f32" | "f64"; at: number; length: number } | { codes: Packed; table: Packed };

/** Where the collection came from, in the words of a command line. */
export interface Source {
  /** the judgments, as they were named */
  qrels: string;
  /** the runs, as they were named */
  runs: string[];
  /** how they were read */
  options: string[];
  /** runs: the file of each, null where it is not known */
  files: (string | null)[];
  /** the directory of the study, as it was named */
  study?: string;
  /** the groups of runs, as they were named */
  groups?: string;
}

/** The judgments of the topics. */
export interface Judgments {
  /** topics x grades: judged documents of each grade */
  counts: Packed;
  /** topics: judged documents of grade 0 or less */
  nonrelevant: Packed;
  /** topics: those of them below 0 */
  negative: Packed;
}

/** The lists: how long they are, and where their relevant documents stand. */
export interface Lists {
  /** lists: documents in the list, 0 where the run lacks the topic */
  retrieved: Packed;
  /** lists: judged documents in the first ten ranks */
  judged10: Packed;
  /** lists: relevant documents in the list */
  hits: Packed;
  /** hits: their ranks, ascending inside a list, list after list */
  rank: Packed;
  /** hits: their grades, as places in grades */
  grade: Packed;
}

/** Where judged documents stand that are not relevant. */
export interface Nonrelevant {
  /** lists: how many there are in the list */
  hits: Packed;
  /** entries: their ranks */
  rank: Packed;
  /** entries: 1 where the grade is below 0; absent if it never is */
  negative?: Packed;
}

/** The names of relevant documents. */
export interface Documents {
  /** topics x names: the relevant documents of each topic */
  names: string[][];
  /** hits: which of the names of its topic */
  hit: Packed;
}

/** A measure as the registry knows it, and what it says of every list and run. */
export interface Measured {
  /** as the grammar writes it */
  name: string;
  /** what it measures, in a line */
  meaning: string;
  /** given: asked for, and not on every page */
  kind: "gain" | "effort" | "data" | "given";
  /** how the values of topics become one number */
  summary: "mean" | "geometric mean" | "sum";
  /** which values speak for the better list */
  better: "higher" | "lower" | "neither";
  /** the lowest value it can have; null: none */
  low: number | null;
  /** the highest value it can have; null: none */
  high: number | null;
  /** the page's own formula for it, used where settings or lists are changed */
  formula?: string;
  /** lists: the values, NaN where undefined */
  values: Packed;
  /** runs: the values of the topics as one number */
  means: Packed;
  /** runs: lower end of the 95% interval of that number, Student's */
  mean_low: Packed;
  /** runs: its upper end */
  mean_high: Packed;
}

/** A shape of CRP curves. */
export interface Archetype {
  /** the archetype */
  name: string;
  /** what makes a list one of it */
  meaning: string;
}

/** What ties and unjudged documents leave open of the means of a measure. */
export interface OpenRange {
  /** runs: the mean in the worst order of tied documents */
  worst: Packed;
  /** runs: in the best order */
  best: Packed;
  /** whether all orders were looked at */
  exact: boolean;
  /** runs: the lowest mean over all labels of unjudged documents */
  lowest: Packed;
  /** runs: the highest one */
  highest: Packed;
  /** runs: whether both are reached */
  tight: boolean[];
}

/** A table of a study; undefined numbers are null, infinite ones the texts "Infinity" and "-Infinity". */
export interface StudyTable {
  /** their names */
  columns: string[];
  /** their cells */
  rows: (string | number | boolean | null)[][];
}

/** How the evidence of a finding is drawn, a row of the chart per row of the table. */
export interface EvidenceChart {
  /** what kind of chart */
  form: "bars" | "dots" | "plane" | "badges";
  /** the columns that name a row */
  label: string[];
  /** the column of the bar, dot, cell or word */
  value: string;
  /** the column where its interval begins; empty: none */
  low: string;
  /** and where it ends */
  high: string;
  /** the column that says which rows stand out; empty: all */
  strong: string;
  /** whether values are shares */
  percent: boolean;
  /** what its marks are */
  says: string;
}

/** A finding of rs.findings: a sentence, its numbers, the table it rests on, and the view that shows it. */
export interface Found {
  /** the rule that found it */
  kind: string;
  /** the question it answers */
  title: string;
  /** the answer */
  sentence: string;
  /** every number and name in the sentence */
  numbers: Record<string, string | number | boolean | null>;
  /** the first rows of the table it rests on */
  evidence: StudyTable;
  /** how many rows that table has */
  rows: number;
  /** how it is drawn */
  chart: EvidenceChart;
  /** the view that shows it */
  view: string;
  /** the measure to choose there */
  measure?: string;
  /** the runs to choose there */
  runs?: string[];
  /** the topic to choose there */
  topic?: string;
}

/** Groups of runs, such as teams. */
export interface Groups {
  /** as they first occur */
  names: string[];
  /** runs: place among the names, null where the run has no group */
  of: (number | null)[];
}

/** Which aspects of their topics the lists cover, from which rank on. */
export interface Coverage {
  /** topics x aspects: those to which some document is relevant */
  names: string[][];
  /** lists x aspects of their topic: rank of the first document relevant to the aspect, 0: none */
  first: Packed;
}

/** The means of the runs where something else is asked. */
export interface Order {
  /** what differs between the columns */
  across: "cutoffs" | "pools";
  /** the measure of the page that they are columns for */
  measure: string;
  /** what is asked: the measure at a cutoff, or the pool it is computed from */
  columns: string[];
  /** columns x runs: the values of the topics as one number */
  means: Packed;
}

/** What documents and topics say, cut. */
export interface Texts {
  /** by name, for documents that the page names */
  documents: Record<string, string>;
  /** by topic */
  queries: Record<string, string>;
}

/** What to know about the data. */
export interface Note {
  /** what it is about */
  kind: string;
  /** how much it matters */
  level: "note" | "warning";
  /** the sentence */
  text: string;
  /** the cases */
  items?: string[];
}

/** The data of the page. */
export interface Payload {
  /** anything else is refused */
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
  source?: Source;
  /** names */
  runs: string[];
  /** names */
  topics: string[];
  /** positive grades that occur in the judgments, highest first */
  grades: number[];
  /** the judgments */
  topic: Judgments;
  /** the lists */
  list: Lists;
  /** absent where it is large, or a lean page was asked for */
  nonrelevant?: Nonrelevant;
  /** absent likewise */
  documents?: Documents;
  /** those of every page, then those that were asked for */
  measures: Measured[];
  /** the measure to begin with */
  lead: string;
  /** from the best to the worst */
  archetypes: Archetype[];
  /** lists: place among the archetypes, 255 where effort is undefined */
  archetype: Packed;
  /** 1000 x topics: the bootstrap samples of rs.leaderboard; absent where large */
  samples?: Packed;
  /** by measure, of every run whether it is tied for first, as rs.leaderboard says (multiple comparisons with the best, 5 %); without measures of which no value is better */
  tied_first: Record<string, boolean[]>;
  /** by measure (--ranges): what ties and labels leave open of the means */
  ranges?: Record<string, OpenRange>;
  /** what matters, the most important first (rs.findings) */
  findings: Found[];
  /** groups of runs (--groups) */
  groups?: Groups;
  /** where the judgments have aspects */
  coverage?: Coverage;
  /** means of the runs at other cutoffs and from smaller pools; none for a single run, or where large */
  orders: Order[];
  /** texts of documents and topics (--texts) */
  texts?: Texts;
  /** what to know about the data */
  warnings: Note[];
  /** the tables of rankscope study, by name */
  study?: Record<string, StudyTable>;
  /** the explorer serves this page and answers list/RUN/TOPIC with [[document, grade], ...] */
  server?: boolean;
}

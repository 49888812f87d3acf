// Editing one list, and what an edit ought to do to a measure that respects swap and replacement; labels of unjudged documents.

import { Topic, type Label, type List } from "./list";

/** One rank of the list: grade index (-1: not relevant), and whether the document is judged. */
export interface Item {
  grade: number;
  judged: boolean;
  name: string;
  changed: boolean;
}

export type Edit = { kind: "move"; from: number; to: number } | { kind: "replace"; rank: number; grade: number };

/** Requirement of the axioms: the score must not fall (1), must not rise (-1), must stay equal (0), or null: no requirement. */
export type Direction = 1 | -1 | 0 | null;

/** "m5-2 r7=1": the document at rank 5 goes to rank 2, the one at rank 7 becomes one of grade 1. */
export function parseEdits(text: string, size: number): Edit[] {
  const edits: Edit[] = [];
  for (const part of text.split(" ")) {
    const move = /^m(\d+)-(\d+)$/.exec(part);
    const replace = /^r(\d+)=(\d+)$/.exec(part);
    if (move && within(+move[1], size) && within(+move[2], size))
      edits.push({ kind: "move", from: +move[1], to: +move[2] });
    else if (replace && within(+replace[1], size))
      edits.push({ kind: "replace", rank: +replace[1], grade: +replace[2] });
  }
  return edits;
}

const within = (rank: number, size: number): boolean => rank >= 1 && rank <= size;

export const printEdit = (e: Edit): string => (e.kind === "move" ? `m${e.from}-${e.to}` : `r${e.rank}=${e.grade}`);

/** The list after an edit; `grades` are the grades of the collection, highest first. */
export function apply(items: readonly Item[], edit: Edit, grades: readonly number[]): Item[] {
  const next = [...items];
  if (edit.kind === "move") {
    const [item] = next.splice(edit.from - 1, 1);
    next.splice(edit.to - 1, 0, { ...item, changed: true });
  } else {
    const grade = grades.indexOf(edit.grade);
    next[edit.rank - 1] = { grade, judged: true, name: "", changed: true };
  }
  return next;
}

/** Whether there is a document for an edit: of the grade that is wanted, one must be outside the list, or in its place. */
export function possible(items: readonly Item[], edit: Edit, topic: Topic): boolean {
  if (edit.kind === "move" || edit.grade === 0) return true;
  const grade = topic.grades.indexOf(edit.grade);
  const used = items.filter((item, k) => item.grade === grade && k !== edit.rank - 1).length;
  return grade >= 0 && used < topic.counts[grade];
}

/**
 * The order that swap and replacement generate: one list is at least as good as another if every prefix holds at
 * least as many documents of every grade or better.
 */
export function compare(before: readonly Item[], after: readonly Item[], levels: number): Direction {
  let up = false;
  let down = false;
  const lead = new Int32Array(levels);
  for (let j = 0; j < Math.max(before.length, after.length); j++) {
    const a = before[j]?.grade ?? -1;
    const b = after[j]?.grade ?? -1;
    for (let g = 0; g < levels; g++) {
      lead[g] += (b >= 0 && b <= g ? 1 : 0) - (a >= 0 && a <= g ? 1 : 0);
      if (lead[g] > 0) up = true;
      if (lead[g] < 0) down = true;
    }
  }
  return up && down ? null : up ? 1 : down ? -1 : 0;
}

/** Does a change of the score go against the direction? */
export function breaks(direction: Direction, change: number): boolean {
  if (direction === null || Number.isNaN(change)) return false;
  if (direction === 0) return Math.abs(change) > 1e-12;
  return direction * change < -1e-12;
}

export function asList(items: readonly Item[], topic: Topic, judgments: boolean): List {
  const rank: number[] = [];
  const grade: number[] = [];
  const below: number[] = [];
  items.forEach((item, i) => {
    if (item.grade >= 0) {
      rank.push(i + 1);
      grade.push(item.grade);
    } else if (item.judged) below.push(i + 1);
  });
  return {
    topic,
    rank: Uint32Array.from(rank),
    grade: Uint8Array.from(grade),
    from: 0,
    to: rank.length,
    retrieved: items.length,
    judged10: NaN,
    below: judgments ? { rank: Uint32Array.from(below), from: 0, to: below.length } : undefined,
  };
}

/** The judgments of a topic with labels; `gains` replace the grades in DCG. */
export function relabelled(topic: Topic, labels: readonly Label[], gains: readonly number[]): Topic {
  const counts = Int32Array.from(topic.counts);
  let { nonrelevant } = topic;
  for (const { grade } of labels) {
    const g = topic.grades.indexOf(grade);
    if (g >= 0) counts[g]++;
    else nonrelevant++;
  }
  return new Topic(gains, counts, nonrelevant, topic.negative);
}

/** A list under other judgments, in which documents at some ranks have labels; `grades` are those of the collection. */
export function withLabels(list: List, topic: Topic, labels: readonly { rank: number; grade: number }[], grades: readonly number[]): List {
  if (labels.length === 0) return { ...list, topic };
  const hits = [
    ...Array.from(list.rank.subarray(list.from, list.to), (rank, k) => ({ rank, g: list.grade[list.from + k] })),
    ...labels.flatMap(({ rank, grade }) => (grade > 0 ? [{ rank, g: grades.indexOf(grade) }] : [])),
  ].sort((a, b) => a.rank - b.rank);
  const { below } = list;
  const others = below && [
    ...Array.from(below.rank.subarray(below.from, below.to), (rank, k) => ({ rank, negative: below.negative?.[below.from + k] ?? 0 })),
    ...labels.flatMap(({ rank, grade }) => (grade > 0 ? [] : [{ rank, negative: 0 }])),
  ].sort((a, b) => a.rank - b.rank);
  return {
    topic,
    rank: Uint32Array.from(hits, (one) => one.rank),
    grade: Uint16Array.from(hits, (one) => one.g),
    from: 0,
    to: hits.length,
    retrieved: list.retrieved,
    judged10: list.judged10 + labels.filter(({ rank }) => rank <= 10).length,
    below: others && {
      rank: Uint32Array.from(others, (one) => one.rank),
      negative: Uint8Array.from(others, (one) => one.negative),
      from: 0,
      to: others.length,
    },
  };
}

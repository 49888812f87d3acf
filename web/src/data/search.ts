// A document, looked for in every topic and every run.

import type { Collection } from "./collection";

/** A document in the lists of a topic: its grade, where it is known, and its rank in each run that has it. */
export interface Place {
  name: string;
  topic: number;
  grade: number | null;
  /** Run and rank, the highest in its list first. */
  ranks: [run: number, rank: number][];
}

/** Relevant documents with some letters in their names, the very name first; all of them are counted, the first are placed. */
export function find(
  d: Collection,
  letters: string,
  keeps: { run: (r: number) => boolean; topic: (t: number) => boolean },
  limit: number,
): { places: Place[]; total: number } {
  const wanted = letters.trim().toLowerCase();
  if (!wanted) return { places: [], total: 0 };
  const found: Place[] = [];
  for (let topic = 0; topic < d.topics.length; topic++) {
    if (!keeps.topic(topic)) continue;
    for (const name of d.relevant(topic))
      if (name.toLowerCase().includes(wanted)) found.push({ name, topic, grade: null, ranks: [] });
  }
  const exact = (place: Place): boolean => place.name.toLowerCase() === wanted;
  const places = [...found.filter(exact), ...found.filter((place) => !exact(place))].slice(0, limit);
  for (const topic of new Set(places.map((place) => place.topic))) {
    const here = new Map(places.filter((place) => place.topic === topic).map((place) => [place.name, place]));
    for (let run = 0; run < d.runs.length; run++) {
      if (!keeps.run(run)) continue;
      const i = d.index(run, topic);
      const list = d.list(i);
      for (let h = list.from; h < list.to; h++) {
        const place = here.get(d.document(i, h) ?? "");
        if (!place) continue;
        place.grade = d.grades[list.grade[h]];
        place.ranks.push([run, list.rank[h]]);
      }
    }
  }
  for (const place of places) byRank(place);
  return { places, total: found.length };
}

function byRank(place: Place): void {
  place.ranks.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
}

/**
 * A document by its very name in whole lists, which the explorer's server reads, one run after the other. Calls back
 * after every run with what was found so far; ends early when that answers false.
 */
export async function findEverywhere(
  d: Collection,
  name: string,
  progress: (places: Place[], runs: number) => boolean,
): Promise<void> {
  const places = new Map<number, Place>();
  for (let run = 0; run < d.runs.length; run++) {
    const answer = await fetch(`find/${run}?document=${encodeURIComponent(name)}`);
    if (!answer.ok) throw new Error(String(answer.status));
    for (const [topic, rank, grade] of (await answer.json()) as [number, number, number | null][]) {
      const place = places.get(topic) ?? { name, topic, grade, ranks: [] };
      place.ranks.push([run, rank]);
      places.set(topic, place);
    }
    const sorted = Array.from(places.values()).sort((a, b) => a.topic - b.topic);
    sorted.forEach(byRank);
    if (!progress(sorted, run + 1)) return;
  }
}

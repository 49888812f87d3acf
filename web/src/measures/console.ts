// Values of all measures for one list given by hand, for the console and for tests against Python.

import { FORMULAS } from "./catalogue";
import { curve } from "./curve";
import { effort } from "./effort";
import { DEFAULTS, listOf, Topic, type Settings } from "./list";

export interface Described {
  values: Record<string, number>;
  rp: number[];
  crp: number[];
  effort: unknown;
}

/** `grades` at ranks 1, 2, ...; `counts` maps each grade to the number of documents judged so. */
export function measureAll(
  grades: number[],
  counts: Record<string, number>,
  settings: Partial<Settings> = {},
): Described {
  const s = { ...DEFAULTS, ...settings };
  const levels = Object.keys(counts)
    .map(Number)
    .filter((g) => g > 0 && counts[g] > 0)
    .sort((a, b) => b - a);
  const topic = new Topic(
    levels,
    Int32Array.from(levels, (g) => counts[g]),
    counts[0] ?? 0,
  );
  const list = listOf(
    grades.map((g) => levels.indexOf(g)),
    topic,
  );
  const lines = curve(list, s);
  return {
    values: Object.fromEntries(Array.from(FORMULAS.values(), (m) => [m.name, m.of(list, s)])),
    rp: Array.from(lines.rp),
    crp: Array.from(lines.crp),
    effort: effort(list, s.length, s.crossing),
  };
}

// A list of each archetype, to draw its curve: twelve ranks, three documents of grade 2 and three of grade 1.

import { curve } from "./curve";
import { listOf, Topic, DEFAULTS } from "./list";

export const EXAMPLES: Readonly<Record<string, string>> = {
  ideal: "222111000000",
  "excellent A": "121122000000",
  "excellent B": "110122200000",
  "ups-and-downs": "211220000100",
  "typical A": "201020101200",
  "typical B": "222011010000",
  "full scale": "000000111222",
  worst: "000000000000",
};

/** CRP of the example at every rank. */
export function exampleCurve(name: string): Int32Array {
  const grades = Array.from(EXAMPLES[name] ?? "", (g) => ({ "2": 0, "1": 1 })[g] ?? -1);
  const list = listOf(grades, new Topic([2, 1], Int32Array.from([3, 3]), 0));
  return curve(list, { ...DEFAULTS, length: 12 }).crp;
}

// Classes of lists that the plane can be coloured or split by.

import type { State } from "../state.svelte";
import { quantile } from "../stats/statistics";
import { QUARTERS, SHAPES } from "../ui/canvas";
import { count } from "../ui/format";

export interface Classes {
  /** Class of each list, or NONE. */
  of: Uint16Array;
  names: string[];
  colours: string[];
  /** Action when a class is selected, if any. */
  choose?: (k: number) => void;
  chosen?: (k: number) => boolean;
}

export const NONE = 65535;

/** For up to eight classes without an order; a ninth and later ones are grey. */
const OTHERS = "#8a8f94";

function distinct(s: State, k: number): string {
  return k < 8 ? s.palette[`run-${k}` as keyof State["palette"]] : OTHERS;
}

export function archetypes(s: State): Classes {
  const kinds = s.data.archetypes(s.settings);
  return {
    of: Uint16Array.from(kinds, (k) => (k === 255 ? NONE : k)),
    names: s.data.archetypeMeanings.map((a) => a.name),
    colours: SHAPES.map((name) => s.palette[name]),
  };
}

/** Quarters of the topics by their recall base. */
export function recallBases(s: State): Classes {
  const d = s.data;
  const bases = d.judgments.map((t) => t.recallBase);
  const borders = [0.25, 0.5, 0.75].map((q) => quantile(bases, q));
  const quarter = bases.map((b) => borders.filter((q) => b > q).length);
  const ends = [...borders, Math.max(0, ...bases)];
  return {
    of: Uint16Array.from({ length: d.size }, (_, i) => (bases[d.topicOf(i)] > 0 ? quarter[d.topicOf(i)] : NONE)),
    names: ends.map((end) => `up to ${count(Math.floor(end))} relevant`),
    colours: QUARTERS.map((name) => s.palette[name]),
  };
}

export function groups(s: State): Classes {
  const d = s.data;
  const names = [...d.groups!.names];
  const bare = d.groups!.of.includes(null);
  if (bare) names.push("no group");
  return {
    of: Uint16Array.from({ length: d.size }, (_, i) => d.groupOf(d.runOf(i)) ?? names.length - 1),
    names,
    colours: names.map((_, k) => (bare && k === names.length - 1 ? OTHERS : distinct(s, k))),
    choose: (k) => (s.group = s.group === k || k >= d.groups!.names.length ? null : k),
    chosen: (k) => s.group === k,
  };
}

/** Every topic, the hardest by its median gain first. */
export function topics(s: State, gain: Float64Array): Classes {
  const d = s.data;
  const medians = d.topics.map((_, t) =>
    quantile(
      d.runs.map((_, r) => gain[d.index(r, t)]),
      0.5,
    ),
  );
  const order = d.bestFirst(s.measure, medians).reverse();
  const place = new Map(order.map((t, k) => [t, k]));
  return {
    of: Uint16Array.from({ length: d.size }, (_, i) => place.get(d.topicOf(i))!),
    names: order.map((t) => d.topics[t]),
    colours: order.map((_, k) => distinct(s, order.length <= 8 ? k : 8)),
    choose: (k) => (s.topic = order[k]),
    chosen: (k) => s.topic === order[k],
  };
}

/** In colour there is no room for many topics: then the chosen one stands out from the others. */
export function topicColours(s: State, gain: Float64Array): Classes {
  const d = s.data;
  if (d.topics.length <= 8) return topics(s, gain);
  return {
    of: Uint16Array.from({ length: d.size }, (_, i) => (d.topicOf(i) === s.topic ? 1 : 0)),
    names: ["other topics", `topic ${d.topics[s.topic]}`],
    colours: [OTHERS, s.palette.early],
  };
}

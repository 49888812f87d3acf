// The commands that make a figure of the page again, and its data.

import { printEdit, type Edit } from "../measures/whatif";
import type { State } from "../state.svelte";

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** A command about the collection of the page; for some of its runs if their files are known. */
export function command(s: State, name: string, words: readonly string[], ...only: number[]): string {
  const source = s.data.source;
  const files = only.map((run) => source?.files[run]).filter((file): file is string => Boolean(file));
  const runs = files.length > 0 && files.length === only.length ? files : (source?.runs ?? ["RUNS"]);
  const weighted = ["eval", "compare", "findings", "report"].includes(name);
  const all = source?.options ?? [];
  // options and their values; other commands have no attributes and weights of topics
  const options = all.filter((_, k) => weighted || !["--topic-data", "--weights"].includes(all[k - (k % 2)]));
  return ["rankscope", name, source?.qrels ?? "QRELS", ...runs, ...options, ...words].map(quoted).join(" ");
}

/** A text without the local directories of the collection: paths below their common directory, otherwise names of files. */
export function portable(s: State, text: string): string {
  const source = s.data.source;
  const named = [source?.qrels, ...(source?.runs ?? []), ...(source?.files ?? []), source?.study, source?.groups];
  const parents = named.flatMap((name) => (name && ABSOLUTE.test(name) ? [name.slice(0, Math.max(...[..."/\\"].map((c) => name.lastIndexOf(c))) + 1)] : []));
  const common = parents.reduce((a, b) => {
    let k = 0;
    while (k < Math.min(a.length, b.length) && a[k] === b[k]) k++;
    return a.slice(0, k).replace(/[^/\\]*$/, "");
  }, parents[0] ?? "");
  const below = common.length > 1 ? text.replaceAll(common, "") : text;
  return below.replace(/(^|[\s'"=])(?:~|[A-Za-z]:)?[/\\](?:[^\s'"/\\]+[/\\])*(?=[^\s'"/\\])/g, "$1");
}
const ABSOLUTE = /^(?:~|[A-Za-z]:)?[/\\]/;

/** The address of the page as it is now, with the fingerprint of its data; of a file only its name. */
export function link(s: State): string {
  const { protocol, hostname, pathname } = location;
  const local = protocol !== "https:" && (protocol !== "http:" || /^(localhost|127\.|\[::1\])/.test(hostname));
  const page = local ? decodeURIComponent(pathname.split("/").pop() ?? "") : location.href.split("#")[0];
  return `${page}#${s.toFragment()}`;
}

/** The option that restricts a command to the slice of topics that the views use. */
export function sliceOptions(s: State): string[] {
  const topics = s.settings.subset?.topics.map((t) => s.data.topics[t]);
  return topics ? ["--topics", topics.join(",")] : [];
}

/** The runs of the group that the views show, for commands about some runs; none without a group. */
export function groupRuns(s: State): number[] {
  return s.group === null ? [] : Array.from(s.data.runs.keys()).filter((r) => s.data.groupOf(r) === s.group);
}

/** Options that draw the chosen runs, and the baseline, in colour. */
export function highlights(s: State): string[] {
  const chosen = new Set([...s.runs, ...(s.baseline === null ? [] : [s.baseline])]);
  return Array.from(chosen).flatMap((run) => ["--highlight", s.data.runs[run]]);
}

/** Options that colour the plane by a class of lists, or split it; none for groups that no command line named. */
export function classOptions(s: State, option: "--colour" | "--facet", kind: string): string[] | null {
  if (kind !== "group") return [option, kind.replace(" ", "-")];
  const groups = s.data.source?.groups;
  return s.data.source && groups === undefined ? null : [option, kind, "--groups", groups ?? "GROUPS"];
}

/** Options for N and crossing, where they are not the usual ones. */
export function effortOptions(s: State): string[] {
  return [
    ...(s.settings.length === 1000 ? [] : ["--cutoff", String(s.settings.length)]),
    ...(s.settings.crossing === "sign-change" ? [] : ["--crossing", s.settings.crossing]),
  ];
}

/** The command that makes the curve of one run on the chosen topic again, with DCG as it is set here. */
export function curveCommand(s: State, run: number): string {
  const top = Math.max(1, ...s.data.grades);
  const gains = Array.from({ length: top + 1 }, (_, g) => 5 * g).join(",");
  const dcg = s.settings.dcg === "trec_eval" ? [] : ["--gains", gains, "--discount", "jk", "--base", "10"];
  const asked = ["--topic", s.data.topics[s.topic], "--cutoff", String(s.settings.length), ...dcg];
  const drawn = ["--figure", "dcg", "--axis", s.logRanks ? "log" : "linear", "--plot", "curve.pdf"];
  return command(s, "curve", [...asked, "-f", "csv", "-o", "curve.csv", ...drawn], run);
}

/** Options of the curve of an edited list. */
function editing(edits: readonly Edit[], length: number, axis: string): string[] {
  const changed = edits.length > 0 ? ["--edits", edits.map(printEdit).join(" ")] : [];
  return ["--cutoff", String(length), ...changed, "-f", "csv", "-o", "curve.csv", "--axis", axis, "--plot", "curve.pdf"];
}

/** The command that makes the curve of an edited list again, with the curve before the edits. */
export function editedCommand(s: State, run: number, edits: readonly Edit[]): string {
  return command(s, "curve", ["--topic", s.data.topics[s.topic], ...editing(edits, s.settings.length, "linear")], run);
}

/** The same for a list that no run has: the judgments and the run are written first. */
export function exampleCommands(
  grades: readonly number[],
  relevant: number,
  length: number,
  edits: readonly Edit[],
): string[] {
  const judged = Array.from({ length: relevant }, (_, k) => `example 0 relevant-${k + 1} 1\\n`).join("");
  let found = 0;
  const lines = grades.map((g, k) => {
    const name = g > 0 ? `relevant-${++found}` : `other-${k + 1}`;
    return `example Q0 ${name} ${k + 1} ${grades.length - k} example\\n`;
  });
  return [
    `printf '${judged}' > example-qrels.txt`,
    `printf '${lines.join("")}' > example-run.txt`,
    ["rankscope", "curve", "example-qrels.txt", "example-run.txt", "--topic", "example", ...editing(edits, length, "linear")]
      .map(quoted)
      .join(" "),
  ];
}

/** The commands that compute the means under the changes of what-if: the judgments are written first. */
export function changedCommands(s: State): string[] {
  const { data: d, excluded, labels } = s;
  const qrels = quoted(d.source?.qrels ?? "QRELS");
  const lines = labels.filter(({ topic }) => !excluded.includes(topic)).map(({ topic, name, grade }) => `${d.topics[topic]} 0 ${name} ${grade}\n`);
  const left = excluded.map((t) => `$1 != "${d.topics[t].replace(/["\\]/g, "\\$&")}"`).join(" && ");
  const kept = left ? `awk ${quoted(left)} ${qrels}` : `cat ${qrels}`;
  const added = lines.length > 0 ? `; printf '%b' ${quoted(lines.join("").replaceAll("\n", "\\n"))}` : "";
  const files = [...(d.source?.runs ?? ["RUNS"]), ...(d.source?.options ?? [])];
  const words = ["rankscope", "eval", "whatif-qrels.txt", ...files, "-m", named(s, s.measure), "--ci", ...sliceOptions(s)].map(quoted);
  return [...(left || added ? [`{ ${kept}${added}; } > whatif-qrels.txt`] : [`cp ${qrels} whatif-qrels.txt`]), words.join(" ")];
}

/** Gains of the grades from 0 to the highest; a grade that does not occur has the gain of the next lower one. */
function gainList(grades: readonly number[], gains: readonly number[]): string {
  const found = [0];
  for (let g = 1; g <= Math.max(1, ...grades); g++) found.push(grades.includes(g) ? gains[grades.indexOf(g)] : found[g - 1]);
  return found.join(",");
}

/** The measure as a command has to name it: with the settings that were changed here. */
export function named(s: State, measure: string): string {
  const { settings, data } = s;
  const own = data.measure(measure)?.formula?.name ?? "";
  if (s.view === "whatif" && s.gains && own.startsWith("nDCG") && settings.dcg === "trec_eval") {
    return `nDCG(gains='${gainList(data.grades, s.gains)}')${own === "nDCG@10" ? "@10" : ""}`;
  }
  if (!data.recomputed(measure, settings)) return measure;
  const formula = data.measure(measure)!.formula!.name;
  if (formula.startsWith("nDCG")) {
    const top = Math.max(1, ...data.grades);
    const gains = Array.from({ length: top + 1 }, (_, g) => 5 * g).join(",");
    const depth = formula === "nDCG@10" ? 10 : settings.length;
    return `nDCG(gains='${gains}',discount='jk',base=10)@${depth}`;
  }
  const crossing =
    settings.crossing !== "sign-change" && ["Twist", "Rho"].includes(formula) ? `(crossing='${settings.crossing}')` : "";
  return `${formula}${crossing}${settings.length === 1000 ? "" : `@${settings.length}`}`;
}

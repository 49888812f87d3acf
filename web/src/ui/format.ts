// Formats of numbers, the same everywhere on the page.

/** A score with four decimals; a dash where it is undefined. */
export function score(x: number, digits = 4): string {
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  return x.toFixed(digits).replace("-", "−");
}

/** A p value; the smallest ones as a bound. */
export const pValue = (p: number): string => (p < 0.0001 ? "< .0001" : score(p));

/** A difference with its sign; one that would round to zero without being zero shows its size. */
export function signed(x: number, digits = 4): string {
  if (Number.isNaN(x)) return "–";
  const size = Math.abs(x);
  if (size < 5e-13) return score(0, digits);
  const text = Number(size.toFixed(digits)) === 0 ? power(size) : score(size, digits);
  return (x > 0 ? "+" : "−") + text;
}

/** A very small number in one digit and a power of ten: 3·10⁻⁵. */
function power(size: number): string {
  const [digit, exponent] = size.toExponential(0).split("e-");
  const raised = Array.from(exponent ?? "0", (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]).join("");
  return `${digit}·10⁻${raised}`;
}

/** "1st", "2nd", "11th". */
export function ordinal(n: number): string {
  const ending = n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${count(n)}${ending}`;
}

/** "1 run", "2 runs". */
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** A number of an axis, with a minus sign instead of a hyphen. */
export const axisNumber = (t: number): string => String(t).replace("-", "−");

const COUNTS = new Intl.NumberFormat("en-US");

export const count = (n: number): string => (Number.isFinite(n) ? COUNTS.format(n).replace("-", "−") : "∞");

/** A share; one that rounds to zero has no sign. */
export const percent = (share: number, digits = 1): string =>
  Number.isNaN(share) ? "–" : `${score(Number((100 * share).toFixed(digits)) || 0, digits)}%`;

/** Distance of a document from its place in the ideal ranking, in words. */
export function misplaced(rp: number): string {
  if (rp === 0) return "in place";
  return rp < 0 ? `${count(-rp)} too early` : `${count(rp)} too late`;
}

/**
 * Names shortened to a maximum number of letters, in the middle. Names that would be equal are shortened just before the
 * first letter in which they differ, all of them at the same position.
 */
export function shortened(names: readonly string[], letters: number): string[] {
  const all = names.map((name) => Array.from(name));
  const tail = Math.floor((letters - 1) / 2);
  const result = all.map((n) =>
    n.length <= letters ? n.join("") : `${n.slice(0, letters - 1 - tail).join("")}…${n.slice(-tail).join("")}`,
  );
  const elide = (group: readonly number[]): void => {
    const [first, ...others] = group.map((k) => all[k]);
    let same = 0;
    while (same < first.length && others.every((n) => n[same] === first[same])) same++;
    for (const k of group) {
      const rest = all[k].slice(same);
      const head = Math.max(2, letters - 1 - rest.length);
      result[k] = `${all[k].slice(0, head).join("")}…${elideEnd(rest, letters - 1 - head)}`;
    }
  };
  const alike = (): number[][] => {
    const by = new Map<string, number[]>();
    result.forEach((name, k) => by.set(name, [...(by.get(name) ?? []), k]));
    return [...by.values()].filter((group) => group.length > 1 && all[group[0]].length > 0);
  };
  /** The group of each name; groups that still have a name in common become one. */
  const groups = new Map<number, readonly number[]>();
  for (let equal = alike(); equal.length > 0; equal = alike()) {
    const before = groups.size;
    let joined = false;
    for (const members of equal) {
      const group = [...new Set(members.flatMap((k) => groups.get(k) ?? [k]))];
      joined ||= members.some((k) => groups.get(k)?.length !== group.length);
      for (const k of group) groups.set(k, group);
    }
    if (!joined && groups.size === before) break;
    for (const group of new Set(groups.values())) elide(group);
  }
  // The shortened names are still equal: keep the part that differs, or else append a number.
  for (const group of alike()) elide(group);
  for (const group of alike()) group.forEach((k, at) => (result[k] = `${all[k].slice(0, letters - 5).join("")}…#${at + 1}`));
  return result;
}

const elideEnd = (n: string[], letters: number): string => (n.length <= letters ? n.join("") : `${n.slice(0, letters - 1).join("")}…`);

/** CSV that a spreadsheet reads as data: a leading =, +, -, @ in a name must not become a formula. */
export function csv(rows: readonly (readonly (string | number)[])[]): string {
  const field = (v: string | number): string => {
    if (typeof v === "number") return Number.isNaN(v) ? "" : String(v);
    const safe = /^[=+\-@\t\r]/.test(v) ? `'${v}` : v;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

/** A table for a paper: booktabs, names escaped, numbers with four decimals at most. */
export function latex(
  rows: readonly (readonly (string | number)[])[],
  caption: string,
  commands: readonly string[],
): string {
  const escaped = (text: string): string =>
    Array.from(text, (c) => TEX[c] ?? (/\p{Cc}/u.test(c) ? " " : c)).join("");
  const cell = (v: string | number): string => {
    if (typeof v === "string") return escaped(v);
    if (Number.isNaN(v)) return "--";
    if (!Number.isFinite(v)) return v > 0 ? "$\\infty$" : "$-\\infty$";
    return Number.isInteger(v) ? String(v) : v.toFixed(4);
  };
  const [head, ...body] = rows;
  const kinds = head.map((_, k) => (body.length > 0 && body.every((row) => typeof row[k] === "number") ? "r" : "l"));
  const line = (row: readonly (string | number)[]): string => `  ${row.map(cell).join(" & ")} \\\\`;
  return [
    ...commands.map((c) => `% ${c.replace(/[\r\n]/g, " ")}`),
    "\\begin{table}",
    `\\caption{${escaped(caption)}}`,
    "\\centering",
    `\\begin{tabular}{${kinds.join("")}}`,
    "  \\toprule",
    line(head),
    "  \\midrule",
    ...body.map(line),
    "  \\bottomrule",
    "\\end{tabular}",
    "\\end{table}",
    "",
  ].join("\n");
}

const TEX: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "{": "\\{",
  "}": "\\}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  "%": "\\%",
  _: "\\_",
  "^": "\\textasciicircum{}",
  "~": "\\textasciitilde{}",
};

export function download(name: string, type: string, content: string | Blob): void {
  const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

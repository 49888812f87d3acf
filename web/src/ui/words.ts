// Words of a topic in the text of a document, to highlight them.

/** Words that nearly every text contains. */
const COMMON = new Set(
  ("a about after all also an and any are as at be been between but by can did do does for from had has have how if in into is it " +
    "its may more most no not of on or our should so some such than that the their there these they this those to was were what " +
    "when where which who why will with would you your").split(" "),
);

/** The beginning that inflected forms of a word share: "effects", "effected" and "effect" are one. */
function stem(word: string): string {
  const lower = word.toLowerCase();
  const cut = lower.replace(/(?:ies|ing|ed|es|s|e|y)$/, "");
  return cut.length >= 3 ? cut : lower;
}

/** Stems of the words of a query, without very common words. */
export function queryStems(query: string): Set<string> {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word.toLowerCase())).map(stem));
}

/** A text in parts, those that are words of the query marked. */
export function marked(text: string, stems: ReadonlySet<string>): { text: string; hit: boolean }[] {
  const parts: { text: string; hit: boolean }[] = [];
  for (const part of text.split(/([\p{L}\p{N}]+)/u)) {
    if (!part) continue;
    const hit = stems.has(stem(part)) && /[\p{L}\p{N}]/u.test(part);
    const last = parts[parts.length - 1];
    if (last && !last.hit && !hit) last.text += part;
    else parts.push({ text: part, hit });
  }
  return parts;
}

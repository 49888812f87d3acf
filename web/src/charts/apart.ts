// Places names at the ends of lines without overlap.

const LINE = 14;

/** Heights of names pushed apart until none covers another, then back from the bottom edge. */
export function apart<Label extends { y: number }>(labels: readonly Label[], bottom: number): Label[] {
  const found = labels.map((label) => ({ ...label })).sort((a, b) => a.y - b.y);
  for (let i = 1; i < found.length; i++) found[i].y = Math.max(found[i].y, found[i - 1].y + LINE);
  for (let i = found.length - 1, floor = bottom; i >= 0; i--, floor = found[i + 1].y - LINE)
    found[i].y = Math.min(found[i].y, floor);
  return found;
}

/** The first letters of a name. */
export function clipped(name: string, letters: number): string {
  const all = Array.from(name);
  return all.length > letters ? `${all.slice(0, Math.floor(letters) - 1).join("")}…` : name;
}

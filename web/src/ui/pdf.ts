// A figure as PDF, from its SVG: vectors, text in Helvetica, which every reader has. An own writer, because the libraries for this
// are larger than the whole page; it knows the elements that drawing() produces. Text that Helvetica cannot show becomes a stencil.

const SYMBOLS = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ"; // Windows-1252 from 0x80 on
/** Widths of the characters from space to tilde, in thousandths of the size: Helvetica, and Helvetica bold. */
const WIDTHS = [
  "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556 " +
    "1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 " +
    "333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584",
  "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611 " +
    "975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 " +
    "333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584",
].map((row) => row.split(" ").map(Number));
const MINUS = 1; // The code of the minus sign, which Windows-1252 lacks.
const STENCIL = 8; // Dots of a stencil per pixel of the page: 768 an inch.

/** The code of a character in the fonts of the file; undefined: it has none. */
function code(character: string): number | undefined {
  const point = character.codePointAt(0)!;
  if (point === 0x2212) return MINUS;
  if ((point >= 32 && point < 127) || (point >= 0xa0 && point < 0x100)) return point;
  const place = SYMBOLS.indexOf(character);
  return place >= 0 && character !== " " ? 0x80 + place : undefined;
}

function width(character: string, bold: boolean): number {
  const plain = character.normalize("NFD").charCodeAt(0);
  return WIDTHS[Number(bold)][plain - 32] ?? (character === "−" ? 584 : "…—".includes(character) ? 1000 : 556);
}

/** Red, green, blue and opacity from 0 to 1; null: nothing is painted. */
function colour(text: string | null): [number, number, number, number] | null {
  if (!text || text === "none" || text === "transparent") return null;
  const hex = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(text);
  if (hex) return [...hex.slice(1).map((part) => parseInt(part, 16) / 255), 1] as [number, number, number, number];
  const parts = (text.match(/[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
  if (parts.length < 3) return [0, 0, 0, 1];
  const scale = text.startsWith("color(") ? 1 : 255;
  const [r, g, b] = parts.map((part) => part / scale);
  return parts[3] === 0 ? null : [r, g, b, parts[3] ?? 1];
}

const n = (x: number): string => String(+x.toFixed(4));
const matrix = (m: DOMMatrix): string => [m.a, m.b, m.c, m.d, m.e, m.f].map(n).join(" ");
const number = (element: Element, name: string): number => parseFloat(element.getAttribute(name) ?? "0") || 0;

/** The outline of a path; curves that PDF lacks are drawn as short lines. */
function outline(path: SVGPathElement): string {
  const text = path.getAttribute("d") ?? "";
  if (/[aAtTsSqQ]/.test(text)) {
    const length = path.getTotalLength();
    const steps = Math.max(8, Math.ceil(2 * length));
    const points = Array.from({ length: steps + 1 }, (_, k) => path.getPointAtLength((k * length) / steps));
    return points.map((p, k) => `${n(p.x)} ${n(p.y)} ${k === 0 ? "m" : "l"}`).join(" ") + (/z\s*$/i.test(text) ? " h" : "");
  }
  const found: string[] = [];
  let [x, y, left, top] = [0, 0, 0, 0];
  for (const [, letter, rest] of text.matchAll(/([a-zA-Z])([^a-zA-Z]*(?:e-?\d+[^a-zA-Z]*)*)/g)) {
    const numbers = (rest.match(/-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?/g) ?? []).map(Number);
    const relative = letter === letter.toLowerCase();
    const kind = letter.toLowerCase();
    if (kind === "z") {
      found.push("h");
      [x, y] = [left, top];
      continue;
    }
    const size = { m: 2, l: 2, h: 1, v: 1, c: 6 }[kind]!;
    for (let k = 0; k + size <= numbers.length; k += size) {
      const part = numbers.slice(k, k + size);
      const [ox, oy] = relative ? [x, y] : [0, 0];
      if (kind === "h") x = ox + part[0];
      else if (kind === "v") y = oy + part[0];
      else [x, y] = [ox + part[size - 2], oy + part[size - 1]];
      if (kind === "c") found.push(`${part.map((v, i) => n(v + (i % 2 ? oy : ox))).join(" ")} c`);
      else {
        const move = kind === "m" && k === 0;
        if (move) [left, top] = [x, y];
        found.push(`${n(x)} ${n(y)} ${move ? "m" : "l"}`);
      }
    }
  }
  return found.join(" ");
}

function ellipse(cx: number, cy: number, rx: number, ry: number): string {
  const k = 0.5522847498; // The control points with which four Bezier curves make a circle.
  const at = (x: number, y: number): string => `${n(cx + x * rx)} ${n(cy + y * ry)}`;
  const turns = [[1, k, k, 1, 0, 1], [-k, 1, -1, k, -1, 0], [-1, -k, -k, -1, 0, -1], [k, -1, 1, -k, 1, 0]];
  return `${at(1, 0)} m ${turns.map(([a, b, c, d, e, f]) => `${at(a, b)} ${at(c, d)} ${at(e, f)} c`).join(" ")} h`;
}

function shape(element: Element): string {
  const v = (name: string): number => number(element, name);
  switch (element.tagName) {
    case "rect":
      return `${n(v("x"))} ${n(v("y"))} ${n(v("width"))} ${n(v("height"))} re`;
    case "line":
      return `${n(v("x1"))} ${n(v("y1"))} m ${n(v("x2"))} ${n(v("y2"))} l`;
    case "circle":
      return ellipse(v("cx"), v("cy"), v("r"), v("r"));
    case "path":
      return outline(element as SVGPathElement);
    case "polyline":
    case "polygon": {
      const points = (element.getAttribute("points") ?? "").match(/-?[\d.]+/g) ?? [];
      const lines = points.flatMap((x, k) => (k % 2 ? [] : [`${x} ${points[k + 1]} ${k === 0 ? "m" : "l"}`]));
      return lines.join(" ") + (element.tagName === "polygon" ? " h" : "");
    }
  }
  return "";
}

class Writer {
  readonly content: string[] = [];
  readonly opacities = new Map<string, string>();
  readonly stencils: { width: number; height: number; bits: Uint8Array }[] = [];

  constructor(private readonly root: SVGSVGElement) {
    this.home = root.getScreenCTM()!.inverse();
  }
  private readonly home: DOMMatrix;

  private at(element: SVGGraphicsElement): DOMMatrix {
    return this.home.multiply(element.getScreenCTM()!);
  }

  /** Name of the graphics state with some opacity of fill and stroke. */
  private opacity(fill: number, stroke: number): string {
    const key = `/ca ${n(fill)} /CA ${n(stroke)}`;
    if (!this.opacities.has(key)) this.opacities.set(key, `G${this.opacities.size}`);
    return this.opacities.get(key)!;
  }

  walk(element: Element): void {
    if (["title", "desc", "defs", "clipPath", "linearGradient"].includes(element.tagName)) return;
    const clip = /^url\(["']?#(.*?)["']?\)$/.exec(element.getAttribute("clip-path") ?? "");
    const area = clip && this.root.querySelector(`#${CSS.escape(clip[1])} rect`);
    if (area) {
      const m = this.at(element as SVGGraphicsElement);
      const [x, y] = [number(area, "x"), number(area, "y")];
      const corners = [[x, y], [x + number(area, "width"), y], [x + number(area, "width"), y + number(area, "height")], [x, y + number(area, "height")]];
      const points = corners.map(([px, py]) => new DOMPoint(px, py).matrixTransform(m));
      this.content.push("q", ...points.map((p, k) => `${n(p.x)} ${n(p.y)} ${k === 0 ? "m" : "l"}`), "h W n");
    }
    if (element.tagName === "text") this.text(element as SVGTextElement);
    else if (element instanceof SVGGeometryElement) this.paint(element);
    else for (const child of element.children) this.walk(child);
    if (area) this.content.push("Q");
  }

  private paint(element: SVGGeometryElement): void {
    const get = (name: string): string | null => element.getAttribute(name);
    const path = shape(element);
    const gradient = /^url\(["']?#(.*?)["']?\)$/.exec(get("fill") ?? "");
    const fill = gradient || element.tagName === "line" ? null : colour(get("fill") ?? "#000000");
    const stroke = colour(get("stroke"));
    const wide = parseFloat(get("stroke-width") ?? "1");
    const all = parseFloat(get("opacity") ?? "1");
    const place = `q ${matrix(this.at(element))} cm`;
    if (gradient) this.strips(element, gradient[1], place);
    if (!path || (!fill && !(stroke && wide > 0))) return;
    const of = (name: string, c: typeof fill): number => all * parseFloat(get(name) ?? "1") * (c?.[3] ?? 1);
    this.content.push(place, `/${this.opacity(of("fill-opacity", fill), of("stroke-opacity", stroke))} gs`);
    if (fill) this.content.push(`${fill.slice(0, 3).map(n).join(" ")} rg`);
    if (stroke && wide > 0) {
      const dashes = (get("stroke-dasharray") ?? "").match(/[\d.]+/g) ?? [];
      const cap = { round: 1, square: 2 }[get("stroke-linecap") ?? ""] ?? 0;
      const join = { round: 1, bevel: 2 }[get("stroke-linejoin") ?? ""] ?? 0;
      this.content.push(`${stroke.slice(0, 3).map(n).join(" ")} RG ${n(wide)} w [${dashes.join(" ")}] 0 d ${cap} J ${join} j`);
    }
    this.content.push(path, fill && stroke && wide > 0 ? "B" : fill ? "f" : "S", "Q");
  }

  /** A rectangle with a gradient, as strips. */
  private strips(element: Element, id: string, place: string): void {
    const stops = [...this.root.querySelectorAll(`#${CSS.escape(id)} stop`)].map((stop) => ({
      at: number(stop, "offset"),
      colour: colour(stop.getAttribute("stop-color")) ?? [1, 1, 1, 1],
    }));
    if (stops.length === 0) return;
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => number(element, name));
    this.content.push(place);
    const count = 64;
    for (let k = 0; k < count; k++) {
      const t = (k + 0.5) / count;
      const next = Math.max(1, stops.findIndex((stop) => stop.at >= t));
      const [a, b] = [stops[next - 1], stops[next] ?? stops[next - 1]];
      const share = b.at > a.at ? (t - a.at) / (b.at - a.at) : 0;
      const mixed = [0, 1, 2].map((c) => n(a.colour[c] + share * (b.colour[c] - a.colour[c])));
      this.content.push(`${mixed.join(" ")} rg ${n(x + (k * w) / count)} ${n(y)} ${n((1.02 * w) / count)} ${n(h)} re f`);
    }
    this.content.push("Q");
  }

  private text(element: SVGTextElement): void {
    const m = matrix(this.at(element));
    let index = 0;
    const letters = element.getNumberOfChars();
    const part = (holder: Element, words: string): void => {
      if (!words || index >= letters) return;
      const count = Math.min(words.length, letters - index);
      const start = element.getStartPositionOfChar(index);
      this.words(holder, words, m, start, element.getSubStringLength(index, count));
      index += count;
    };
    // One text node has exactly the characters that are drawn once white space is collapsed.
    const nodes = [...element.childNodes].filter((node) => !(node instanceof Element) || node.tagName === "tspan");
    nodes.forEach((node, k) => {
      let words = (node.textContent ?? "").replace(/\s+/g, " ");
      if (k === 0) words = words.trimStart();
      if (k === nodes.length - 1) words = words.trimEnd();
      part(node instanceof Element ? node : element, words);
    });
  }

  private words(holder: Element, words: string, m: string, start: DOMPoint, length: number): void {
    const get = (name: string): string | null => holder.getAttribute(name) ?? holder.parentElement?.getAttribute(name) ?? null;
    const size = parseFloat(get("font-size") ?? "12");
    const bold = (parseInt(get("font-weight") ?? "400") || (get("font-weight") === "bold" ? 700 : 400)) >= 600;
    const fill = colour(get("fill") ?? "#000000");
    if (!fill || length === 0) return;
    const all = parseFloat(get("opacity") ?? "1") * parseFloat(get("fill-opacity") ?? "1") * fill[3];
    this.content.push(`q ${m} cm`, `/${this.opacity(all, all)} gs ${fill.slice(0, 3).map(n).join(" ")} rg`);
    const characters = Array.from(words);
    const codes = characters.map(code);
    if (codes.every((one) => one !== undefined)) {
      const natural = (size * characters.reduce((sum, c) => sum + width(c, bold), 0)) / 1000;
      const hex = codes.map((one) => one!.toString(16).padStart(2, "0")).join("");
      const show = `BT /F${bold ? 2 : 1} ${n(size)} Tf ${n((100 * length) / natural)} Tz 1 0 0 -1 ${n(start.x)} ${n(start.y)} Tm <${hex}> Tj ET`;
      const halo = get("paint-order")?.startsWith("stroke") ? colour(get("stroke")) : null;
      if (halo) this.content.push(`${halo.slice(0, 3).map(n).join(" ")} RG ${get("stroke-width")?.replace("px", "") ?? 1} w 1 j`, show.replace("BT", "BT 1 Tr"));
      this.content.push(show.replace("BT", "BT 0 Tr"));
    } else {
      const stencil = draw(words, `${bold ? "bold " : ""}${size * STENCIL}px ${get("font-family") ?? "sans-serif"}`, size);
      const [w, h] = [stencil.width / STENCIL, stencil.height / STENCIL];
      this.content.push(`${n(w)} 0 0 ${n(-h)} ${n(start.x)} ${n(start.y - size + h)} cm /S${this.stencils.length} Do`);
      this.stencils.push(stencil);
    }
    this.content.push("Q");
  }
}

/** A text as bits, one line; its baseline is one size below the top. */
function draw(words: string, font: string, size: number): { width: number; height: number; bits: Uint8Array } {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  context.font = font;
  canvas.width = Math.max(1, Math.ceil(context.measureText(words).width));
  canvas.height = Math.ceil(1.4 * size * STENCIL);
  context.font = font;
  context.fillText(words, 0, size * STENCIL);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const row = Math.ceil(canvas.width / 8);
  const bits = new Uint8Array(row * canvas.height);
  for (let y = 0; y < canvas.height; y++)
    for (let x = 0; x < canvas.width; x++)
      if (data[4 * (y * canvas.width + x) + 3] > 127) bits[y * row + (x >> 3)] |= 128 >> (x & 7);
  return { width: canvas.width, height: canvas.height, bits };
}

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0));

async function deflated(data: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([data as BlobPart]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The file of an SVG that drawing() made; must be called while the page shows it at that size. */
export async function pdf(svg: string, title: string): Promise<Blob> {
  const host = document.createElement("div");
  host.className = "offscreen";
  const root = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true) as unknown as SVGSVGElement;
  host.append(root);
  document.body.append(host);
  const writer = new Writer(root);
  const [wide, tall] = root.getAttribute("viewBox")!.split(" ").slice(2).map(Number);
  try {
    writer.walk(root);
  } finally {
    host.remove();
  }
  const points = (72 * parseFloat(root.getAttribute("width")!)) / wide; // Points of a pixel; a point is 1/72 of an inch.
  const content = bytes([`${n(points)} 0 0 ${n(-points)} 0 ${n(points * tall)} cm`, ...writer.content].join("\n"));
  const encoding = `<< /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [${MINUS} /minus] >>`;
  const font = (name: string): string => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding ${encoding} >>`;
  const states = Array.from(writer.opacities, ([values, name]) => `/${name} << ${values} >>`).join(" ");
  const images = writer.stencils.map((_, k) => `/S${k} ${8 + k} 0 R`).join(" ");
  const hex = Array.from({ length: title.length }, (_, k) => title.charCodeAt(k).toString(16).padStart(4, "0")).join("");
  const objects: (string | [string, Uint8Array])[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${n(points * wide)} ${n(points * tall)}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> /ExtGState << ${states} >> /XObject << ${images} >> >> >>`,
    ["", await deflated(content)],
    font("Helvetica"),
    font("Helvetica-Bold"),
    `<< /Title <feff${hex}> /Producer (Rankscope) >>`,
  ];
  for (const one of writer.stencils) {
    const head = `/Type /XObject /Subtype /Image /ImageMask true /BitsPerComponent 1 /Decode [1 0] /Width ${one.width} /Height ${one.height}`;
    objects.push([head, await deflated(one.bits)]);
  }
  const parts: Uint8Array[] = [bytes("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")];
  let size = parts[0].length;
  const starts: number[] = [];
  const put = (data: Uint8Array): void => {
    parts.push(data);
    size += data.length;
  };
  objects.forEach((object, k) => {
    starts.push(size);
    const [head, stream] = typeof object === "string" ? [object, null] : [`<< ${object[0]} /Filter /FlateDecode /Length ${object[1].length} >>`, object[1]];
    put(bytes(`${k + 1} 0 obj\n${head}\n`));
    if (stream) [bytes("stream\n"), stream, bytes("\nendstream\n")].forEach(put);
    put(bytes("endobj\n"));
  });
  const table = starts.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`).join("");
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 7 0 R >>\nstartxref\n${size}\n%%EOF\n`;
  put(bytes(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${end}`));
  return new Blob(parts as BlobPart[], { type: "application/pdf" });
}

// A figure of the page as one SVG that stands alone: drawings with their styles written into them, text around them as
// text. Presentation attributes only, so that no policy and no program has a style sheet to refuse.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "paint-order",
  "shape-rendering",
  "stop-color",
] as const;
const OF_TEXT = ["font-family", "font-size", "font-weight", "text-anchor"] as const;
const SKIPPED = ".noexport, button:not(.plain), select, input, label, details, canvas, .unseen";

/** A colour as every program reads it: mixed ones are computed as color(srgb …). */
function plain(colour: string): string {
  const parts = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)$/.exec(colour);
  return parts ? `rgb(${parts.slice(1).map((part) => Math.round(255 * Number(part))).join(", ")})` : colour;
}

function visible(style: CSSStyleDeclaration): boolean {
  return style.display !== "none" && style.visibility !== "hidden";
}

/** A copy of an element of a drawing that carries its computed style. */
function styled(element: Element, prefix: string): Element | null {
  const style = getComputedStyle(element);
  if (!visible(style) || element.matches(".noexport")) return null;
  const copy = element.cloneNode(false) as Element;
  copy.removeAttribute("class");
  copy.removeAttribute("style");
  for (const name of [...copy.getAttributeNames()]) {
    if (/^(on|aria-|data-|role|tabindex)/.test(name)) copy.removeAttribute(name);
  }
  // ids inside a drawing may also occur in the other drawings of a figure
  if (copy.id) copy.id = prefix + copy.id;
  for (const name of ["fill", "clip-path"]) {
    const value = copy.getAttribute(name);
    if (value?.startsWith("url(#")) copy.setAttribute(name, value.replace("url(#", `url(#${prefix}`));
  }
  const shape = !["g", "defs", "clipPath", "linearGradient", "svg", "title"].includes(element.tagName);
  if (shape) {
    for (const name of element.tagName === "text" || element.tagName === "tspan" ? [...PROPERTIES, ...OF_TEXT] : PROPERTIES) {
      const value = style.getPropertyValue(name);
      const own = copy.getAttribute(name)?.startsWith("url(");
      if (value && !own && !(value === "1" && name.endsWith("opacity")) && value !== "normal") copy.setAttribute(name, value);
    }
  }
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.cloneNode());
    else if (child.nodeType === Node.ELEMENT_NODE) {
      const inner = styled(child as Element, prefix);
      if (inner) copy.append(inner);
    }
  }
  return copy;
}

/** A text as it fits: one that its element cuts loses its middle, so that names with a common beginning stay distinct. */
function fitting(node: Text): string {
  const holder = node.parentElement!.closest<HTMLElement>(".clip");
  if (!holder || holder.scrollWidth <= holder.clientWidth || getComputedStyle(holder).textOverflow !== "ellipsis") return node.data;
  const letters = Array.from(node.data);
  const range = document.createRange();
  range.setStart(node, 0);
  const right = holder.getBoundingClientRect().right - 0.8 * parseFloat(getComputedStyle(holder).fontSize);
  let kept = letters.length;
  for (; kept > 1; kept--) {
    range.setEnd(node, letters.slice(0, kept).join("").length);
    if (range.getBoundingClientRect().right <= right) break;
  }
  const head = Math.ceil(kept / 2);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - Math.floor(kept / 2)).join("")}`.replace(/…+/g, "…");
}

function textOf(node: Text, origin: DOMRect): SVGTextElement[] {
  const words = fitting(node).replace(/\s+/g, " ").trim();
  if (!words) return [];
  const range = document.createRange();
  range.selectNodeContents(node);
  const style = getComputedStyle(node.parentElement!);
  const lines: { text: string; box: DOMRect }[] = [];
  const rects = Array.from(range.getClientRects());
  if (rects.length <= 1 || words !== node.data.replace(/\s+/g, " ").trim()) lines.push({ text: words, box: rects[0] ?? range.getBoundingClientRect() });
  else {
    // a text of several lines: which letters stand in which
    const one = document.createRange();
    for (let k = 0; k < node.length; k++) {
      one.setStart(node, k);
      one.setEnd(node, k + 1);
      const box = one.getBoundingClientRect();
      const last = lines[lines.length - 1];
      if (last && Math.abs(last.box.top - box.top) < box.height / 2) last.text += node.data[k];
      else lines.push({ text: node.data[k], box });
    }
  }
  return lines.flatMap(({ text, box }) => {
    const shown = text.replace(/\s+/g, " ").trim();
    if (!shown || box.width === 0) return [];
    const element = document.createElementNS(SVG, "text");
    element.setAttribute("x", (box.left - origin.left).toFixed(1));
    element.setAttribute("y", (box.bottom - origin.top - box.height * 0.24).toFixed(1));
    element.setAttribute("fill", style.color);
    for (const name of ["font-family", "font-size", "font-weight"]) element.setAttribute(name, style.getPropertyValue(name));
    element.textContent = shown;
    return [element];
  });
}

/** Return a figure as SVG with a width in inches. */
export function drawing(figure: HTMLElement, inches: number, title: string, description: string): SVGSVGElement {
  const origin = figure.getBoundingClientRect();
  const width = Math.ceil(origin.width);
  const height = Math.ceil(origin.height);
  const root = document.createElementNS(SVG, "svg");
  root.setAttribute("xmlns", SVG);
  root.setAttribute("width", `${inches.toFixed(3)}in`);
  root.setAttribute("height", `${((inches * height) / width).toFixed(3)}in`);
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  for (const [name, text] of [
    ["title", title],
    ["desc", description],
  ]) {
    const element = document.createElementNS(SVG, name);
    element.textContent = text;
    root.append(element);
  }
  const paper = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ width, height, fill: "#ffffff" })) paper.setAttribute(name, String(value));
  root.append(paper);
  let drawn = 0;
  const walk = (node: Node): void => {
    if (node.nodeType === Node.TEXT_NODE) {
      root.append(...textOf(node as Text, origin));
      return;
    }
    if (!(node instanceof Element) || node.matches(SKIPPED)) return;
    const style = getComputedStyle(node);
    if (!visible(style)) return;
    if (node instanceof SVGSVGElement) {
      const box = node.getBoundingClientRect();
      const place = document.createElementNS(SVG, "g");
      place.setAttribute("transform", `translate(${(box.left - origin.left).toFixed(1)} ${(box.top - origin.top).toFixed(1)})`);
      const inner = styled(node, `f${drawn++}-`);
      if (!inner) return;
      inner.setAttribute("overflow", "visible");
      inner.setAttribute("width", String(box.width));
      inner.setAttribute("height", String(box.height));
      place.append(inner);
      root.append(place);
      return;
    }
    if (node.matches("i, .swatch, .filled, tr.chosen > *") && style.backgroundColor !== "rgba(0, 0, 0, 0)") {
      const box = node.getBoundingClientRect();
      const swatch = document.createElementNS(SVG, "rect");
      const at = { x: box.left - origin.left, y: box.top - origin.top, width: box.width, height: box.height };
      for (const [name, value] of Object.entries(at)) swatch.setAttribute(name, value.toFixed(1));
      swatch.setAttribute("fill", plain(style.backgroundColor));
      if (style.opacity !== "1") swatch.setAttribute("fill-opacity", style.opacity);
      root.append(swatch);
    }
    node.childNodes.forEach(walk);
  };
  figure.childNodes.forEach(walk);
  return root;
}

/** Render the SVG as an image with the given resolution in dots per inch. */
export async function picture(svg: string, dots: number): Promise<Blob> {
  const image = new Image();
  await new Promise<void>((done, failed) => {
    image.onload = () => done();
    image.onerror = () => failed(new Error("the figure could not be drawn"));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
  const canvas = document.createElement("canvas");
  const scale = dots / 96;
  canvas.width = Math.round(image.naturalWidth * scale);
  canvas.height = Math.round(image.naturalHeight * scale);
  const context = canvas.getContext("2d")!;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the figure is too large"))), "image/png"),
  );
}

// Makes elements focusable by keyboard only if they scroll.

/** Sizes are rounded to whole pixels: content that fits may seem to be larger by this much. */
const ROUNDING = 2;

/** An action: the element takes the focus while its content is wider or higher than itself. */
export function scrolls(node: HTMLElement): { destroy(): void } {
  const look = (): void => {
    const wide = node.scrollWidth > node.clientWidth + ROUNDING;
    node.toggleAttribute("data-wide", wide);
    if (wide || node.scrollHeight > node.clientHeight + ROUNDING) node.tabIndex = 0;
    else node.removeAttribute("tabindex");
  };
  const sizes = new ResizeObserver(look);
  sizes.observe(node);
  for (const child of node.children) sizes.observe(child);
  return { destroy: () => sizes.disconnect() };
}

// Makes elements focusable by keyboard only if they scroll.

/** An action: the element takes the focus while its content is wider or higher than itself. */
export function scrolls(node: HTMLElement): { destroy(): void } {
  const look = (): void => {
    if (node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight) node.tabIndex = 0;
    else node.removeAttribute("tabindex");
  };
  const sizes = new ResizeObserver(look);
  sizes.observe(node);
  for (const child of node.children) sizes.observe(child);
  return { destroy: () => sizes.disconnect() };
}

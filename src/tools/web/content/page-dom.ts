/**
 * A page as a tree. Declares the few parts of linkedom's classes that are used here: the DOM's own types
 * would add a browser's globals to every file of the project.
 */

export interface PageNode {
  readonly nodeName: string;
  readonly nodeType: number;
  readonly parentNode: PageElement | null;
  readonly firstChild: PageNode | null;
  readonly nextSibling: PageNode | null;
  readonly textContent: string;
}

export interface PageElement extends PageNode {
  readonly children: Iterable<PageElement>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  closest(selector: string): PageElement | null;
  remove(): void;
  replaceWith(text: string): void;
}

export interface PageDocument extends PageElement {
  readonly body: PageElement;
  cloneNode(deep: boolean): PageDocument;
}

/**
 * Reads any page. Content in its head, in its body or outside both ends up in the body, so that a missing
 * or a second `<body>` changes nothing.
 */
export async function openPage(html: string): Promise<PageDocument> {
  const { parseHTML } = await import("linkedom");
  const inside = html.replace(
    /<!doctype[^<>]{0,500}>|<\/?(?:html|head|body)\b[^<>]{0,2000}>/gi,
    "",
  );
  const { document } = parseHTML(`<html><head></head><body>${inside}</body></html>`);
  return document as PageDocument;
}

/** The depth of the deepest element. Follows links between nodes, so any depth is possible. */
export function depthOf(root: PageElement): number {
  let deepest = 0;
  let depth = 0;
  let node: PageNode = root;
  for (;;) {
    if (node.firstChild) {
      node = node.firstChild;
      deepest = Math.max(deepest, ++depth);
      continue;
    }
    while (!node.nextSibling) {
      if (!node.parentNode || depth <= 1) return deepest;
      node = node.parentNode;
      depth--;
    }
    node = node.nextSibling;
  }
}

import type { PageElement } from "./page-dom.ts";

/** How one kind of element is written. `content` is the Markdown of what is inside it. */
export interface MarkdownRule {
  /** Names in lower case. */
  readonly filter: readonly string[];
  replacement(content: string, node: PageElement): string;
}

/** Joins text of several blocks on one line: headings lose their marks. */
export function flatten(content: string): string {
  return content
    .replace(/^#{1,6} /gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * Converts a page to Markdown for a model: with its title, main content, tables, links and code, without
 * what a reader does not see.
 *
 * The libraries for it are loaded with the first page. They recurse, so a page that is nested deeper or has
 * more elements than real ones becomes plain text.
 */

import { scanHtml } from "./html-scan.ts";
import { findMain } from "./main-content.ts";
import { depthOf, openPage, type PageDocument, type PageElement } from "./page-dom.ts";
import { cleanText, toLine, toPlainText } from "./plain-text.ts";
import { preparePage } from "./prepare-page.ts";
import { VOID_TAGS } from "./tag-names.ts";

export interface MarkdownPage {
  readonly title: string;
  readonly markdown: string;
  /** True if a main content was found; otherwise the Markdown is the whole page. */
  readonly isReadable: boolean;
}

interface MarkdownOptions {
  /** The page's address, to which its relative links refer. */
  readonly url: string;
  /** Leaves out menus, advertisements and footers. */
  readonly mainOnly: boolean;
}

/** The specification of HTML on one page is 40 levels deep; menus made by programs reach 100. */
const MAX_DEPTH = 200;
/** Tags and pieces of text: seconds of work at worst, half a second for an ordinary long article. */
const MAX_PIECES = 100_000;

export async function toMarkdown(source: string, options: MarkdownOptions): Promise<MarkdownPage> {
  const html = withoutGaps(source);
  if (isWild(html)) return toPlainPage(html);
  try {
    return (await convert(html, options)) ?? toPlainPage(html);
  } catch {
    // The libraries are made for what browsers accept. A page on which they fail still has its text.
    return toPlainPage(html);
  }
}

/** The most spaces in a row. */
const MAX_GAP_CHARS = 500;

/** The libraries find the ends of texts in a time that grows with the square of a gap: hours for 3 MB. */
function withoutGaps(html: string): string {
  return html.replace(/(?:\s|&nbsp;|&#160;|&#xa0;)+/gi, (gap) =>
    gap.length <= MAX_GAP_CHARS ? gap : gap.slice(0, MAX_GAP_CHARS).replace(/&[^;]*$/, ""),
  );
}

/** Undefined if the tree is too deep to process. */
async function convert(html: string, options: MarkdownOptions): Promise<MarkdownPage | undefined> {
  const page = await openPage(html);
  if (depthOf(page.body) > MAX_DEPTH) return undefined;
  const named = titleOf(page);
  preparePage(page, options.url);
  const title = named || toTitle(page.querySelector("h1")?.textContent ?? "");
  const { writeMarkdown } = await import("./write-markdown.ts");
  if (!options.mainOnly) {
    return { title, markdown: await writeMarkdown(page.body), isReadable: false };
  }
  const { element, isMain } = await findMain(page);
  const markdown = withTitle(title, await writeMarkdown(element), element);
  return { title, markdown, isReadable: isMain && markdown !== "" };
}

/** Decided before a tree is built, which takes seconds for 50,000 nested levels. */
function isWild(html: string): boolean {
  let pieces = 0;
  let depth = 0;
  let deepest = 0;
  scanHtml(html, {
    open(name) {
      pieces++;
      if (!VOID_TAGS.has(name) && !CLOSES_ITSELF.has(name)) deepest = Math.max(deepest, ++depth);
    },
    close(name) {
      if (!CLOSES_ITSELF.has(name)) depth = Math.max(0, depth - 1);
    },
    // Every character reference is a piece of its own for the parser.
    text(text) {
      pieces += text.split("&").length;
    },
  });
  // Pages forget closing tags, so this depth is only a hint: only far too much is refused.
  return pieces > MAX_PIECES || deepest > 10 * MAX_DEPTH;
}

/** Elements whose closing tag may be left out: the next of their kind closes them. */
const CLOSES_ITSELF = new Set(
  "p li td th tr dt dd option optgroup thead tbody tfoot colgroup rp rt html head body".split(" "),
);

function toPlainPage(html: string): MarkdownPage {
  const title = /<title\b[^<>]{0,500}>([^<]{0,1000})/i.exec(html)?.[1] ?? "";
  return { title: toLine(title), markdown: toPlainText(html), isReadable: false };
}

function titleOf(page: PageDocument): string {
  const named = page.querySelector("title")?.textContent.trim();
  const shared = page.querySelector('meta[property="og:title"]')?.getAttribute("content");
  return toTitle(named || shared || "");
}

function toTitle(text: string): string {
  return cleanText(text).replace(/\s+/g, " ").trim();
}

/** Adds the title if the main content starts below the page's heading and would lack its subject. */
function withTitle(title: string, markdown: string, element: PageElement): string {
  if (title === "" || markdown === "") return markdown;
  const heading = toTitle(element.querySelector("h1, h2")?.textContent ?? "");
  if (heading !== "" && title.includes(heading)) {
    // Readability makes the first heading a second-level one.
    return markdown.startsWith(`## ${heading}\n`) ? markdown.slice(1) : markdown;
  }
  const opening = markdown.slice(0, 2 * title.length + 20);
  return opening.includes(title) ? markdown : `# ${title}\n\n${markdown}`;
}

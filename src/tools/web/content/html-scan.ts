/**
 * Reads tags and text of a page in one pass over its characters: without a tree or recursion, and always in
 * linear time. For what must be known before a tree is built, and for pages too irregular to build one.
 */

export interface TagVisitor {
  /** `tag` is the whole tag from `<` to `>`, shortened if it is long; the name is in lower case. */
  open(name: string, tag: string): void;
  close(name: string): void;
  text(text: string): void;
}

/** No attribute that matters is further back. */
const MAX_TAG_CHARS = 4000;

/** The content of these is not markup; they end at their own closing tag. */
const RAW_TEXT = new Set(["script", "style", "textarea", "title", "xmp", "iframe", "noframes"]);

export function scanHtml(html: string, visitor: TagVisitor): void {
  let at = 0;
  while (at < html.length) {
    const start = html.indexOf("<", at);
    if (start !== at) visitor.text(html.slice(at, start < 0 ? html.length : start));
    if (start < 0) return;
    at = readMarkup(html, start, visitor);
  }
}

/** Reads what begins at a `<`; returns its end. */
function readMarkup(html: string, start: number, visitor: TagVisitor): number {
  if (html.startsWith("<!--", start)) return after(html, "-->", start + 4);
  const next = html[start + 1] ?? "";
  if (next === "!" || next === "?") return after(html, ">", start);
  const isClosing = next === "/";
  const name = readName(html, isClosing ? start + 2 : start + 1);
  if (name === "") {
    visitor.text("<");
    return start + 1;
  }
  const end = endOfTag(html, start + 1 + name.length);
  if (isClosing) visitor.close(name);
  else visitor.open(name, html.slice(start, Math.min(end, start + MAX_TAG_CHARS)));
  return isClosing || !RAW_TEXT.has(name) ? end : readRawText(html, name, end, visitor);
}

function readRawText(html: string, name: string, start: number, visitor: TagVisitor): number {
  const closing = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  closing.lastIndex = start;
  const end = closing.exec(html)?.index ?? html.length;
  if (end > start) visitor.text(html.slice(start, end));
  return end;
}

const NAME = /[a-z][^\s/>]{0,63}/iy;

function readName(html: string, start: number): string {
  NAME.lastIndex = start;
  return NAME.exec(html)?.[0].toLowerCase() ?? "";
}

/** A `>` inside quotes does not end a tag. */
function endOfTag(html: string, start: number): number {
  let quote = "";
  for (let at = start; at < html.length; at++) {
    const char = html[at] ?? "";
    if (quote) quote = char === quote ? "" : quote;
    else if (char === ">") return at + 1;
    else if (char === '"' || char === "'") quote = char;
  }
  return html.length;
}

function after(html: string, mark: string, start: number): number {
  const found = html.indexOf(mark, start);
  return found < 0 ? html.length : found + mark.length;
}

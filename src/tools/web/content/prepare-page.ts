/** Removes what must not be read from a page, and makes its links absolute. */

import { isHiddenElement } from "./hidden.ts";
import type { PageDocument, PageElement } from "./page-dom.ts";

const UNREADABLE =
  "script, style, template, link, meta, title, base, iframe, frame, object, embed, canvas, svg, video, audio, map, select, datalist, textarea, input:not([type=checkbox]), dialog:not([open])";

/** Texts with which headings link to themselves. */
const ANCHOR_MARKS = new Set(["#", "¶", "§", "🔗", "link", "permalink", "anchor"]);

/** Changes `page`. */
export function preparePage(page: PageDocument, url: string): void {
  const base = toUrl(page.querySelector("base[href]")?.getAttribute("href") ?? "", url) ?? url;
  for (const element of [...page.body.querySelectorAll(UNREADABLE)]) element.remove();
  for (const element of [...page.body.querySelectorAll("[hidden], [aria-hidden], [style]")]) {
    if (isHiddenElement(element)) element.remove();
  }
  dropNoscript(page);
  for (const box of [...page.body.querySelectorAll("input")]) {
    box.replaceWith(box.getAttribute("checked") === null ? "[ ] " : "[x] ");
  }
  for (const link of [...page.body.querySelectorAll("a[href]")]) mendLink(link, base);
  for (const image of [...page.body.querySelectorAll("img")]) mendImage(image, base);
}

/** Text for readers without scripts is kept only if the page has nothing else. */
function dropNoscript(page: PageDocument): void {
  const spare = [...page.body.querySelectorAll("noscript")];
  const others = page.body.textContent.replace(/\s+/g, "").length;
  const spared = spare.reduce((sum, one) => sum + one.textContent.replace(/\s+/g, "").length, 0);
  if (others <= spared) return;
  for (const element of spare) element.remove();
}

function mendLink(link: PageElement, base: string): void {
  const href = (link.getAttribute("href") ?? "").trim();
  const words = link.textContent.trim();
  if (href.startsWith("#")) {
    if (ANCHOR_MARKS.has(words.toLowerCase())) link.remove();
    else link.removeAttribute("href");
    return;
  }
  const target = toUrl(href, base);
  if (target && /^(?:https?|mailto|tel):/.test(target)) link.setAttribute("href", target);
  else link.removeAttribute("href");
}

/** If an image is loaded late, its real address is in another attribute. */
function mendImage(image: PageElement, base: string): void {
  const sources = ["src", "data-src", "data-original", "data-lazy-src"];
  const targets = sources.map((name) => toUrl(image.getAttribute(name) ?? "", base));
  const target = targets.find((one) => one && /^https?:/.test(one));
  if (target) image.setAttribute("src", target);
  else image.removeAttribute("src");
}

function toUrl(text: string, base: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return URL.canParse(trimmed, base) ? new URL(trimmed, base).href : undefined;
}

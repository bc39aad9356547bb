/**
 * Finds a page's own content, between its menus, advertisements and footers.
 *
 * Readability is made for articles: of a listing it keeps one entry, of a reference page one section. So
 * its result is compared with the page without the elements that are marked as not content.
 */

import type { PageDocument, PageElement } from "./page-dom.ts";

export interface MainContent {
  readonly element: PageElement;
  /** True if the result is only a part of the page. */
  readonly isMain: boolean;
}

/** An article is at least this much of the possible content; with less, parts of it are missing. */
const LEAST_SHARE = 0.5;

const AROUND =
  "nav, aside, footer, form, [role=navigation], [role=banner], [role=contentinfo], [role=complementary], [role=search], [role=dialog], [role=alert]";

/** Changes `page`. */
export async function findMain(page: PageDocument): Promise<MainContent> {
  const article = await readArticle(page.cloneNode(true));
  const rest = withoutAround(page);
  const articleChars = article ? lengthOf(article) : 0;
  if (article && articleChars >= LEAST_SHARE * lengthOf(rest.element)) {
    return { element: article, isMain: true };
  }
  return rest;
}

async function readArticle(page: PageDocument): Promise<PageElement | undefined> {
  const { Readability } = await import("@mozilla/readability");
  const reader = new Readability(page, {
    // The element itself: writing it as HTML and reading that again would double the cost.
    serializer: (element: unknown) => element as PageElement,
    // Code blocks name their language in a class.
    keepClasses: true,
    disableJSONLD: true,
  });
  return reader.parse()?.content ?? undefined;
}

function withoutAround(page: PageDocument): MainContent {
  const whole = lengthOf(page.body);
  const mains = [...page.body.querySelectorAll("main, [role=main]")].filter(
    (main) => !main.parentNode?.closest("main, [role=main]"),
  );
  const [main] = mains;
  const isMain = main !== undefined && mains.length === 1 && lengthOf(main) > 0;
  const element = isMain ? main : page.body;
  const around = [...element.querySelectorAll(AROUND)];
  const header = isMain ? [] : [...page.body.querySelectorAll("body > header")];
  for (const one of [...around, ...header]) {
    // A form or an aside around nearly everything is the page, whatever its name.
    if (lengthOf(one) < 0.6 * whole) one.remove();
  }
  return { element, isMain };
}

function lengthOf(element: PageElement): number {
  return element.textContent.replace(/\s+/g, " ").length;
}

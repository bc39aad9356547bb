/** Writes an element's content as Markdown: Turndown with rules for text that a model reads. */

import { flatten, type MarkdownRule } from "./markdown-rule.ts";
import type { PageElement } from "./page-dom.ts";
import { cleanText } from "./plain-text.ts";
import { CELL, ROW, tableRules } from "./write-table.ts";

export async function writeMarkdown(element: PageElement): Promise<string> {
  const { default: Turndown } = await import("turndown");
  const service = new Turndown({
    headingStyle: "atx",
    hr: "---",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
    emDelimiter: "_",
  });
  // Backslashes before every `_` and `[` are for renderers; a model reads the text.
  service.escape = (text: string) => withoutMarks(text);
  for (const [name, rule] of Object.entries({ ...RULES, ...tableRules })) {
    service.addRule(name, { ...rule, filter: [...rule.filter] });
  }
  return tidy(service.turndown(element as Parameters<typeof service.turndown>[0]));
}

const RULES: Readonly<Record<string, MarkdownRule>> = {
  code: {
    filter: ["pre"],
    replacement: (_content, node) => {
      const text = withoutMarks(codeOf(node)).replace(/^\n+/, "").trimEnd();
      const longest = (text.match(/`+/g) ?? []).reduce(
        (most, run) => Math.max(most, run.length),
        2,
      );
      const fence = "`".repeat(longest + 1);
      return `\n\n${fence}${languageOf(node)}\n${text}\n${fence}\n\n`;
    },
  },
  link: {
    filter: ["a"],
    replacement(content, node) {
      const words = flatten(content);
      const href = node.getAttribute("href");
      if (words === "" || !href) return content;
      const link = `[${words.replace(/[[\]]/g, "\\$&")}](${toTarget(href)})`;
      // A link around blocks is a block: a card, a teaser.
      return content.includes("\n") ? `\n\n${link}\n\n` : link;
    },
  },
  /** As a link: a viewer that shows images would load them, and tell their server who reads. */
  image: {
    filter: ["img"],
    replacement(_content, node) {
      const words = withoutMarks(node.getAttribute("alt") ?? "")
        .replace(/\s+/g, " ")
        .trim();
      const source = node.getAttribute("src");
      if (words === "") return "";
      if (!source || node.closest("a[href]")) return `[image: ${words}]`;
      return `[image: ${words}](${toTarget(source)})`;
    },
  },
  item: {
    filter: ["li"],
    replacement(content, node) {
      const mark = markOf(node);
      const text = content.trim().replace(/\n{3,}/g, "\n\n");
      if (text === "") return "";
      const indented = text.replace(/\n(?=[^\n])/g, `\n${" ".repeat(mark.length)}`);
      return `${mark}${indented}\n`;
    },
  },
  struck: { filter: ["del", "s", "strike"], replacement: (content) => `~~${content}~~` },
  term: { filter: ["dt"], replacement: (content) => `\n\n**${flatten(content)}**\n` },
  meaning: { filter: ["dd"], replacement: (content) => `\n: ${content.trim()}\n` },
  /** `10<sup>6</sup>` must not become 106. The number of a note has brackets already. */
  raised: {
    filter: ["sup"],
    replacement: (content) => (/^\s*(?:$|\\?\[|[^\w\s])/.test(content) ? content : `^${content}`),
  },
};

/** Removes control characters of the text itself, because they mark tables here. */
function withoutMarks(text: string): string {
  return text.replaceAll(ROW, "").replaceAll(CELL, "");
}

/** Brackets and spaces would end a link's target. */
function toTarget(url: string): string {
  return url.replaceAll("(", "%28").replaceAll(")", "%29").replace(/\s/g, "%20");
}

function codeOf(pre: PageElement): string {
  for (const line of [...pre.querySelectorAll("br")]) line.replaceWith("\n");
  for (const gutter of [...pre.querySelectorAll(".lineno, .linenos, .line-number")])
    gutter.remove();
  return pre.textContent;
}

/** Highlighters write the language as a class of the block, of an element inside it or of one around it. */
function languageOf(pre: PageElement): string {
  const around = [pre.querySelector("code"), pre, pre.parentNode, pre.parentNode?.parentNode];
  for (const element of around) {
    const named = element?.getAttribute?.("data-lang") ?? element?.getAttribute?.("data-language");
    const classes = element?.getAttribute?.("class") ?? "";
    const found =
      /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([\w+#-]+)/.exec(classes);
    const language = named ?? found?.[1];
    if (language && /^[\w+#.-]{1,20}$/.test(language)) return language.toLowerCase();
  }
  return "";
}

function markOf(item: PageElement): string {
  const list = item.parentNode;
  if (list?.nodeName !== "OL") return "- ";
  const numbers = NUMBERS.get(list) ?? toNumbers(list);
  NUMBERS.set(list, numbers);
  return `${numbers.get(item) ?? 1}. `;
}

/** Numbers each list once: looking up the position of every item makes long lists take minutes. */
const NUMBERS = new WeakMap<PageElement, ReadonlyMap<PageElement, number>>();

function toNumbers(list: PageElement): ReadonlyMap<PageElement, number> {
  const start = Number(list.getAttribute("start") ?? 1);
  const first = Number.isInteger(start) ? start : 1;
  const items = [...list.children].filter((one) => one.nodeName === "LI");
  return new Map(items.map((item, index) => [item, first + index]));
}

const FENCE = /^ *`{3,}/;
const END_OF_CODE = /^ *`{3,} *$/;

/**
 * Outside of code, removes spaces at line ends and keeps at most one empty line in a row. Line by line: a
 * pattern over the whole text would try every space as the beginning of a line's end.
 */
function tidy(markdown: string): string {
  const lines = cleanText(markdown).split("\n");
  const lastEnd = lines.findLastIndex((line) => END_OF_CODE.test(line));
  const kept: string[] = [];
  let isCode = false;
  for (const [index, line] of lines.entries()) {
    if (isCode) {
      kept.push(line);
      isCode = !END_OF_CODE.test(line);
      continue;
    }
    const text = line.trimEnd();
    if (text !== "" || kept.at(-1) !== "") kept.push(text);
    // A fence that is never closed does not begin code.
    isCode = index < lastEnd && FENCE.test(line);
  }
  return kept.join("\n").trim();
}

/** Converts HTML to plain text without building a tree: for fragments, and for pages too irregular for one. */

import { isHiddenTag } from "./hidden.ts";
import { scanHtml } from "./html-scan.ts";
import { VOID_TAGS } from "./tag-names.ts";

/** The text of a line ends at each of these. */
const BLOCKS = new Set(
  `address article aside blockquote br caption dd details dialog div dl dt fieldset figcaption figure
  footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tr ul`.split(
    /\s+/,
  ),
);

/** These contain nothing that a reader sees. */
const UNSEEN = new Set(
  "script style template noscript title iframe noframes svg select".split(" "),
);

export function toPlainText(html: string): string {
  const pieces: string[] = [];
  // The element that is being skipped, and how many of the same name are open inside it.
  let unseen: { readonly name: string; open: number } | undefined;

  scanHtml(html, {
    open(name, tag) {
      if (unseen) {
        if (name === unseen.name) unseen.open++;
        return;
      }
      if (BLOCKS.has(name)) pieces.push("\n");
      else if (name === "td" || name === "th") pieces.push(" ");
      const isUnseen = UNSEEN.has(name) || isHiddenTag(tag);
      if (isUnseen && !VOID_TAGS.has(name)) unseen = { name, open: 1 };
    },
    close(name) {
      if (name === unseen?.name && --unseen.open === 0) unseen = undefined;
      else if (!unseen && BLOCKS.has(name)) pieces.push("\n");
    },
    text(text) {
      if (!unseen) pieces.push(text);
    },
  });
  return cleanText(decodeEntities(pieces.join("")))
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** One line of text from a fragment that may have tags and entities. */
export function toLine(html: string): string {
  return toPlainText(html).replace(/\s+/g, " ");
}

/**
 * Removes characters that a model sees and a reader does not: control characters, zero-width ones,
 * overrides of the writing direction and the invisible "tag" letters. Joiners are kept, because emoji and
 * Persian need them.
 */
export function cleanText(text: string): string {
  return text.replace(INVISIBLE, "");
}

const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: taking them out is the point.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The names that pages use in text; rarer ones stay as they are written. */
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  shy: "",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  sbquo: "‚",
  ldquo: "“",
  rdquo: "”",
  bdquo: "„",
  laquo: "«",
  raquo: "»",
  hellip: "…",
  bull: "•",
  middot: "·",
  copy: "©",
  reg: "®",
  trade: "™",
  deg: "°",
  plusmn: "±",
  times: "×",
  divide: "÷",
  frac12: "½",
  euro: "€",
  pound: "£",
  yen: "¥",
  cent: "¢",
  sect: "§",
  para: "¶",
  larr: "←",
  rarr: "→",
  uarr: "↑",
  darr: "↓",
  le: "≤",
  ge: "≥",
  ne: "≠",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  agrave: "à",
  aacute: "á",
  acirc: "â",
  ecirc: "ê",
  icirc: "î",
  iacute: "í",
  ocirc: "ô",
  oacute: "ó",
  ucirc: "û",
  uacute: "ú",
  ccedil: "ç",
  ntilde: "ñ",
  aring: "å",
  oslash: "ø",
  aelig: "æ",
};

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z][a-z0-9]{1,7}));/gi,
    (whole, hex: string | undefined, decimal: string | undefined, name: string | undefined) => {
      if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      const isText = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return isText ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

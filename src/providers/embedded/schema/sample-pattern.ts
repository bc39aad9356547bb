/**
 * A text that matches a regular expression, for the simple ones schemas are written with: literals,
 * classes, groups, choices and counts. Anything else gives text that may not match, so check it.
 */

/** `extra` asks for that many repetitions more than the least, where the pattern lets them. */
export function samplePattern(source: string, extra: number): string {
  let at = 0;
  const text = choice();
  // Without anchors the match may stand anywhere, so nothing needs to be added around it.
  return text;

  function choice(): string {
    const first = sequence();
    while (source[at] === "|") {
      at++;
      sequence();
    }
    return first;
  }

  function sequence(): string {
    let written = "";
    while (at < source.length && source[at] !== "|" && source[at] !== ")") {
      const sample = atom();
      written += sample.repeat(count());
    }
    return written;
  }

  function atom(): string {
    const character = source[at++] ?? "";
    if (character === "^" || character === "$") return "";
    if (character === ".") return "x";
    if (character === "[") return fromClass();
    if (character === "(") return group();
    return character === "\\" ? fromEscape(source[at++] ?? "") : character;
  }

  function group(): string {
    const kind = /\?(?::|<[a-z_]\w*>|<?[=!])/iy;
    kind.lastIndex = at;
    const [opening = ""] = kind.exec(source) ?? [];
    at += opening.length;
    const inner = choice();
    at++;
    return /[=!]$/.test(opening) ? "" : inner;
  }

  function fromClass(): string {
    const end = classEnd();
    const body = source.slice(at, end);
    at = end + 1;
    if (body.startsWith("^")) return [..."xX0_-. ~"].find((one) => new RegExp(`[${body}]`).test(one)) ?? "";
    return body.startsWith("\\") ? fromEscape(body[1] ?? "") : body.slice(0, 1);
  }

  function classEnd(): number {
    let end = at;
    while (end < source.length && source[end] !== "]") end += source[end] === "\\" ? 2 : 1;
    return end;
  }

  function count(): number {
    const quantifier = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y;
    quantifier.lastIndex = at;
    const match = quantifier.exec(source);
    if (!match) return 1;
    at = quantifier.lastIndex;
    const [text = "", least, range, most] = match;
    if (least !== undefined) {
      const limit = range === undefined ? Number(least) : most ? Number(most) : Number.POSITIVE_INFINITY;
      return Math.min(Number(least) + extra, limit);
    }
    if (text.startsWith("?")) return Math.min(extra, 1);
    return text.startsWith("+") ? 1 + extra : extra;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { d: "0", w: "x", s: " ", D: "x", W: "-", S: "x", n: "\n", t: "\t", b: "", B: "" };

function fromEscape(letter: string): string {
  return ESCAPES[letter] ?? letter;
}

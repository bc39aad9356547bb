/**
 * Colours code, line by line: words, strings, numbers and comments. It has a lexer for families of languages, not a
 * grammar.
 */

import { PEN, type Row, type RowPiece } from "../rows.ts";

/** The comment or string of several lines in which a line begins, by its end mark. */
export type CodeState = string | undefined;

export interface CodeLine {
  readonly row: Row;
  readonly state: CodeState;
}

interface Family {
  readonly line: readonly string[];
  /** Comments and strings of several lines: begin, end, pen. */
  readonly long: readonly (readonly [begin: string, end: string, pen: string])[];
  readonly quotes: string;
  readonly words: ReadonlySet<string>;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const C_COMMENT = ["/*", "*/", PEN.comment] as const;

const SCRIPT: Family = {
  line: ["//"],
  long: [C_COMMENT, ["`", "`", PEN.string]],
  quotes: "\"'",
  words: words(
    "abstract any as async await boolean break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number of private protected public readonly return satisfies set static string super switch this throw true try type typeof undefined unknown using var void while yield",
  ),
};

const CURLY: Family = {
  line: ["//"],
  long: [C_COMMENT],
  quotes: "\"'",
  words: words(
    "abstract and as async auto await bool boolean break byte case catch chan char class const constexpr continue crate default defer delete do double dyn else enum explicit export extends extern f32 f64 false final finally fn float for fun func go goto i32 i64 if impl implements import in include inline int int64 interface internal let long loop map match mod mut namespace new nil null nullptr object operator override package private protected pub public range ref return select self short signed sizeof static str string struct super switch template this throw throws trait true try type typedef u32 u64 u8 union unsafe unsigned use using usize val var virtual void volatile when where while",
  ),
};

const PYTHON: Family = {
  line: ["#"],
  long: [
    ['"""', '"""', PEN.string],
    ["'''", "'''", PEN.string],
  ],
  quotes: "\"'",
  words: words(
    "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
  ),
};

const SHELL: Family = {
  line: ["#"],
  long: [],
  quotes: "\"'",
  words: words(
    "alias case cd do done echo elif else esac eval exec exit export fi for function if in local read return set shift source sudo test then trap unset until while begin def end elsif module require unless nil true false",
  ),
};

const SQL: Family = {
  line: ["--"],
  long: [C_COMMENT],
  quotes: "'",
  words: words(
    "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with",
  ),
};

const DATA: Family = {
  line: ["#"],
  long: [],
  quotes: "\"'",
  words: words("true false null yes no on off"),
};

const FAMILIES: Readonly<Record<string, Family>> = {
  ...of(SCRIPT, "js jsx ts tsx mjs cjs mts cts javascript typescript"),
  ...of(CURLY, "c h cc cpp c++ cs csharp java kotlin kt go rust rs swift scala dart php zig proto"),
  ...of(PYTHON, "py python python3"),
  ...of(SHELL, "sh bash zsh fish shell console ruby rb perl makefile dockerfile"),
  ...of(SQL, "sql postgres sqlite mysql"),
  ...of(DATA, "json json5 jsonc yaml yml toml ini env"),
};

function of(family: Family, names: string): Record<string, Family> {
  return Object.fromEntries(names.split(" ").map((name) => [name, family]));
}

/** Longer lines were not written for reading: their colours would cost more than the text. */
const MAX_CHARS = 2000;

export function highlight(line: string, language: string, state: CodeState): CodeLine {
  if (language === "diff" || language === "patch")
    return { row: toDiffRow(line), state: undefined };
  const family = Object.hasOwn(FAMILIES, language) ? FAMILIES[language] : undefined;
  if (!family || line.length > MAX_CHARS) return { row: [{ text: line, pen: "" }], state };
  return new Lexer(line, family).read(state);
}

export function toDiffRow(line: string): Row {
  if (line.startsWith("+")) return [{ text: line, pen: PEN.good }];
  if (line.startsWith("-")) return [{ text: line, pen: PEN.bad }];
  return [{ text: line, pen: line.startsWith("@@") ? PEN.busy : "" }];
}

const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const NUMBER = /(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)n?/iy;

class Lexer {
  readonly #line: string;
  readonly #family: Family;
  readonly #pieces: RowPiece[] = [];
  #at = 0;

  constructor(line: string, family: Family) {
    this.#line = line;
    this.#family = family;
  }

  read(state: CodeState): CodeLine {
    let end = state;
    if (end !== undefined) end = this.#readLong(end, this.#penOf(end), 0);
    while (this.#at < this.#line.length) end = this.#readNext();
    return { row: this.#pieces, state: end };
  }

  #readNext(): CodeState {
    const line = this.#line;
    if (this.#family.line.some((sign) => line.startsWith(sign, this.#at) && this.#isFree(sign))) {
      this.#put(line.length, PEN.comment);
      return undefined;
    }
    const long = this.#family.long.find(([begin]) => line.startsWith(begin, this.#at));
    if (long) return this.#readLong(long[1], long[2], long[0].length);
    const character = line[this.#at] ?? "";
    if (this.#family.quotes.includes(character))
      this.#put(this.#endOfString(character), PEN.string);
    else this.#readWord();
    return undefined;
  }

  /** `#` in the middle of a word does not begin a comment. */
  #isFree(sign: string): boolean {
    return sign !== "#" || this.#at === 0 || /\s/.test(this.#line[this.#at - 1] ?? "");
  }

  #readLong(end: string, pen: string, skip: number): CodeState {
    const found = this.#line.indexOf(end, this.#at + skip);
    this.#put(found < 0 ? this.#line.length : found + end.length, pen);
    return found < 0 ? end : undefined;
  }

  #penOf(end: string): string {
    return this.#family.long.find(([, other]) => other === end)?.[2] ?? "";
  }

  #endOfString(quote: string): number {
    for (let at = this.#at + 1; at < this.#line.length; at++) {
      if (this.#line[at] === "\\") at++;
      else if (this.#line[at] === quote) return at + 1;
    }
    return this.#line.length;
  }

  #readWord(): void {
    WORD.lastIndex = this.#at;
    const [word] = WORD.exec(this.#line) ?? [];
    if (word !== undefined) {
      const isKnown =
        this.#family.words.has(word) || (this.#family === SQL && SQL.words.has(word.toLowerCase()));
      return this.#put(this.#at + word.length, isKnown ? PEN.keyword : "");
    }
    NUMBER.lastIndex = this.#at;
    const [number] = NUMBER.exec(this.#line) ?? [];
    if (number !== undefined) return this.#put(this.#at + number.length, PEN.number);
    this.#put(this.#at + 1, "");
  }

  #put(end: number, pen: string): void {
    const text = this.#line.slice(this.#at, end);
    const last = this.#pieces.at(-1);
    // Neighbours with the same pen are one piece.
    if (last?.pen === pen) this.#pieces[this.#pieces.length - 1] = { text: last.text + text, pen };
    else this.#pieces.push({ text, pen });
    this.#at = end;
  }
}

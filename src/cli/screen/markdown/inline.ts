/**
 * The marks inside a line of Markdown: strong, emphasis, code, strike, links. For text that still comes: says up to
 * where nothing that follows can change how it looks, and what is open at any place, so that a long line can be
 * printed in pieces. Not all of CommonMark: what models write.
 */

import { joinPens, PEN, type Piece } from "../rows.ts";

export interface InlinePiece extends Piece {
  /** Where its text stands in the source. */
  readonly start: number;
  readonly end: number;
  /** Where to read on in the source for what begins with it; undefined where it belongs to the piece before it. */
  readonly resume: number | undefined;
  /** What is open before it. */
  readonly open: readonly Mark[];
  /** Code and links: the source cannot be read on from inside of it. */
  readonly isWhole: boolean;
}

export interface Inline {
  readonly pieces: readonly InlinePiece[];
  /** Up to here (in the source) more text changes nothing. */
  readonly safe: number;
  /** What is open at the end. */
  readonly open: readonly Mark[];
}

export type Mark = "**" | "__" | "*" | "_" | "~~";

const MARK_PENS: Readonly<Record<Mark, string>> = {
  "**": PEN.bold,
  __: PEN.bold,
  "*": PEN.italic,
  _: PEN.italic,
  "~~": PEN.strike,
};

interface InlineWish {
  /** What was open where the source begins. */
  readonly open?: readonly Mark[];
  /** Whether the line has ended: what is open then was never a mark. */
  readonly isEnded: boolean;
  /** Of the whole line: a heading, a quote. */
  readonly pen?: string;
}

export function parseInline(source: string, wish: InlineWish): Inline {
  const parser = new Parser(source, wish);
  return parser.parse();
}

const SPECIAL = /[\\`*_~[]|https?:\/\//g;
const LINK = /\[([^\]\n]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"]*")?\)/y;
/** A link that more text may complete. */
const OPEN_LINK = /\[[^\]\n]*(?:\](?:\([^)\n]*)?)?$/y;
const ADDRESS = /https?:\/\/[^\s<>"'`\])}]*[^\s<>"'`\])}.,;:!?]/y;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

class Parser {
  readonly #source: string;
  readonly #isEnded: boolean;
  readonly #pen: string;
  readonly #pieces: InlinePiece[] = [];
  #open: Mark[];
  #at = 0;
  /** Where plain text began that is not a piece yet. */
  #plain = 0;
  #safe: number;
  /** Marks of which no end follows: looked for once. */
  readonly #endless = new Set<string>();

  constructor(source: string, { open = [], isEnded, pen = "" }: InlineWish) {
    this.#source = source;
    this.#isEnded = isEnded;
    this.#pen = pen;
    this.#open = [...open];
    this.#safe = source.length;
  }

  parse(): Inline {
    const source = this.#source;
    while (this.#at < source.length) {
      SPECIAL.lastIndex = this.#at;
      const found = SPECIAL.exec(source);
      if (!found) break;
      this.#at = found.index;
      this.#readSpecial(found[0]);
    }
    this.#putPlain(source.length);
    return { pieces: this.#pieces, safe: this.#safe, open: this.#open };
  }

  #readSpecial(sign: string): void {
    if (sign === "\\") return this.#readEscaped();
    if (sign === "`") return this.#readCode();
    if (sign === "[") return this.#readLink();
    if (sign.length > 1) return this.#readAddress();
    this.#readMark(sign);
  }

  #readEscaped(): void {
    const next = this.#source[this.#at + 1];
    if (next === undefined) return this.#leaveOpen(1);
    if (!PUNCTUATION.test(next)) {
      this.#at++;
      return;
    }
    this.#putPlain(this.#at);
    this.#put(this.#at + 1, this.#at + 2, "", this.#at);
    this.#at += 2;
    this.#plain = this.#at;
  }

  #readCode(): void {
    const [ticks = "`"] = /^`+/.exec(this.#source.slice(this.#at)) ?? [];
    const start = this.#at + ticks.length;
    if (start === this.#source.length) return this.#leaveOpen(ticks.length);
    const end = this.#findEnd(ticks, start);
    if (end < 0 && this.#isEnded) {
      this.#at = start;
      return;
    }
    this.#putPlain(this.#at);
    if (end < 0) this.#isUnsure(this.#at);
    const stop = end < 0 ? this.#source.length : end;
    this.#putCode(this.#at, start, stop);
    this.#at = end < 0 ? stop : end + ticks.length;
    this.#plain = this.#at;
  }

  #findEnd(ticks: string, from: number): number {
    if (this.#endless.has(ticks)) return -1;
    let at = from;
    for (;;) {
      at = this.#source.indexOf(ticks, at);
      if (at < 0) {
        this.#endless.add(ticks);
        return -1;
      }
      let end = at;
      while (this.#source[end] === "`") end++;
      if (end - at === ticks.length) return at;
      at = end;
    }
  }

  #readLink(): void {
    LINK.lastIndex = this.#at;
    const found = LINK.exec(this.#source);
    if (!found) {
      OPEN_LINK.lastIndex = this.#at;
      if (!this.#isEnded && OPEN_LINK.test(this.#source)) this.#isUnsure(this.#at);
      this.#at++;
      return;
    }
    const [whole, label = "", address = ""] = found;
    this.#putPlain(this.#at);
    const end = this.#at + whole.length;
    const isSame = label === "" || label === address;
    const shown = { start: this.#at, end, open: [...this.#open], isWhole: true };
    const [text, resume] = [isSame ? address : label, this.#at];
    this.#pieces.push({ ...shown, text, resume, pen: this.#join(PEN.link) });
    if (!isSame && address !== "") {
      const more = { text: ` (${address})`, resume: undefined };
      this.#pieces.push({ ...shown, ...more, pen: this.#join(PEN.dim) });
    }
    this.#at = end;
    this.#plain = end;
  }

  #readAddress(): void {
    ADDRESS.lastIndex = this.#at;
    const found = ADDRESS.exec(this.#source);
    if (!found) {
      this.#at++;
      return;
    }
    this.#putPlain(this.#at);
    this.#put(this.#at, this.#at + found[0].length, PEN.link);
    this.#at += found[0].length;
    this.#plain = this.#at;
  }

  #readMark(sign: string): void {
    const source = this.#source;
    const isTwo = source[this.#at + 1] === sign;
    const size = isTwo ? 2 : 1;
    const after = source[this.#at + size];
    // More of them may come.
    if (after === undefined && !this.#isEnded && this.#open.length === 0)
      return this.#leaveOpen(size);
    const mark = (isTwo ? sign + sign : sign) as Mark | "~";
    if (mark === "~") {
      this.#at++;
      return;
    }
    const before = this.#at === 0 ? undefined : source[this.#at - 1];
    if (this.#open.includes(mark) && canClose(mark, before, after)) return this.#close(mark);
    if (canOpen(mark, before, after)) return this.#tryOpen(mark);
    this.#at += size;
  }

  #close(mark: Mark): void {
    this.#putPlain(this.#at);
    this.#open = this.#open.filter((one) => one !== mark);
    this.#at += mark.length;
    this.#plain = this.#at;
  }

  #tryOpen(mark: Mark): void {
    const hasEnd = this.#hasEnd(mark, this.#at + mark.length);
    if (!hasEnd && this.#isEnded) {
      this.#at += mark.length;
      return;
    }
    if (!hasEnd) this.#isUnsure(this.#at);
    this.#putPlain(this.#at);
    // Once: its first end closes all of them, and an answer of nothing but stars must not cost more and more.
    if (!this.#open.includes(mark)) this.#open = [...this.#open, mark];
    this.#at += mark.length;
    this.#plain = this.#at;
  }

  /** Whether its end is there for sure: the last characters of a line that goes on may become another mark. */
  #hasEnd(mark: Mark, from: number): boolean {
    if (this.#endless.has(mark)) return false;
    for (let at = this.#source.indexOf(mark, from + 1); at >= 0; ) {
      const after = this.#source[at + mark.length];
      if (after === undefined && !this.#isEnded) break;
      const isOther = mark.length === 1 && (after === mark || this.#source[at - 1] === mark);
      if (!isOther && canClose(mark, this.#source[at - 1], after)) return true;
      at = this.#source.indexOf(mark, at + 1);
    }
    this.#endless.add(mark);
    return false;
  }

  /** The last characters may be a mark: not shown before it is known. */
  #leaveOpen(size: number): void {
    if (this.#isEnded) {
      this.#at += size;
      return;
    }
    this.#putPlain(this.#at);
    this.#isUnsure(this.#at);
    this.#at += size;
    this.#plain = this.#at;
  }

  #isUnsure(at: number): void {
    this.#safe = Math.min(this.#safe, at);
  }

  #putPlain(end: number): void {
    if (end > this.#plain) this.#put(this.#plain, end, "");
    this.#plain = end;
  }

  #put(start: number, end: number, pen: string, resume = start): void {
    const text = this.#source.slice(start, end);
    const open = [...this.#open];
    this.#pieces.push({ text, start, end, open, resume, isWhole: false, pen: this.#join(pen) });
  }

  /** `resume` is where its ticks begin; its end is after them. */
  #putCode(resume: number, start: number, stop: number): void {
    const end = Math.min(this.#source.length, stop + (start - resume));
    const text = this.#source.slice(start, stop);
    const open = [...this.#open];
    this.#pieces.push({ text, start, end, open, resume, isWhole: true, pen: this.#join(PEN.code) });
  }

  #join(pen: string): string {
    const marks = this.#open.reduce((all, mark) => joinPens(all, MARK_PENS[mark]), this.#pen);
    return joinPens(marks, pen);
  }
}

function canOpen(mark: Mark, before: string | undefined, after: string | undefined): boolean {
  if (after === undefined || /\s/.test(after)) return false;
  return !mark.startsWith("_") || before === undefined || !/[\p{L}\p{N}]/u.test(before);
}

function canClose(mark: Mark, before: string | undefined, after: string | undefined): boolean {
  if (before !== undefined && /\s/.test(before)) return false;
  return !mark.startsWith("_") || after === undefined || !/[\p{L}\p{N}]/u.test(after);
}

/**
 * The marks inside a line of Markdown: strong, emphasis, code, strike, links. For streaming text: it says up to where
 * later text cannot change the style, and which marks are open at any position, so that a long line can be printed in
 * pieces. It reads what models write, which is not all of CommonMark.
 */

import { joinPens, PEN, type RowPiece } from "../rows.ts";

export interface InlinePiece extends RowPiece {
  /** Position of its text in the source. */
  readonly start: number;
  readonly end: number;
  /**
   * Position at which reading can resume in the source; undefined if it belongs to the piece before it.
   */
  readonly resume: number | undefined;
  /** Marks that are open before it. */
  readonly open: readonly InlineMark[];
  /** True for code and links: reading cannot resume inside them. */
  readonly isWhole: boolean;
}

export interface Inline {
  readonly pieces: readonly InlinePiece[];
  /** More text cannot change the style up to this position of the source. */
  readonly safe: number;
  /** Marks that are open at the end. */
  readonly open: readonly InlineMark[];
}

export type InlineMark = "**" | "__" | "*" | "_" | "~~";

const MARK_PENS: Readonly<Record<InlineMark, string>> = {
  "**": PEN.bold,
  __: PEN.bold,
  "*": PEN.italic,
  _: PEN.italic,
  "~~": PEN.strike,
};

interface InlineWish {
  /** Marks that were open where the source begins. */
  readonly open?: readonly InlineMark[];
  /** True if the line has ended: marks that are open then are plain text. */
  readonly isEnded: boolean;
  /** The pen of the whole line: a heading, a quote. */
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
  #open: InlineMark[];
  #at = 0;
  /** The beginning of plain text that is not a piece yet. */
  #plain = 0;
  #safe: number;
  /** Marks without an end in the rest of the line: searched once. */
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
    const text = isSame ? address : label;
    const resume = this.#at;
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
    // More mark characters may follow.
    if (after === undefined && !this.#isEnded && this.#open.length === 0)
      return this.#leaveOpen(size);
    const mark = (isTwo ? sign + sign : sign) as InlineMark | "~";
    if (mark === "~") {
      this.#at++;
      return;
    }
    const before = this.#at === 0 ? undefined : source[this.#at - 1];
    if (this.#open.includes(mark) && canClose(mark, before, after)) return this.#close(mark);
    if (canOpen(mark, before, after)) return this.#tryOpen(mark);
    this.#at += size;
  }

  #close(mark: InlineMark): void {
    this.#putPlain(this.#at);
    this.#open = this.#open.filter((one) => one !== mark);
    this.#at += mark.length;
    this.#plain = this.#at;
  }

  #tryOpen(mark: InlineMark): void {
    const hasEnd = this.#hasEnd(mark, this.#at + mark.length);
    if (!hasEnd && this.#isEnded) {
      this.#at += mark.length;
      return;
    }
    if (!hasEnd) this.#isUnsure(this.#at);
    this.#putPlain(this.#at);
    // Opened once: the first end closes them all, and an answer of only stars must not cost more and more.
    if (!this.#open.includes(mark)) this.#open = [...this.#open, mark];
    this.#at += mark.length;
    this.#plain = this.#at;
  }

  /**
   * True if its end is certain: the last characters of an unfinished line may become another mark.
   */
  #hasEnd(mark: InlineMark, from: number): boolean {
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

  /** The last characters may be a mark: not shown before that is known. */
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

  /** `resume` is the beginning of its ticks; its end is after them. */
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

function canOpen(mark: InlineMark, before: string | undefined, after: string | undefined): boolean {
  if (after === undefined || /\s/.test(after)) return false;
  return !mark.startsWith("_") || before === undefined || !/[\p{L}\p{N}]/u.test(before);
}

function canClose(
  mark: InlineMark,
  before: string | undefined,
  after: string | undefined,
): boolean {
  if (before !== undefined && /\s/.test(before)) return false;
  return !mark.startsWith("_") || after === undefined || !/[\p{L}\p{N}]/u.test(after);
}

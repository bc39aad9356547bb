/**
 * Turns what a terminal sends into keys, texts and pastes. Pieces may end anywhere: in a sequence, in a paste. It
 * reads the legacy codes, kitty's keyboard protocol and xterm's modifyOtherKeys. An unknown sequence is dropped whole
 * and never becomes text.
 */

export interface KeyPress {
  readonly type: "key";
  /** `enter`, `tab`, `up`, `a`, …; a letter is in lower case, with `shift` if it was not. */
  readonly name: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

export type Typed =
  | KeyPress
  /** Typed text, or text of an input method, without control characters. */
  | { readonly type: "text"; readonly text: string }
  /** Pasted text, with `\n` at its line ends. */
  | { readonly type: "paste"; readonly text: string };

/** `ctrl-c`, `alt-shift-left`: a key with its modifiers, in one order. */
export function toChord({ ctrl, alt, shift, name }: KeyPress): string {
  return `${ctrl ? "ctrl-" : ""}${alt ? "alt-" : ""}${shift ? "shift-" : ""}${name}`;
}

export interface KeyDecoder {
  feed(piece: string): Typed[];
  /** True if the last piece ended in a possible beginning of a sequence, or with the Escape key. */
  readonly isOpen: boolean;
  /**
   * Call it if nothing followed in time: the open part is the Escape key, or Alt with another key. Not in a paste.
   */
  flush(): Typed[];
}

const ESC = "\x1b";
const CTRL_C = "\x03";
const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** Something longer is not a sequence. */
const MAX_SEQUENCE = 64;

export function createKeyDecoder(): KeyDecoder {
  return new Decoder();
}

class Decoder implements KeyDecoder {
  /** The possible beginning of a sequence. */
  #rest = "";
  /** The pieces of a paste that has not ended: joined once, however many there are. */
  #pasted: string[] | undefined;
  /** The last characters of the paste, which may begin its end mark. */
  #tail = "";

  get isOpen(): boolean {
    return this.#rest !== "" && !this.#pasted;
  }

  feed(piece: string): Typed[] {
    // A connection may lose the end of a paste. Then Ctrl-C alone ends it, and no text is lost.
    if (this.#pasted && piece === CTRL_C) return this.#readEnd();
    const typed: Typed[] = [];
    let text = this.#rest + piece;
    this.#rest = "";
    while (text !== "")
      text = this.#pasted ? this.#readPaste(text, typed) : this.#read(text, typed);
    return typed;
  }

  flush(): Typed[] {
    if (this.#pasted || this.#rest === "") return [];
    const rest = this.#rest;
    this.#rest = "";
    if (rest === ESC) return [toKey("escape")];
    // `ESC [` and `ESC O` alone are Alt with that key.
    const [, second = ""] = rest;
    return rest.length === 2 ? [withAlt(toPlain(second))] : [];
  }

  /** Returns the text that is still to be read. */
  #readPaste(text: string, typed: Typed[]): string {
    const pasted = this.#pasted ?? [];
    const all = this.#tail + text;
    const end = all.indexOf(PASTE_END);
    if (end < 0) {
      const safe = Math.max(0, all.length - PASTE_END.length + 1);
      pasted.push(all.slice(0, safe));
      this.#tail = all.slice(safe);
      return "";
    }
    pasted.push(all.slice(0, end));
    typed.push({ type: "paste", text: toPasted(pasted.join("")) });
    this.#pasted = undefined;
    this.#tail = "";
    return all.slice(end + PASTE_END.length);
  }

  #readEnd(): Typed[] {
    const typed: Typed[] = [];
    this.#readPaste(PASTE_END, typed);
    return typed;
  }

  #read(text: string, typed: Typed[]): string {
    const [first = ""] = text;
    if (first !== ESC) {
      const [run = first] = PLAIN_TEXT.exec(text) ?? [];
      typed.push(PLAIN_TEXT.test(text) ? { type: "text", text: run } : toPlain(first));
      return text.slice(run.length);
    }
    const [sequence = ""] = SEQUENCE.exec(text) ?? [];
    if (sequence === PASTE_START) {
      this.#pasted = [];
      return text.slice(sequence.length);
    }
    if (sequence !== "") {
      const key = toSequenceKey(sequence);
      if (key) typed.push(key);
      return text.slice(sequence.length);
    }
    return this.#readEscape(text, typed);
  }

  /** Reads an incomplete sequence, or a key with Alt. */
  #readEscape(text: string, typed: Typed[]): string {
    if (BEGINNING.test(text) && text.length < MAX_SEQUENCE) {
      this.#rest = text;
      return "";
    }
    const [, second = ""] = text;
    if (second === ESC) {
      typed.push(toKey("escape"));
      return text.slice(1);
    }
    const character = String.fromCodePoint(text.codePointAt(1) ?? 0);
    typed.push(withAlt(toPlain(character)));
    return text.slice(1 + character.length);
  }
}

/** A run without control characters. */
const PLAIN_TEXT = /^\P{Cc}+/u;
/** CSI, SS3, and the strings that a terminal may send as answers: OSC, DCS, APC, PM, SOS. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are the sequences
const SEQUENCE = /^\x1b(?:\[\[?[0-?]*[ -/]*[@-~]|O[ -~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\))/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const BEGINNING = /^\x1b(?:$|O$|\[\[?[0-?]*[ -/]*$|[\]PX^_][^\x07\x1b]*\x1b?$)/;

function toKey(name: string, parts: Partial<Omit<KeyPress, "type" | "name">> = {}): KeyPress {
  return { type: "key", name, ctrl: false, alt: false, shift: false, ...parts };
}

/** Control characters and their keys. */
const CONTROL_KEYS: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
};

/** A character that is typed without a sequence. */
function toPlain(character: string): Typed {
  const code = character.codePointAt(0) ?? 0;
  const name = CONTROL_KEYS[code];
  if (name !== undefined) return toKey(name, { ctrl: code === 8 });
  // Ctrl-J: a line break in every terminal.
  if (code === 0) return toKey("space", { ctrl: true });
  if (code < 27) return toKey(String.fromCharCode(code + 96), { ctrl: true });
  if (code < 32) return toKey(String.fromCharCode(code + 64), { ctrl: true });
  if (code > 0x7f && code < 0xa0) return { type: "text", text: "" };
  return { type: "text", text: character };
}

function withAlt(typed: Typed): Typed {
  if (typed.type === "key") return { ...typed, alt: true };
  const name = typed.text.toLowerCase();
  return toKey(name, { alt: true, shift: name !== typed.text });
}

/** Keys by the last character of `CSI … X` and `SS3 X`. */
const LETTER_KEYS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "begin",
  F: "end",
  H: "home",
  I: "focus",
  O: "blur",
  M: "enter",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  Z: "tab",
};

/** Keys by the number of `CSI N ~`. */
const NUMBER_KEYS: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
};

function toSequenceKey(sequence: string): Typed | undefined {
  const [, numbers = "", last = ""] =
    /^(?:\[|O)([0-9;:]*)([A-Za-z~])$/.exec(sequence.slice(1)) ?? [];
  const [first, second, third] = numbers.split(";");
  if (last === "u") return toUnicodeKey(first, second, third);
  if (last === "~" && first === "27") return toUnicodeKey(third, second, undefined);
  const isNumbered = last === "~";
  const name = isNumbered ? NUMBER_KEYS[Number(first)] : LETTER_KEYS[last];
  if (name === undefined || name === "focus" || name === "blur") return undefined;
  const held = toHeld(second);
  return held && toKey(name, last === "Z" ? { ...held, shift: true } : held);
}

/** The form of kitty and xterm: a code point, its modifiers, and the resulting text. */
function toUnicodeKey(
  code: string | undefined,
  modifiers: string | undefined,
  text: string | undefined,
): Typed | undefined {
  const [main = "", shifted] = (code ?? "").split(":");
  const point = Number(main);
  const held = toHeld(modifiers);
  if (!held || main === "" || !isCodePoint(point)) return undefined;
  const name = CONTROL_KEYS[point] ?? (point === 57414 ? "enter" : undefined);
  if (name !== undefined) return toKey(name, held);
  // The private use area names keys that have no character: Caps Lock, media keys.
  if (point < 32 || (point >= 57344 && point <= 63743)) return undefined;
  if (held.ctrl || held.alt) return toHeldKey(point, held);
  return { type: "text", text: toTyped(String.fromCodePoint(point), { held, text, shifted }) };
}

/** The text from the terminal, else the letter with Shift applied. */
function toTyped(
  plain: string,
  {
    held,
    text = "",
    shifted = "",
  }: { held: Held; text?: string | undefined; shifted?: string | undefined },
): string {
  const own = text === "" ? undefined : toText(text);
  if (own !== undefined) return own;
  if (!held.shift) return plain;
  return (shifted === "" ? undefined : toText(shifted)) ?? plain.toUpperCase();
}

function toHeldKey(point: number, held: Held): Typed {
  const character = String.fromCodePoint(point);
  const name = point === 32 ? "space" : character.toLowerCase();
  return toKey(name, { ...held, shift: held.shift || (name !== character && point !== 32) });
}

type Held = Omit<KeyPress, "type" | "name">;

/**
 * `5`, or `5:3` with the kind of event. Undefined for the release of a key, and for a value that no terminal sends.
 */
function toHeld(field: string | undefined): Held | undefined {
  const [mask = "", kind] = (field ?? "").split(":");
  if (kind === "3") return undefined;
  const bits = mask === "" ? 0 : Number(mask) - 1;
  return { shift: (bits & 1) !== 0, alt: (bits & 10) !== 0, ctrl: (bits & 4) !== 0 };
}

/** `97:98`: code points. Control characters among them are left out. */
function toText(field: string): string | undefined {
  const points = field.split(":").map(Number);
  if (!points.every(isCodePoint)) return undefined;
  const text = String.fromCodePoint(...points);
  return /\p{Cc}/u.test(text) ? undefined : text;
}

function isCodePoint(point: number): boolean {
  return Number.isInteger(point) && point > 0 && point <= 0x10ffff;
}

/** Line ends become `\n`; of control characters only tabs and line breaks stay. */
function toPasted(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(SEQUENCES_IN_PASTE, "")
    .replace(CONTROLS_IN_PASTE, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const SEQUENCES_IN_PASTE = /\x1b\[[0-?]*[ -/]*[@-~]/g;
const CONTROLS_IN_PASTE = /(?![\t\n])\p{Cc}/gu;

/**
 * What a terminal sends, as keys, texts and pastes. Pieces may end anywhere: in a sequence, in a paste. Reads the
 * legacy codes, kitty's keyboard protocol and xterm's modifyOtherKeys; a sequence that means nothing here is left out,
 * and nothing of it becomes text.
 */

export interface Key {
  readonly type: "key";
  /** `enter`, `tab`, `up`, `a`, …; a letter is lower case, with `shift` where it was not. */
  readonly name: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

export type Typed =
  | Key
  /** What was typed or came from an input method, without control characters. */
  | { readonly type: "text"; readonly text: string }
  /** What was pasted, with `\n` at its line ends. */
  | { readonly type: "paste"; readonly text: string };

/** `ctrl-c`, `alt-shift-left`: a key with what is held, in one order. */
export function toChord({ ctrl, alt, shift, name }: Key): string {
  return `${ctrl ? "ctrl-" : ""}${alt ? "alt-" : ""}${shift ? "shift-" : ""}${name}`;
}

export interface KeyDecoder {
  feed(piece: string): Typed[];
  /** Whether the last piece ended in what may be the beginning of a sequence, or the Escape key. */
  readonly isOpen: boolean;
  /** Nothing followed in time: what is open is the Escape key, or Alt with another. Not in a paste. */
  flush(): Typed[];
}

const ESC = "\x1b";
const CTRL_C = "\x03";
const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** A sequence that is longer was not begun as one. */
const MAX_SEQUENCE = 64;

export function createKeyDecoder(): KeyDecoder {
  return new Decoder();
}

class Decoder implements KeyDecoder {
  /** What may be the beginning of a sequence. */
  #rest = "";
  /** The pieces of a paste that has not ended: joined once, however many there are. */
  #pasted: string[] | undefined;
  /** The last characters of the paste, which may be the beginning of its end. */
  #tail = "";

  get isOpen(): boolean {
    return this.#rest !== "" && !this.#pasted;
  }

  feed(piece: string): Typed[] {
    // A connection may lose the end of a paste. Ctrl-C alone ends it then: nothing that came is lost.
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

  /** Returns what is still to be read. */
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

  /** No whole sequence: the beginning of one, or a key with Alt. */
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
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are the keys
const PLAIN_TEXT = /^[^\x00-\x1f\x7f-\x9f]+/;
/** CSI, SS3, and the strings that a terminal may send as answers: OSC, DCS, APC, PM, SOS. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are the sequences
const SEQUENCE = /^\x1b(?:\[\[?[0-?]*[ -/]*[@-~]|O[ -~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\))/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const BEGINNING = /^\x1b(?:$|O$|\[\[?[0-?]*[ -/]*$|[\]PX^_][^\x07\x1b]*\x1b?$)/;

function toKey(name: string, parts: Partial<Omit<Key, "type" | "name">> = {}): Key {
  return { type: "key", name, ctrl: false, alt: false, shift: false, ...parts };
}

/** Control characters by their keys. */
const CONTROL_KEYS: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
};

/** One character that is typed without a sequence. */
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

/** By the last character of `CSI … X` and `SS3 X`. */
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

/** By the number of `CSI N ~`. */
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

/** Kitty's and xterm's form: a code point, what is held with it, and the text that it makes. */
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

/** The text that the terminal tells, else the letter as Shift makes it. */
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

type Held = Omit<Key, "type" | "name">;

/** `5`, or `5:3` with the kind of event: a key that is let go is none. One that no terminal sends is none, either. */
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

/** Lines end as ours do; of control characters tabs and line breaks alone are text. */
function toPasted(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(SEQUENCES_IN_PASTE, "")
    .replace(CONTROLS_IN_PASTE, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const SEQUENCES_IN_PASTE = /\x1b\[[0-?]*[ -/]*[@-~]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const CONTROLS_IN_PASTE = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

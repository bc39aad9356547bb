/**
 * The keys of a live tree: arrows (or j and k) select a subagent, `x` stops it when `y` and Enter follow, `m` writes
 * a message for it. It is a state machine over what the terminal sends; it draws nothing and reads nothing itself.
 * Text that a person types ahead, for after the run, must not stop a subagent: a key without a meaning ends the
 * selection.
 */

import { toFailure } from "../../base/failure.ts";
import { cutToChars } from "../../base/text.ts";
import { cleanForTerminal } from "../terminal.ts";
import { clipToWidth, type StyledLine, widthOf } from "./live-block.ts";

/** The actions of a person on a subagent. Both may reject; the message is shown. */
export interface TreeControls {
  onStop(id: string): Promise<void>;
  onMessage(id: string, text: string): Promise<void>;
}

export interface KeyTargets extends TreeControls {
  /** The subagents that can be selected, in the order of the screen. */
  list(): readonly { readonly id: string; readonly name: string }[];
  /** Called when a redraw is needed. */
  onChange(): void;
}

type Mode =
  | { readonly type: "idle" }
  | { readonly type: "picked"; readonly id: string }
  | { readonly type: "confirming"; readonly id: string; readonly isSure: boolean }
  | { readonly type: "writing"; readonly id: string; readonly text: string };

const IDLE: Mode = { type: "idle" };
/** The longest message; a longer text should be a file. */
const MAX_CHARS = 4000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the keys
const KEY = /\x1b\[[0-?]*[ -/]*[@-~]|\x1bO[A-Z]|[\s\S]/gu;

/** How far each key moves the selection, and in which direction. */
const STEPS: Readonly<Record<string, number>> = {
  "\x1b[A": -1,
  "\x1bOA": -1,
  k: -1,
  "\x1b[B": 1,
  "\x1bOB": 1,
  j: 1,
};

export class TreeKeys {
  readonly #targets: KeyTargets;
  #mode: Mode = IDLE;
  /** The effect of the last key; shown until the next one. */
  #note = "";

  constructor(targets: KeyTargets) {
    this.#targets = targets;
  }

  get pickedId(): string | undefined {
    return this.#mode.type === "idle" ? undefined : this.#mode.id;
  }

  press(keys: string): void {
    for (const [key] of keys.matchAll(KEY)) this.#pressOne(key);
    this.#targets.onChange();
  }

  /**
   * A subagent that has ended cannot be selected any more: a key that was meant for it must not affect another.
   */
  forget(id: string): void {
    if (this.pickedId !== id) return;
    if (this.#mode.type !== "picked") this.#note = "It has ended.";
    this.#mode = IDLE;
  }

  /** The line below the tree; undefined if there is nothing to select. */
  hint(columns: number, isStyled: boolean): StyledLine | undefined {
    if (this.#mode.type === "idle") {
      if (this.#note !== "") return [{ text: clipToWidth(this.#note, columns), look: "dim" }];
      if (this.#targets.list().length === 0) return undefined;
      const text = `${isStyled ? "↑ ↓" : "up, down"} pick a subagent`;
      return [{ text: clipToWidth(text, columns), look: "dim" }];
    }
    const name = this.#nameOf(this.#mode.id);
    if (this.#mode.type === "picked") {
      const keys = "x stop · m message · Esc back";
      const text = this.#note === "" ? keys : `${this.#note} · ${keys}`;
      return [{ text: clipToWidth(text, columns), look: "dim" }];
    }
    if (this.#mode.type === "confirming") return toConfirming(name, this.#mode.isSure, columns);
    return toWriting(name, this.#mode.text, columns);
  }

  #pressOne(key: string): void {
    this.#note = "";
    const mode = this.#mode;
    if (mode.type === "writing") this.#write(mode, key);
    else if (mode.type === "confirming") this.#confirm(mode, key);
    else this.#pick(mode, key);
  }

  #pick(mode: Extract<Mode, { type: "idle" | "picked" }>, key: string): void {
    const step = STEPS[key];
    if (step !== undefined) this.#move(step);
    else if (mode.type === "idle") return;
    else if (key === "x") this.#mode = { type: "confirming", id: mode.id, isSure: false };
    else if (key === "m") this.#mode = { type: "writing", id: mode.id, text: "" };
    else this.#mode = IDLE;
  }

  #move(step: number): void {
    const targets = this.#targets.list();
    const at = targets.findIndex(({ id }) => id === this.pickedId);
    const from = at < 0 && step < 0 ? targets.length : at;
    const next = targets[Math.max(0, Math.min(from + step, targets.length - 1))];
    this.#mode = next ? { type: "picked", id: next.id } : IDLE;
  }

  #confirm({ id, isSure }: Extract<Mode, { type: "confirming" }>, key: string): void {
    if (!isSure && (key === "y" || key === "Y")) {
      this.#mode = { type: "confirming", id, isSure: true };
      return;
    }
    this.#mode = { type: "picked", id };
    if (!isSure || !isEnter(key)) return;
    this.#do(this.#targets.onStop(id), `Stopping ${this.#nameOf(id)}`);
  }

  #write({ id, text }: Extract<Mode, { type: "writing" }>, key: string): void {
    if (key === "\x1b") this.#mode = { type: "picked", id };
    else if (isEnter(key)) this.#send(id, text.trim());
    else this.#mode = { type: "writing", id, text: edit(text, key) };
  }

  #send(id: string, text: string): void {
    this.#mode = { type: "picked", id };
    if (text === "") return;
    this.#do(this.#targets.onMessage(id, text), `Left for ${this.#nameOf(id)}`);
  }

  #do(work: Promise<void>, done: string): void {
    this.#note = done;
    work.catch((thrown) => {
      this.#note = cleanForTerminal(toFailure(thrown).message);
      this.#targets.onChange();
    });
  }

  #nameOf(id: string): string {
    return this.#targets.list().find((target) => target.id === id)?.name ?? id;
  }
}

function isEnter(key: string): boolean {
  return key === "\r" || key === "\n";
}

function toConfirming(name: string, isSure: boolean, columns: number): StyledLine {
  const [head, tail] = isSure
    ? ["Enter stops ", " and all below it"]
    : ["Stop ", " and all below it? y, Enter"];
  const shown = clipToWidth(name, Math.max(8, columns - head.length - tail.length));
  return [{ text: `${head}${shown}${tail}`, look: "warn" }];
}

/** Applies Backspace, Ctrl-U, or typed text; other keys do nothing. */
function edit(text: string, key: string): string {
  if (key === "\x7f" || key === "\b") return [...text].slice(0, -1).join("");
  if (key === "\x15") return "";
  return cutToChars(text + cleanForTerminal(key).replace(/[\t\n]/g, " "), MAX_CHARS);
}

/** The line of a message that is being typed. If it is long, its end is shown. */
function toWriting(name: string, text: string, columns: number): StyledLine {
  const keys = " (Enter sends, Esc leaves)";
  const hint = text === "" ? keys : "";
  const head = `to ${clipToWidth(name, Math.max(8, Math.floor(columns / 3)))}: `;
  const room = columns - widthOf(head) - 1 - hint.length;
  let shown = text;
  while (widthOf(shown) > Math.max(1, room - 1)) shown = [...shown].slice(1).join("");
  const cut = shown === text ? shown : `…${shown}`;
  return [{ text: head, look: "dim" }, { text: `${cut}_` }, { text: hint, look: "dim" }];
}

/**
 * The terminal of a chat: its keys, its live rows, and the times at which a frame is drawn. It alone owns raw mode,
 * bracketed paste and the keyboard protocols: they are on while keys are read, and off for a question of another
 * program, for Ctrl-Z and at any exit.
 */

import type { Clock } from "../../base/clock.ts";
import type { Io, KeyReader, Output, TerminalTurn } from "../io.ts";
import type { FinishedLine, Picture } from "../screen/frame.ts";
import { createKeyDecoder, type Typed } from "../screen/keys.ts";
import { createLiveArea, type LiveArea } from "../screen/live-area.ts";
import { reflows } from "../terminal.ts";

/** Interval between frames of streaming text. A key is answered at once. */
const FRAME_MS = 50;
/**
 * Interval after a frame of many lines, which no person reads faster, and each of which writes the live rows again.
 * test/cli/screen/streamed-bytes.test.ts counts the bytes of a long answer.
 */
const FLOOD_MS = 150;
const FLOOD_CHARS = 400;
/** How long the rest of a sequence may take after its Escape, over SSH included. */
const ESCAPE_MS = 40;

/**
 * Nothing is drawn for this long after a change of size: the size decides which rows are ours, and tmux reports the
 * sizes of one drag up to a quarter of a second late.
 */
const REST_MS = 300;

/** Bracketed paste, kitty's keyboard protocol (distinguishes keys that look alike), xterm's modifyOtherKeys. */
const ON = "\x1b[?2004h\x1b[>1u\x1b[>4;1m";
/** Includes what a frame may have switched off if the process ended in the middle of it. */
export const OFF = "\x1b[>4;0m\x1b[<u\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?2026l";

export interface ScreenHandlers {
  onTyped(typed: Typed): void;
  /** Returns the live rows to show. It may call `print`. */
  toPicture(): Picture;
  onGone(): void;
}

export interface ChatScreen {
  /** True while another program has the terminal. */
  readonly isLent: boolean;
  readonly columns: number;
  /** The most rows of a picture. */
  readonly maxRows: number;
  print(lines: readonly FinishedLine[]): void;
  /** Asks for a redraw: soon, or `now` after a key. */
  refresh(when?: "soon" | "now"): void;
  /** Gives the terminal to another program until `work` ends. */
  lend<Out>(work: () => Promise<Out>): Promise<Out>;
  suspend(): void;
  /** Rings the bell, or shows a notification of the terminal's. */
  signal(bytes: string): void;
  /** Removes the live rows and gives the terminal back. */
  close(): void;
}

export interface ScreenParts {
  readonly io: Pick<Io, "openKeys" | "env"> & { readonly output: Output };
  readonly clock: Clock;
  /** Called whenever the terminal is switched to keys, and back. */
  readonly onTurn?: ((turn: TerminalTurn) => void) | undefined;
}

/** Undefined if no keys can be read. */
export function openChatScreen(
  parts: ScreenParts,
  handlers: ScreenHandlers,
): ChatScreen | undefined {
  const screen = new Screen(parts, handlers);
  return screen.open() ? screen : undefined;
}

class Screen implements ChatScreen {
  readonly #output: Output;
  readonly #openKeys: Io["openKeys"];
  readonly #clock: Clock;
  readonly #onTurn: ScreenParts["onTurn"];
  readonly #handlers: ScreenHandlers;
  readonly #area: LiveArea;
  readonly #decoder = createKeyDecoder();
  #keys: KeyReader | undefined;
  #escape: AbortController | undefined;
  #frame: AbortController | undefined;
  /** Set while the terminal may still change its size. */
  #rest: AbortController | undefined;
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #frameMs = FRAME_MS;
  #state: "drawn" | "lent" | "closed" = "drawn";
  /**
   * True if our rows were removed before the process was stopped: rows on the screen were drawn after it.
   */
  #isTakenOff = false;
  #stopResizing: (() => void) | undefined;

  constructor({ io, clock, onTurn }: ScreenParts, handlers: ScreenHandlers) {
    this.#output = io.output;
    this.#openKeys = io.openKeys;
    this.#clock = clock;
    this.#onTurn = onTurn;
    this.#handlers = handlers;
    this.#area = createLiveArea({
      output: io.output,
      reflows: reflows(io.env),
      now: () => clock.now(),
    });
  }

  open(): boolean {
    this.#keys = this.#openKeys({
      onKeys: (keys) => this.#read(keys),
      onSuspend: () => {
        this.#area.clear();
        this.#isTakenOff = true;
      },
      whole: {
        on: ON,
        off: OFF,
        onTurn: this.#onTurn,
        toFarewell: () => (this.isLent ? "" : this.#area.toErased()),
        onContinue: () => this.#continue(),
        onGone: () => this.#handlers.onGone(),
      },
    });
    this.#stopResizing = this.#output.onResize?.(() => this.#waitForSize());
    return this.#keys !== undefined;
  }

  get isLent(): boolean {
    return this.#state === "lent";
  }

  get columns(): number {
    return this.#area.columns;
  }

  get maxRows(): number {
    return this.#area.maxRows;
  }

  print(lines: readonly FinishedLine[]): void {
    this.#area.print(lines);
    this.refresh();
  }

  refresh(when: "soon" | "now" = "soon"): void {
    if (this.#state !== "drawn" || this.#rest) return;
    const sinceMs = this.#clock.now() - this.#drawnAtMs;
    if (when === "now" || sinceMs >= this.#frameMs) return this.#draw();
    if (this.#frame) return;
    const frame = new AbortController();
    this.#frame = frame;
    this.#clock.sleep(this.#frameMs - sinceMs, frame.signal).then(
      () => this.#draw(),
      () => {},
    );
  }

  #draw(): void {
    this.#frame?.abort();
    this.#frame = undefined;
    if (this.#state !== "drawn" || this.#rest) return;
    const length = this.#area.draw(this.#handlers.toPicture());
    this.#drawnAtMs = this.#clock.now();
    this.#frameMs = length !== undefined && length > FLOOD_CHARS ? FLOOD_MS : FRAME_MS;
    // A slow terminal gets the next frame when it has taken this one.
    if (length === undefined) this.refresh();
  }

  async lend<Out>(work: () => Promise<Out>): Promise<Out> {
    this.#area.clear();
    this.#state = "lent";
    this.#keys?.pause();
    try {
      return await work();
    } finally {
      this.#takeBack();
    }
  }

  /** The chat may have ended meanwhile. */
  #takeBack(): void {
    if (this.#state === "closed") return;
    this.#state = "drawn";
    this.#area.forget();
    this.#keys?.resume();
    this.refresh("now");
  }

  /**
   * The program that stopped this process with a signal has written over our rows, wherever they are now.
   */
  #continue(): void {
    if (!this.#isTakenOff) this.#area.forget();
    this.#isTakenOff = false;
    this.refresh("now");
  }

  /** Returns when the process is continued, or at once if it cannot be stopped. */
  suspend(): void {
    this.#keys?.suspend();
    this.refresh("now");
  }

  signal(bytes: string): void {
    if (this.#state === "drawn") void this.#output.draw?.(bytes);
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#area.clear();
    this.#state = "closed";
    this.#frame?.abort();
    this.#rest?.abort();
    this.#escape?.abort();
    this.#stopResizing?.();
    this.#keys?.close();
  }

  #read(keys: string): void {
    this.#escape?.abort();
    for (const typed of this.#decoder.feed(keys)) this.#handlers.onTyped(typed);
    if (this.#decoder.isOpen) this.#waitForSequence();
    this.refresh("now");
  }

  #waitForSize(): void {
    if (!this.#rest) this.#area.hearOfSize();
    this.#rest?.abort();
    const rest = new AbortController();
    this.#rest = rest;
    this.#clock.sleep(REST_MS, rest.signal).then(
      () => {
        this.#rest = undefined;
        this.refresh("now");
      },
      () => {},
    );
  }

  #waitForSequence(): void {
    const waiting = new AbortController();
    this.#escape = waiting;
    this.#clock.sleep(ESCAPE_MS, waiting.signal).then(
      () => {
        for (const typed of this.#decoder.flush()) this.#handlers.onTyped(typed);
        this.refresh("now");
      },
      () => {},
    );
  }
}

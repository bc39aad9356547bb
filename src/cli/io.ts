/** What a command may touch of the process. `bin.ts` makes the real one; tests make their own. */

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's home, where the user's configuration and records are. */
  readonly home: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The terminal itself, whatever the streams are; undefined where there is none to answer on. */
  openTerminal(): Terminal | undefined;
  /**
   * Reads single keys from the terminal until it is closed, and leaves the terminal as it was then.
   * Undefined where keys are not ours to read: standard input is no terminal, or another program reads
   * them.
   */
  openKeys(listener: KeyListener): KeyReader | undefined;
  /**
   * Calls back at each Ctrl-C, SIGTERM and closing of the terminal, until the returned function is
   * called. With `hangups: "terminal"` SIGHUP counts only when the terminal is really gone.
   */
  onInterrupt(callback: (signal: InterruptSignal) => void, options?: InterruptOptions): () => void;
  /**
   * Calls back when nobody reads standard output any more (`| head`), until the returned function is
   * called. Without a listener the process leaves then, with 0.
   */
  onReaderGone(callback: () => void): () => void;
  /** Leaves at once; for the second Ctrl-C alone. */
  leave(exitCode: number): never;
}

export interface Input {
  readonly isTerminal: boolean;
  /** Whether something is really piped in: a terminal, a closed or an inherited idle stdin is not. */
  readonly isPiped: boolean;
  /** The whole of it; rejects with `invalid_request` past `maxBytes`. */
  readAll(maxBytes: number): Promise<Buffer>;
  /** What comes, as it comes, to its end: for programs that speak a protocol. Not together with `readAll`. */
  readonly chunks?: (() => AsyncIterable<Uint8Array | string>) | undefined;
}

export interface Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  /** How many lines a terminal has; 24 where it is left out. */
  readonly rows?: number | undefined;
  /** Whether text may be dimmed, and whether lines may be drawn over; as a terminal where it is left out. */
  readonly isStyled?: boolean | undefined;
  readonly isRedrawn?: boolean | undefined;
  /** Calls back when a terminal has changed its size, until the returned function is called. */
  onResize?(listener: () => void): () => void;
  /**
   * Resolves when the text may be followed by more: a slow reader slows the writer. A terminal gets no
   * sequence and no control character of the text: whatever names are in it cannot draw.
   */
  write(text: string): Promise<void> | void;
  /** As `write`, with the sequences in it: for what we draw ourselves. See `draw` in `terminal.ts`. */
  readonly draw?: ((text: string) => Promise<void> | void) | undefined;
}

export interface Terminal {
  readonly columns: number;
  /** Shows the text and reads what is typed behind it, up to Enter; undefined at the end of the input. */
  ask(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** The same for a secret: what is typed or pasted is not shown. Undefined at Ctrl-C and Ctrl-D, too. */
  askHidden(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** Writes the text where the cursor is. */
  show(text: string): void;
}

export interface KeyListener {
  /** What was typed, as the terminal sends it. Ctrl-C, Ctrl-Z and Ctrl-\\ are signals, and not told. */
  onKeys(keys: string): void;
  /** Called before Ctrl-Z stops the process. */
  onSuspend(): void;
  /** For who reads every key: Ctrl-C, Ctrl-Z and Ctrl-\\ are told as keys, and the process stays while keys are read. */
  readonly whole?: WholeKeys | undefined;
}

/** Whose the terminal is. */
export type TerminalTurn = "ours" | "given back";

/** What a program has that lives on the terminal until it is left. */
export interface WholeKeys {
  /** What switches the terminal to what the program needs and back, whenever its keys are read and no more. */
  readonly on: string;
  readonly off: string;
  /** Told whenever the terminal has been switched, and switched back. */
  readonly onTurn?: ((turn: TerminalTurn) => void) | undefined;
  /** What takes the program's own rows off the screen: asked for at any exit of the process, a crash too. */
  toFarewell(): string;
  /** Called when the process has the terminal again: after Ctrl-Z and `fg`. */
  onContinue(): void;
  /** Called when nothing can be read any more: the terminal is gone. */
  onGone(): void;
}

export interface KeyReader {
  /** Gives the terminal back for a while: to a question. */
  pause(): void;
  resume(): void;
  /** Stops the process as Ctrl-Z does. */
  suspend(): void;
  /** Gives it back for good. May be called again. */
  close(): void;
}

/** SIGINT is Ctrl-C, which every program in front of the terminal gets. */
export type InterruptSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface InterruptOptions {
  /** `all` when left out. A server's operator says with SIGHUP that it is to read its settings again. */
  readonly hangups?: "all" | "terminal";
}

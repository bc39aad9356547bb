/**
 * The parts of the process that a command may use. `bin.ts` makes the real ones; tests make their own.
 */

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's home, where the user's configuration and records are. */
  readonly home: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The terminal itself, whatever the streams are; undefined if there is none to answer on. */
  openTerminal(): Terminal | undefined;
  /**
   * Reads single keys from the terminal until it is closed, and then restores the terminal. Undefined if we must not
   * read keys: standard input is not a terminal, or another program reads them.
   */
  openKeys(listener: KeyListener): KeyReader | undefined;
  /**
   * Calls back at each Ctrl-C, SIGTERM and closing of the terminal, until the returned function is called. With
   * `hangups: "terminal"`, SIGHUP counts only if the terminal is really gone.
   */
  onInterrupt(callback: (signal: InterruptSignal) => void, options?: InterruptOptions): () => void;
  /**
   * Calls back when the reader of standard output has gone (`| head`), until the returned function is called. Without
   * a listener, the process exits then with 0.
   */
  onReaderGone(callback: () => void): () => void;
  /** Exits at once. Only for the second Ctrl-C. */
  leave(exitCode: number): never;
}

export interface Input {
  readonly isTerminal: boolean;
  /**
   * True if there is really piped input: not for a terminal, a closed or an inherited idle stdin.
   */
  readonly isPiped: boolean;
  /** Reads all of it; rejects with `invalid_request` if it is longer than `maxBytes`. */
  readAll(maxBytes: number): Promise<Buffer>;
  /**
   * The input as it arrives, to its end: for programs that speak a protocol. Not together with `readAll`.
   */
  readonly chunks?: (() => AsyncIterable<Uint8Array | string>) | undefined;
}

export interface Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  /** Number of lines of a terminal; 24 when left out. */
  readonly rows?: number | undefined;
  /**
   * True if text may have colours and lines may be overwritten. When left out, true for a terminal.
   */
  readonly isStyled?: boolean | undefined;
  readonly isRedrawn?: boolean | undefined;
  /** Calls back when the terminal has changed its size, until the returned function is called. */
  onResize?(listener: () => void): () => void;
  /**
   * Resolves when more may be written: a slow reader slows the writer. On a terminal, sequences and control
   * characters are removed from the text, so that names in it cannot draw.
   */
  write(text: string): Promise<void> | void;
  /** As `write`, but keeps sequences: for what we draw ourselves. See `draw` in `terminal.ts`. */
  readonly draw?: ((text: string) => Promise<void> | void) | undefined;
}

export interface Terminal {
  readonly columns: number;
  /**
   * Shows the text and reads what is typed after it, up to Enter; undefined at the end of the input.
   */
  ask(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Asks for a secret: what is typed or pasted is not shown. Undefined also at Ctrl-C and Ctrl-D.
   */
  askHidden(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** Writes the text where the cursor is. */
  show(text: string): void;
}

export interface KeyListener {
  /**
   * Called with typed keys, as the terminal sends them. Ctrl-C, Ctrl-Z and Ctrl-\\ are signals, and not passed.
   */
  onKeys(keys: string): void;
  /** Called before Ctrl-Z stops the process. */
  onSuspend(): void;
  /**
   * For a program that reads every key: Ctrl-C, Ctrl-Z and Ctrl-\\ are passed as keys, and the process stays alive
   * while keys are read.
   */
  readonly whole?: WholeKeys | undefined;
}

/** Who has the terminal. */
export type TerminalTurn = "ours" | "given back";

/** The needs of a program that keeps the terminal until it ends. */
export interface WholeKeys {
  /**
   * Sequences that switch the terminal to what the program needs while its keys are read, and back.
   */
  readonly on: string;
  readonly off: string;
  /** Called whenever the terminal has been switched, and switched back. */
  readonly onTurn?: ((turn: TerminalTurn) => void) | undefined;
  /**
   * Sequences that remove the program's rows from the screen: used at any exit of the process, also a crash.
   */
  toFarewell(): string;
  /** Called when the process has the terminal again: after Ctrl-Z and `fg`. */
  onContinue(): void;
  /** Called when the terminal is gone and nothing can be read any more. */
  onGone(): void;
}

export interface KeyReader {
  /** Gives the terminal back for a while, for a question. */
  pause(): void;
  resume(): void;
  /** Stops the process as Ctrl-Z does. */
  suspend(): void;
  /** Gives the terminal back for good. May be called again. */
  close(): void;
}

/** SIGINT is Ctrl-C, which every program in the foreground of the terminal gets. */
export type InterruptSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface InterruptOptions {
  /** `all` when left out. With SIGHUP, a server's operator asks it to read its settings again. */
  readonly hangups?: "all" | "terminal";
}

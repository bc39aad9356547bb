/**
 * The lines of standard input for a chat in plain lines. There is one reader: an open question gets the next line,
 * else the chat gets it when it asks. On a terminal, two readers would take lines from each other.
 */

import { createInterface, type Interface } from "node:readline";
import { throwIfAborted, toAbortFailure } from "../../base/async.ts";
import type { Io, Terminal } from "../io.ts";
import { cleanForTerminal } from "../terminal.ts";

type LinesIo = Pick<Io, "stdin" | "stdout">;
type Take = (line: string | undefined) => void;

export class PlainLines {
  readonly #reader: Interface;
  readonly #io: LinesIo;
  /** Lines that were read and not asked for yet. */
  readonly #read: string[] = [];
  #isClosed = false;
  /** Receives the next line; a question comes before the chat. */
  #question: Take | undefined;
  #chat: Take | undefined;

  constructor(io: LinesIo, input: NodeJS.ReadableStream) {
    this.#io = io;
    // In line mode the terminal itself is the editor.
    this.#reader = createInterface({ input, terminal: false });
    this.#reader.on("line", (line) => this.#give(line));
    this.#reader.on("close", () => this.#end());
  }

  /** Undefined after the last line. */
  async next(): Promise<string | undefined> {
    const line = this.#read.shift();
    if (line !== undefined || this.#isClosed) return line;
    return await new Promise((resolve) => {
      this.#chat = resolve;
    });
  }

  /** Returns the lines that were typed ahead and removes them: they are not sent. */
  takeRead(): string[] {
    return this.#read.splice(0);
  }

  close(): void {
    this.#reader.close();
  }

  /** A terminal for questions. Lines typed before a question do not answer it. */
  toTerminal(): Terminal {
    return {
      columns: this.#io.stdout.columns,
      show: (text) => void this.#io.stdout.write(text),
      ask: (prompt, signal) => this.#ask(prompt, signal),
      askHidden: () => Promise.resolve(undefined),
    };
  }

  async #ask(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    throwIfAborted(signal);
    if (this.#isClosed) return undefined;
    await this.#io.stdout.write(prompt);
    return await new Promise((resolve, reject) => {
      const end = (): void => {
        this.#question = undefined;
        signal.removeEventListener("abort", stop);
      };
      const stop = (): void => {
        end();
        reject(toAbortFailure(signal));
      };
      signal.addEventListener("abort", stop, { once: true });
      this.#question = (line) => {
        end();
        resolve(line);
      };
    });
  }

  #give(line: string): void {
    const take = this.#question ?? this.#chat;
    if (take === undefined) return this.#keep(line);
    if (take === this.#chat) this.#chat = undefined;
    take(line);
  }

  /**
   * A person who types gets a notice that the prompt waits. A pipe gets none: it is read faster than it is answered.
   */
  #keep(line: string): void {
    this.#read.push(line);
    const isTold = this.#io.stdin.isTerminal && line.trim() !== "";
    if (isTold) void this.#io.stdout.write(`queued: ${cleanForTerminal(line)}\n`);
  }

  #end(): void {
    this.#isClosed = true;
    this.#question?.(undefined);
    this.#chat?.(undefined);
    this.#chat = undefined;
  }
}

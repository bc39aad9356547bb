/**
 * Reads single keys from the terminal that the process belongs to. The terminal is in raw mode only while they are
 * read: it is restored for a question, for Ctrl-Z, at the end, and at any exit of the process.
 *
 * In raw mode the terminal sends no signals. So the keys that mean one send it here, to the whole group, as the
 * terminal does.
 */

import { closeSync, openSync, writeSync } from "node:fs";
import { ReadStream } from "node:tty";
import type { KeyListener, KeyReader } from "./io.ts";
import { DEVICE, isInForeground } from "./terminal-device.ts";

/**
 * How often to check if a process in the background has come to the foreground: no signal tells.
 */
const LOOK_MS = 1000;

/** Undefined in the background: a process that reads or sets a terminal there is stopped. */
export function openTerminalKeys(listener: KeyListener): KeyReader | undefined {
  if (!isInForeground()) return undefined;
  const reader = new TerminalKeys(listener);
  reader.resume();
  return reader;
}

class TerminalKeys implements KeyReader {
  readonly #listener: KeyListener;
  #stream: ReadStream | undefined;
  #isPaused = true;
  #looking: NodeJS.Timeout | undefined;
  /** The program that continues the process may have changed the terminal. */
  readonly #onContinue = (): void => {
    this.#stop();
    this.#start();
    if (!this.#isPaused) this.#listener.whole?.onContinue();
  };
  readonly #onExit = (): void => {
    if (this.#stream) show(this.#listener.whole?.toFarewell() ?? "");
    this.#stop();
  };

  constructor(listener: KeyListener) {
    this.#listener = listener;
    process.on("SIGCONT", this.#onContinue);
    process.on("exit", this.#onExit);
    // Before an error is printed: it would appear among our rows.
    process.on("uncaughtExceptionMonitor", this.#onExit);
  }

  resume(): void {
    this.#isPaused = false;
    this.#start();
  }

  pause(): void {
    this.#isPaused = true;
    this.#stop();
  }

  suspend(): void {
    this.#send("SIGTSTP");
  }

  close(): void {
    this.pause();
    process.off("SIGCONT", this.#onContinue);
    process.off("exit", this.#onExit);
    process.off("uncaughtExceptionMonitor", this.#onExit);
  }

  #start(): void {
    clearTimeout(this.#looking);
    if (this.#isPaused || this.#stream) return;
    if (!isInForeground()) {
      this.#looking = setTimeout(() => this.#start(), LOOK_MS).unref();
      return;
    }
    try {
      const stream = new ReadStream(openSync(DEVICE, "r"));
      this.#stream = stream;
      stream.setRawMode(true);
      // The terminal may go away; the process then gets a signal.
      stream.setEncoding("utf8").on("data", (keys) => this.#read(String(keys)));
      stream.on("error", () => this.#lose());
      stream.on("end", () => this.#lose());
      const { whole } = this.#listener;
      if (whole) {
        show(whole.on);
        whole.onTurn?.("ours");
      } else stream.unref();
    } catch {
      this.#stop();
    }
  }

  #lose(): void {
    const hadTerminal = this.#stream !== undefined;
    this.#stop();
    if (hadTerminal) this.#listener.whole?.onGone();
  }

  #stop(): void {
    clearTimeout(this.#looking);
    const stream = this.#stream;
    this.#stream = undefined;
    if (!stream) return;
    show(this.#listener.whole?.off ?? "");
    try {
      stream.setRawMode(false);
    } catch {
      // The terminal is gone.
    }
    this.#listener.whole?.onTurn?.("given back");
    stream.removeAllListeners("data").destroy();
  }

  #read(keys: string): void {
    if (this.#listener.whole) {
      this.#listener.onKeys(keys);
      return;
    }
    for (const part of keys.split(SIGNAL_KEYS)) {
      const signal = SIGNALS[part];
      if (signal) this.#send(signal);
      else if (part !== "" && this.#stream) this.#listener.onKeys(part);
    }
  }

  #send(signal: NodeJS.Signals): void {
    if (signal === "SIGINT") {
      process.kill(0, signal);
      return;
    }
    this.#stop();
    if (signal === "SIGTSTP") this.#listener.onSuspend();
    process.kill(0, signal);
    // From here on it was continued, or it was not stopped because no program could have continued it.
    setImmediate(() => this.#start());
  }
}

/** Not through the streams of the process: at its exit they may hold text that is never written. */
function show(bytes: string): void {
  if (bytes === "") return;
  try {
    const fd = openSync(DEVICE, "w");
    try {
      writeSync(fd, bytes);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The terminal is gone.
  }
}

const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = {
  "\x03": "SIGINT",
  "\x1a": "SIGTSTP",
  "\x1c": "SIGQUIT",
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the keys
const SIGNAL_KEYS = /([\x03\x1a\x1c])/;

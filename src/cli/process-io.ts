/**
 * Makes the `Io` of the real process. Streams are opened at their first use, because opening one slows the start.
 */

import { fstatSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { isatty } from "node:tty";
import { Failure } from "../base/failure.ts";
import { isOutputClosed } from "./closed-output.ts";
import { createHangup } from "./hangup.ts";
import type { Input, Io, Output } from "./io.ts";
import { createSafeOutput, toLooks } from "./terminal.ts";
import { openTerminalDevice } from "./terminal-device.ts";
import { openTerminalKeys } from "./terminal-keys.ts";

export function createProcessIo(leave: (exitCode: number) => never): Io {
  // A copy: the stored keys attached to it (`base/stored-keys.ts`) must not be in the process's own environment.
  const env = { ...process.env };
  const goneListeners = new Set<() => void>();
  const isTerminal = isatty(1);
  if (!isTerminal && isOutputClosed()) refuseClosedOutput(leave);
  return {
    env,
    cwd: currentFolder(leave),
    home: env["HOME"] || homedir(),
    stdin: createInput(0, () => process.stdin),
    stdout: createOutput(
      1,
      () => process.stdout,
      (error) => {
        // A closed terminal cannot be written to, and has no reader.
        const isHungUp = error.code === "EIO" && isTerminal;
        if (error.code !== "EPIPE" && !isHungUp) {
          writeSync(2, `offshoot: Standard output cannot be written: ${error.message}.\n`);
          leave(1);
        }
        // A reader that has seen enough (`| head -1`) is not an error, and nothing can be reported to it.
        if (goneListeners.size === 0) leave(0);
        for (const listener of goneListeners) listener();
      },
    ),
    stderr: createOutput(
      2,
      () => process.stderr,
      () => {},
    ),
    openTerminal: openTerminalDevice,
    // A program after a pipe may read the keys itself, as pagers do.
    openKeys: (listener) =>
      isatty(0) && !look(1).isStream ? openTerminalKeys(listener) : undefined,
    onInterrupt(callback, { hangups = "all" } = {}) {
      const onGone = onlyOnce(() => callback("SIGHUP"));
      const listeners = {
        SIGINT: () => callback("SIGINT"),
        SIGTERM: () => callback("SIGTERM"),
        SIGHUP: hangups === "all" ? onGone : createHangup({ onGone }),
      };
      for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener);
      return () => {
        for (const [signal, listener] of Object.entries(listeners)) process.off(signal, listener);
      };
    },
    onReaderGone(callback) {
      goneListeners.add(callback);
      return () => void goneListeners.delete(callback);
    },
    leave,
  };
}

/** The launcher of a clone refuses it in the same way. */
function refuseClosedOutput(leave: (exitCode: number) => never): never {
  const why = "Standard output is closed, so there is nowhere to write the answer.";
  writeSync(2, `offshoot: ${why} Use >/dev/null to drop it.\n`);
  return leave(1);
}

/**
 * A folder that was deleted under the shell cannot be used, and Node would report it with a stack.
 */
function currentFolder(leave: (exitCode: number) => never): string {
  try {
    return process.cwd();
  } catch {
    writeSync(2, "offshoot: The folder you are in does not exist any more. Go to another one.\n");
    return leave(2);
  }
}

/**
 * When a terminal closes, the kernel and then its shell send a signal: the second one is not a second request to
 * stop.
 */
function onlyOnce(callback: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) callback();
    isDone = true;
  };
}

/** `open` is called by the first reader. */
export function createInput(fd: number, open: () => AsyncIterable<Uint8Array | string>): Input {
  const { isPiped, size } = look(fd);
  return {
    isTerminal: isatty(fd),
    isPiped,
    chunks: open,
    async readAll(maxBytes) {
      if (size > maxBytes) throw tooLarge(maxBytes);
      const chunks: Buffer[] = [];
      let bytes = 0;
      // Leaving the loop destroys the stream, so the input of gigabytes is not read to its end.
      for await (const chunk of open()) {
        const piece = Buffer.from(chunk);
        bytes += piece.length;
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        chunks.push(piece);
      }
      return Buffer.concat(chunks);
    },
  };
}

type Stream = Pick<NodeJS.WriteStream, "write" | "on" | "off"> & {
  readonly columns?: number;
  readonly rows?: number;
};

/**
 * Never rejects. `onBroken` is called when the stream cannot be written any more; later writes are lost.
 */
export function createOutput(
  fd: number,
  open: () => Stream,
  onBroken: (error: NodeJS.ErrnoException) => void,
): Output {
  let opened: Stream | undefined;
  let isBroken = false;

  function use(): Stream {
    opened ??= open().on("error", (error) => {
      if (isBroken) return;
      isBroken = true;
      onBroken(error);
    });
    return opened;
  }

  return createSafeOutput({
    isTerminal: isatty(fd),
    ...toLooks(isatty(fd), process.env),
    get columns() {
      return use().columns || 80;
    },
    get rows() {
      return use().rows || 24;
    },
    onResize(listener) {
      const stream = use().on("resize", listener);
      return () => void stream.off("resize", listener);
    },
    write(text) {
      const stream = use();
      if (isBroken || stream.write(text)) return;
      return untilWritable(stream);
    },
  });
}

function untilWritable(stream: Stream): Promise<void> {
  const signs = ["drain", "error", "close"] as const;
  return new Promise((resolve) => {
    const done = (): void => {
      for (const sign of signs) stream.off(sign, done);
      resolve();
    };
    for (const sign of signs) stream.on(sign, done);
  });
}

/** `/dev/null`, a terminal and a closed descriptor have no piped input. */
function look(fd: number): {
  readonly isPiped: boolean;
  /** True if a program is at its other end. */
  readonly isStream: boolean;
  readonly size: number;
} {
  try {
    const stats = fstatSync(fd);
    const isStream = stats.isFIFO() || stats.isSocket();
    const isPiped = isStream || stats.isFile();
    return { isPiped, isStream, size: stats.isFile() ? stats.size : 0 };
  } catch {
    // Closed by the parent process.
    return { isPiped: false, isStream: false, size: 0 };
  }
}

function tooLarge(maxBytes: number): Failure {
  const megabytes = Math.round(maxBytes / 1024 / 1024);
  const limit = megabytes > 0 ? `${megabytes} MB` : `${maxBytes} bytes`;
  return new Failure(
    "invalid_request",
    `Standard input is larger than ${limit}. Send a part of it, or name a file for the tools to read.`,
  );
}

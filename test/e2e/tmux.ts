/** The built command in a tmux of its own: keys, pastes, sizes, and all lines with the scrollback. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { untilTrue } from "../patience.ts";
import { CLI, type Place } from "./command.ts";

const run = promisify(execFile);

export interface Tmux extends AsyncDisposable {
  /** Keys by tmux's names (`Enter`, `C-c`), anything else as text. */
  type(...keys: readonly string[]): Promise<void>;
  /** Like a terminal pastes: bracketed. */
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Every line, the scrollback's first, without spaces at their ends. */
  read(): Promise<string[]>;
  /** The same, with wrapped lines joined. */
  readWhole(): Promise<string[]>;
  /** Resolves when a line matches. */
  sees(pattern: RegExp): Promise<void>;
  cursor(): Promise<{ readonly column: number; readonly row: number }>;
  /** The modes of the terminal, from `stty -a`. */
  modes(): Promise<string>;
  /** Sends the command a signal. */
  kill(signal: string): Promise<void>;
  /** What the command has written to the terminal since shortly after its start. */
  bytes(): Promise<string>;
  /** Closes the terminal, like a window is closed. Resolves when the command has ended. */
  close(): Promise<void>;
}

interface TmuxOptions {
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Started like by a shell with job control: a job that Ctrl-Z has stopped continues after a line is
   * typed.
   */
  readonly isJob?: boolean;
}

const NAMED = /^(?:Enter|Tab|Escape|Up|Down|Left|Right|C-.|M-.)$/;

export async function startInTmux(
  { home, cwd }: Place,
  args: readonly string[],
  [columns, rows]: readonly [number, number],
  { env: more = {}, isJob = false }: TmuxOptions = {},
): Promise<Tmux> {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    LC_ALL: "C.UTF-8",
    EDITOR: "exit 3;",
    OFFSHOOT_PROBE_LOCAL: "false",
    ...more,
  };
  const socket = join(home, `tmux-${Math.random().toString(36).slice(2)}`);
  const tmux = async (...words: readonly string[]): Promise<string> =>
    (await run("tmux", ["-S", socket, "-f", "/dev/null", ...words], { env, maxBuffer: 1 << 26 }))
      .stdout;
  const words = [process.execPath, CLI, ...args].map((word) => `'${word}'`);
  const pidFile = join(home, "pid");
  const command = `sh -c 'echo $$ > ${pidFile}; exec "$@"' sh ${words.join(" ")}`;
  // 148 is 128 and SIGTSTP.
  const job = `set -m; ${command}; while [ $? -eq 148 ]; do echo stopped; read -r typed; fg; done`;
  const line = `trap : INT; ${isJob ? job : command}; echo over; stty -a; trap : INT; while :; do cat; done`;
  await writeFile(join(home, "keep"), "");
  await tmux(
    "set-option",
    "-g",
    "history-limit",
    "50000",
    ";",
    "new-session",
    "-d",
    "-s",
    "t",
    "-x",
    String(columns),
    "-y",
    String(rows),
    "-c",
    cwd,
    line,
  );
  const log = join(home, "bytes");
  await writeFile(log, "");
  await tmux("pipe-pane", "-t", "t", `cat >> ${log}`);
  const readPid = async (): Promise<number> => Number(await readFile(pidFile, "utf8"));
  const capture = async (...flags: readonly string[]): Promise<string[]> =>
    (await tmux("capture-pane", "-p", ...flags, "-t", "t", "-S", "-"))
      .split("\n")
      .map((one) => one.trimEnd());
  const read = (): Promise<string[]> => capture();
  return {
    read,
    readWhole: () => capture("-J"),
    async type(...keys) {
      for (const key of keys)
        await tmux("send-keys", "-t", "t", ...(NAMED.test(key) ? [key] : ["-l", key]));
    },
    async paste(text) {
      const file = join(home, "paste");
      await writeFile(file, text);
      await tmux("load-buffer", file);
      await tmux("paste-buffer", "-p", "-t", "t");
    },
    async resize(width, height) {
      await tmux("resize-window", "-t", "t", "-x", String(width), "-y", String(height));
    },
    async sees(pattern) {
      let last: readonly string[] = [];
      await untilTrue(async () => {
        last = await read();
        const isOver = last.includes("over") && !last.some((one) => pattern.test(one));
        assert.ok(!isOver, `ended without ${pattern}:\n${last.join("\n")}`);
        return last.some((one) => pattern.test(one));
      }, `${pattern} on the screen`).catch((thrown) => {
        throw new Error(`${String(thrown)}\n${last.join("\n")}`);
      });
    },
    async cursor() {
      const said = await tmux("display-message", "-p", "-t", "t", "#{cursor_x} #{cursor_y}");
      const [column = 0, row = 0] = said.trim().split(" ").map(Number);
      return { column, row };
    },
    async modes() {
      const terminal = await tmux("display-message", "-p", "-t", "t", "#{pane_tty}");
      return (await run("stty", ["-a", "-F", terminal.trim()])).stdout;
    },
    async kill(signal) {
      process.kill(await readPid(), `SIG${signal}` as NodeJS.Signals);
    },
    bytes: () => readFile(log, "utf8"),
    async close() {
      const pid = await readPid();
      await tmux("kill-server");
      await untilTrue(() => !isAlive(pid), "the command to end");
    },
    async [Symbol.asyncDispose]() {
      await tmux("kill-server").catch(() => {});
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

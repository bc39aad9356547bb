/** The built command on a terminal of its own, made by `script` of util-linux, with typed input. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lateMessage, PATIENCE_MS } from "../patience.ts";
import { CLI, type Place } from "./command.ts";

export interface OnTerminal {
  /** Everything on the screen. */
  readonly screen: string;
  /** Resolves when the screen shows the text after the text that was waited for before. */
  shows(text: string): Promise<void>;
  type(keys: string): void;
  /** Kills the command. */
  end(): void;
  readonly ended: Promise<number | null>;
}

export interface TerminalSetup {
  /** The size; that of `script` if it is missing. */
  readonly columns?: number;
  readonly rows?: number;
  /** More variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the shell does after the command; the exit code stays the command's. */
  readonly after?: string;
  /** What is started in place of the command. It finds the command's line in `COMMAND_LINE`. */
  readonly shell?: string;
}

/** `input`: a shell's redirection of standard input, such as `< file`. */
export function startOnTerminal(
  { cwd, home }: Place,
  args: readonly string[],
  input = "",
  setup?: TerminalSetup,
): OnTerminal {
  const words = [process.execPath, CLI, ...args].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  const line = `${words.join(" ")} ${input}`;
  const child = spawn("script", ["-qfec", toShellLine(line, setup), "/dev/null"], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      OFFSHOOT_PROBE_LOCAL: "false",
      SHELL: "/bin/sh",
      COMMAND_LINE: line,
      ...setup?.env,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    screen += piece;
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, PATIENCE_MS);
  const ended = once(child, "close").then(([code]) => {
    clearTimeout(timer);
    assert.ok(!isLate, `${lateMessage(`the end of \`offshoot ${args.join(" ")}\``)}\n${screen}`);
    return code as number | null;
  });
  return {
    get screen() {
      return screen;
    },
    async shows(text) {
      while (!screen.includes(text, seen)) {
        const more = once(child.stdout, "data").then(() => true);
        const isMore = await Promise.race([more, ended.then(() => false)]);
        assert.ok(isMore || screen.includes(text, seen), `ended without \`${text}\`:\n${screen}`);
      }
      seen = screen.indexOf(text, seen) + text.length;
    },
    type: (keys) => void child.stdin.write(keys),
    end: () => void child.kill("SIGKILL"),
    ended,
  };
}

function toShellLine(line: string, setup: TerminalSetup | undefined): string {
  if (!setup) return line;
  const { columns, rows, after, shell = line } = setup;
  if (columns === undefined) return line;
  const size = `stty cols ${columns} rows ${rows}`;
  if (after === undefined) return `${size}; ${shell}`;
  // The shell gets Ctrl-C, too: it must survive to run what comes after.
  return `${size}; trap : INT; ${shell}; code=$?; ${after}; exit $code`;
}

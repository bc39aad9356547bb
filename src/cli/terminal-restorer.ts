/**
 * Restores the terminal for a process that cannot do so itself: one that was killed with SIGKILL, or whose runtime
 * died. A small shell, which the terminal's signals do not reach, learns through a pipe if the terminal is ours. The
 * system closes the pipe with the process. If the terminal was ours then, the shell switches it back.
 */

import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Writable } from "node:stream";
import type { TerminalTurn } from "./io.ts";
import { DEVICE } from "./terminal-device.ts";

export interface TerminalRestorer {
  /** Call it whenever the terminal is switched to keys, and when it is given back. */
  tell(turn: TerminalTurn): void;
}

const ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" };

/**
 * Call it before the terminal is switched to keys: it reads the modes to restore, which takes 2 ms. `off` undoes what
 * was written to the terminal.
 */
export function createTerminalRestorer(off: string): TerminalRestorer {
  const modes = readModes();
  if (modes === undefined) return { tell() {} };
  let pipe: Writable | undefined;
  let last: TerminalTurn = "given back";
  return {
    tell(turn) {
      const isFirst = last === "given back" && !pipe;
      last = turn;
      pipe?.write(`${turn}\n`);
      if (!isFirst) return;
      // Not before the first frame is drawn, because a person waits for that.
      setImmediate(() => {
        pipe ??= startShell(modes, off);
        pipe?.write(`${last}\n`);
      });
    },
  };
}

/** Undefined without a terminal, or without `stty`. */
function readModes(): string | undefined {
  try {
    return withTerminal((fd) => {
      const { stdout } = spawnSync("stty", ["-g"], {
        env: ENVIRONMENT,
        stdio: [fd, "pipe", "ignore"],
        encoding: "utf8",
      });
      return stdout?.trim() || undefined;
    });
  } catch {
    return undefined;
  }
}

/** Undefined if it cannot be started: then the terminal is not restored after SIGKILL. */
function startShell(modes: string, off: string): Writable | undefined {
  try {
    return withTerminal((fd) => {
      const child = spawn("/bin/sh", ["-c", SHELL, "sh", modes, off], {
        cwd: "/",
        env: ENVIRONMENT,
        detached: true,
        stdio: ["pipe", "ignore", "ignore", fd],
      });
      const { stdin } = child as { stdin: Writable & { unref?: () => void } };
      stdin.on("error", () => {});
      child.on("error", () => {});
      // Neither keeps this process alive.
      child.unref();
      stdin.unref?.();
      return stdin;
    });
  } catch {
    return undefined;
  }
}

function withTerminal<Out>(use: (fd: number) => Out): Out {
  const fd = openSync(DEVICE, "r+");
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * The cursor is in the middle of our rows: the rows below it are removed, and the next program begins a new line.
 * Most shells set modes of their own when a program was killed: they get a moment for that, and their modes are kept.
 */
const SHELL = `
trap '' HUP INT TERM
while read -r line; do
  state=$line
  if [ "$state" = ours ]; then ours=$(stty -g <&3); fi
done
[ "$state" = ours ] || exit 0
printf '%s\\r\\n\\033[J' "$2" >&3
sleep 0.3 || sleep 1
now=$(stty -g <&3)
[ "$now" = "\${ours:-$now}" ] && stty "$1" <&3
`;

/**
 * Makes sure that programs do not outlive this process, however it ends: SIGKILL leaves no time to clean
 * up. A keeper, one small shell for all of them, reads from a pipe which ones were started and which have
 * ended. This process holds the pipe's other end, and the system closes it with the process. The keeper
 * then kills every remaining group, and processes that left their group but carry its mark, and exits.
 *
 * A program that is started with `spawnWaiting` waits for a line before it runs, so that it is in the
 * keeper's list (and in the record) before its first instruction. If this process dies in between, it reads
 * the end of its pipe and exits. A start takes half as long again as a bare one (`bench/command-start.ts`).
 */

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { readMachine, readStartTime } from "../../base/processes.ts";
import type { ProcessMark } from "../../protocol/tool-process.ts";

export interface SpawnOptions {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The variable with the mark. */
  readonly variable: string;
}

export interface WaitingProgram {
  readonly child: ChildProcessWithoutNullStreams;
  readonly mark: string;
  /** Reports it to the keeper. Call it after the spawn and before `go`. */
  hold(): Promise<ProcessMark>;
  /** Lets it become the program. */
  go(): void;
  /** Reports that nothing of it runs any more. */
  release(): void;
}

const isWindows = process.platform === "win32";

/** Fails only if the pipe is closed: its writer is gone. */
const WAIT = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"';

/** Spawns a group of its own that waits for `go`. The caller waits for the child's `spawn`. */
export function spawnWaiting({ argv, cwd, env, variable }: SpawnOptions): WaitingProgram {
  const mark = makeMark();
  const [program, ...words] = isWindows ? argv : ["/bin/sh", "-c", WAIT, "sh", ...argv];
  const child = spawn(program as string, words, {
    cwd,
    env: { ...env, [variable]: mark },
    detached: !isWindows,
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  }) as ChildProcess as ChildProcessWithoutNullStreams;
  const line = child.stdio[3] as Writable;
  // A child that has already exited reads nothing; its exit reports that.
  line.on("error", () => undefined);
  let release = (): void => {};
  return {
    child,
    mark,
    async hold() {
      const pid = child.pid ?? 0;
      const group = holdGroup(pid, `${variable}=${mark}`);
      release = group.release;
      await group.written;
      const { boot, pidNamespace } = readMachine();
      return { pid, started: readStartTime(pid), boot, pid_namespace: pidNamespace, mark };
    },
    go: () => line.end("go\n"),
    release: () => release(),
  };
}

export function makeMark(): string {
  return randomBytes(16).toString("hex");
}

/**
 * Makes the keeper watch a child that leads a group, does not wait and cannot start anything. Removed when
 * the child exits.
 */
export function keepChild(child: ChildProcess): void {
  const { release } = holdGroup(child.pid ?? 0, NO_ENTRY);
  child.once("exit", release);
}

const NO_ENTRY = "-";

/** `grace` gives it some seconds to notice that this process is gone, because it writes its own record. */
type How = "at once" | "grace";

export interface HeldGroup {
  /** Resolves when the keeper will learn about it even if this process dies. */
  readonly written: Promise<void>;
  release(): void;
}

/** Makes the keeper watch a group until `release`. `entry` is `VARIABLE=mark`. */
export function holdGroup(pid: number, entry: string, how: How = "at once"): HeldGroup {
  if (isWindows || pid === 0) return { written: Promise.resolve(), release() {} };
  const line = `${how === "grace" ? "~" : "+"} ${pid} ${entry}\n`;
  held.set(pid, line);
  return {
    written: write(line),
    release() {
      if (held.delete(pid)) void write(`- ${pid}\n`);
    },
  };
}

/** The list for the keeper, and for a new one if the keeper was killed. */
const held = new Map<number, string>();
let keeper: Writable | undefined;

/** Resolves when the system has the line, which the keeper then gets even if this process dies. */
function write(line: string): Promise<void> {
  const isNew = keeper === undefined;
  keeper ??= startKeeper();
  const text = isNew ? [...held.values()].join("") : line;
  const to = keeper;
  // If a keeper cannot be started, everything works as without one.
  return new Promise((resolve) => to.write(text, () => resolve()));
}

function startKeeper(): Writable {
  const child = spawn("/bin/sh", ["-c", KEEPER], {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
    // Out of reach of a terminal's signals.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const { stdin } = child;
  const forget = (): void => {
    if (keeper === stdin) keeper = undefined;
  };
  stdin.on("error", forget);
  child.on("error", forget);
  child.on("exit", forget);
  // Neither keeps this process from ending.
  child.unref();
  (stdin as unknown as { unref?: () => void }).unref?.();
  return stdin;
}

/** How long a program with grace may take, in seconds; it needs about one. */
const GRACE_S = 5;

/**
 * Halts a group before it looks for children that left it, because a program that keeps starting processes
 * would continue meanwhile. `grep` finds the marks, if there is `/proc`. Only builtins and three programs.
 */
const KEEPER = `
trap '' HUP INT TERM
held=
while read -r word pid mark; do
  case $word in
    -) rest=
       for one in $held; do case $one in ?"$pid:"*) ;; *) rest="$rest $one" ;; esac; done
       held=$rest ;;
    *) held="$held $word$pid:$mark" ;;
  esac
done
children() {
  for kid in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$kid"; children "$kid"; done
}
marked() {
  for file in $(grep -laF -- "$1" /proc/[0-9]*/environ 2>/dev/null); do
    file=\${file#/proc/}; echo "\${file%/environ}"
  done
}
finish() {
  kill -STOP "-$1" 2>/dev/null
  family=$(children "$1")
  kill -KILL "-$1" $family 2>/dev/null
  case $2 in *=????????????????????????????????) ;; *) return ;; esac
  for round in 1 2 3 4 5 6 7 8; do
    left=$(marked "$2")
    [ -n "$left" ] || break
    kill -KILL $left 2>/dev/null
  done
}
late=
for one in $held; do
  pid=\${one#?}; pid=\${pid%%:*}; mark=\${one#*:}
  case $one in
    "~"*) late="$late $pid:$mark" ;;
    *) finish "$pid" "$mark" ;;
  esac
done
[ -n "$late" ] || exit 0
for second in ${Array.from({ length: GRACE_S }, (_, at) => at + 1).join(" ")}; do
  sleep 1
  left=
  for one in $late; do kill -0 "-\${one%%:*}" 2>/dev/null && left=1; done
  [ -n "$left" ] || break
done
for one in $late; do finish "\${one%%:*}" "\${one#*:}"; done
`;

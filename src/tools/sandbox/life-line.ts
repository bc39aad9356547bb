/**
 * What this process has started does not outlive it, however it ends: SIGKILL leaves no time to clean
 * up. A keeper, one small shell for all, reads who was started and who has ended from a pipe whose
 * other end this process holds. The system closes that end with the process; the keeper reads the end of
 * the pipe, kills every group that is left, those who left their group but carry its mark, and leaves.
 *
 * A program that is started with `spawnWaiting` waits for a line before it becomes itself, so that it is
 * in the keeper's list (and in the record) before its first instruction. Should we die in between, it
 * reads the end of its pipe and leaves. A start takes half as long again as a bare one (`bench/command-start.ts`).
 */

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { readMachine, readStartTime } from "../../base/processes.ts";
import type { ProcessMark } from "../../protocol/run-events.ts";

export interface SpawnOptions {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The variable that holds the mark. */
  readonly variable: string;
}

export interface Waiting {
  readonly child: ChildProcessWithoutNullStreams;
  readonly mark: string;
  /** Tells the keeper of it. Call when it has been spawned, and before `go`. */
  hold(): Promise<ProcessMark>;
  /** Lets it become the program. */
  go(): void;
  /** Says that nothing of it runs any more. */
  release(): void;
}

const isWindows = process.platform === "win32";

/** Fails only where the line is closed: whoever would have written it is gone. */
const WAIT = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"';

/** Spawns a group of its own that waits for `go`. Whoever calls this waits for the child's `spawn`. */
export function spawnWaiting({ argv, cwd, env, variable }: SpawnOptions): Waiting {
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
  // One that has ended already reads nothing; its exit says so.
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

/** Of a child that leads a group, does not wait and cannot start anything. Takes it out when it exits. */
export function keepChild(child: ChildProcess): void {
  const { release } = holdGroup(child.pid ?? 0, NO_ENTRY);
  child.once("exit", release);
}

const NO_ENTRY = "-";

/** `grace` gives it some seconds to see for itself that we are gone: it writes its own record. */
type How = "at once" | "grace";

export interface HeldGroup {
  /** Resolves when the keeper will know of it whatever happens to us. */
  readonly written: Promise<void>;
  release(): void;
}

/** Has the keeper watch a group until `release`. `entry` is `VARIABLE=mark`. */
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

/** What the keeper must know, also a keeper that comes after one that was killed. */
const held = new Map<number, string>();
let keeper: Writable | undefined;

/** Resolves when the system has it, and keeps it for the keeper even if we die then. */
function write(line: string): Promise<void> {
  const isNew = keeper === undefined;
  keeper ??= startKeeper();
  const text = isNew ? [...held.values()].join("") : line;
  const to = keeper;
  // A keeper that cannot be started leaves things as they would be without one.
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

/** How long one with grace may take, in seconds; it needs about one. */
const GRACE_S = 5;

/**
 * Halts a group before it looks for children that left it, since whoever starts processes without end
 * would go on meanwhile. `grep` finds the marks, where there is `/proc`. Only builtins and three programs.
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

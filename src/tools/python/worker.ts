/**
 * The process that Pyodide runs in: requests come in as lines of JSON, replies go out the same way. It is a
 * program of its own, started by `pyodide-command.ts` under limits that a thread cannot have: Node's
 * permission model, no code from text, a limit on the heap and one of the system on its memory.
 */

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { DRIVER, DRIVER_IMPORTS } from "./driver.ts";
import { PYODIDE_START } from "./driver-starts.ts";
import type { OpenRequest } from "./messages.ts";
import { openRealm, type Realm } from "./realm.ts";

const { stdin, stdout } = process;

/** Globals that reach the network, or more of Node. */
const GLOBALS = [
  ...["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "Request", "Response"],
  ...["Worker", "BroadcastChannel", "MessageChannel", "require", "module", "navigator"],
];
/** The streams are sockets, whose class can connect. */
const PARTS = [
  ...["mainModule", "getBuiltinModule", "binding", "_linkedBinding", "dlopen", "moduleLoadList"],
  ...["kill", "_kill", "_debugProcess", "_debugEnd", "abort", "reallyExit", "execve", "chdir"],
  ...["stdin", "stdout", "stderr", "openStdin", "_getActiveHandles", "_getActiveRequests"],
  ...["ppid", "report", "setuid", "setgid", "seteuid", "setegid", "setgroups", "initgroups"],
];

let realm: Promise<Realm> | undefined;

type Opening = Pick<OpenRequest, "mem" | "pyodide" | "snapshot"> & { readonly op: string };

createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
  const asked = JSON.parse(line) as Opening;
  const { mem } = asked;
  if (asked.op === "snapshot") return void makeSnapshot(asked);
  realm ??= open(asked);
  realm.then(
    (opened) => opened.receive(line, mem),
    (thrown: unknown) => write(JSON.stringify({ error: String(thrown) })),
  );
});

/** Writes a started Python to standard output. No code of any user has run in it. */
async function makeSnapshot({ pyodide: folder = "", mem: memBytes }: Opening): Promise<void> {
  const parts = { folder, driver: DRIVER_IMPORTS, memBytes, send: write };
  await openRealm({ ...parts, onPiece: (piece) => stdout.write(piece, "latin1") });
}

async function open({ pyodide: folder = "", mem: memBytes, snapshot }: Opening): Promise<Realm> {
  const parts = { folder, driver: DRIVER + PYODIDE_START, memBytes, send: write };
  const started = snapshot && (await readFile(snapshot).catch(() => undefined));
  // An invalid snapshot is ignored.
  const opened = started
    ? await openRealm({ ...parts, snapshot: started }).catch(() => openRealm(parts))
    : await openRealm(parts);
  ignoreErrors();
  scrub();
  return opened;
}

function write(line: string): void {
  stdout.write(`${line}\n`);
}

/** Ignores promises of Python without a handler: Node would describe their reasons, and call them. */
function ignoreErrors(): void {
  process.on("unhandledRejection", () => undefined);
  process.setUncaughtExceptionCaptureCallback(() => undefined);
}

/** A second barrier: if Python's code got here, it would find neither the network nor other processes. */
function scrub(): void {
  for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name);
  for (const name of PARTS) Reflect.defineProperty(process, name, { value: undefined });
}

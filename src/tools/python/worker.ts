/**
 * The process that Pyodide runs in: requests come in as lines of JSON, replies go out as such. It is a
 * program of its own, started by `pyodide-command.ts` under limits that a thread cannot be given: Node's
 * permission model, no code from text, a limit on the heap and one of the system on its memory.
 */

import { createInterface } from "node:readline";
import { DRIVER, PYODIDE_START } from "./driver.ts";
import type { OpenRequest } from "./messages.ts";
import { openRealm, type Realm } from "./realm.ts";

const { stdin, stdout } = process;

/** What reaches the network, or more of Node. */
const GLOBALS = [
  ...["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "Request", "Response"],
  ...["Worker", "BroadcastChannel", "MessageChannel", "require", "module", "navigator"],
];
/** The streams are sockets, whose kind can connect. */
const PARTS = [
  ...["mainModule", "getBuiltinModule", "binding", "_linkedBinding", "dlopen", "moduleLoadList"],
  ...["kill", "_kill", "_debugProcess", "_debugEnd", "abort", "reallyExit", "execve", "chdir"],
  ...["stdin", "stdout", "stderr", "openStdin", "_getActiveHandles", "_getActiveRequests"],
  ...["ppid", "report", "setuid", "setgid", "seteuid", "setegid", "setgroups", "initgroups"],
];

let realm: Promise<Realm> | undefined;

createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
  const { mem, pyodide } = JSON.parse(line) as { mem: number } & Pick<OpenRequest, "pyodide">;
  realm ??= open(pyodide ?? "", mem);
  realm.then(
    (opened) => opened.receive(line, mem),
    (thrown: unknown) => write(JSON.stringify({ error: String(thrown) })),
  );
});

async function open(folder: string, memBytes: number): Promise<Realm> {
  const driver = DRIVER + PYODIDE_START;
  const opened = await openRealm({ folder, driver, memBytes, send: write });
  ignoreErrors();
  scrub();
  return opened;
}

function write(line: string): void {
  stdout.write(`${line}\n`);
}

/** A promise of Python's that nobody waits for ends here: Node would describe its reason, and call it. */
function ignoreErrors(): void {
  process.on("unhandledRejection", () => undefined);
  process.setUncaughtExceptionCaptureCallback(() => undefined);
}

/** No code of Python's gets here; were it to, it would find neither the network nor other processes. */
function scrub(): void {
  for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name);
  for (const name of PARTS) Reflect.defineProperty(process, name, { value: undefined });
}

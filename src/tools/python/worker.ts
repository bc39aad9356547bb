/**
 * The process that Pyodide runs in: requests come in as lines of JSON, replies go out as such. It is a
 * program of its own, started by `pyodide-command.ts` under limits that a thread cannot be given: Node's
 * permission model, no code from text, a limit on the heap and one of the system on its memory.
 */

import { createInterface } from "node:readline";
import { DRIVER, PYODIDE_START } from "./driver.ts";
import type { OpenRequest } from "./messages.ts";
import { openRealm, type Realm } from "./realm.ts";

let realm: Promise<Realm> | undefined;

createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }).on(
  "line",
  (line) => {
    const { mem, pyodide } = JSON.parse(line) as { mem: number } & Pick<OpenRequest, "pyodide">;
    realm ??= open(pyodide ?? "", mem);
    realm.then(
      (opened) => opened.receive(line, mem),
      (thrown: unknown) => write(JSON.stringify({ error: String(thrown) })),
    );
  },
);

async function open(folder: string, memBytes: number): Promise<Realm> {
  const opened = await openRealm({
    folder,
    driver: DRIVER + PYODIDE_START,
    memBytes,
    send: write,
  });
  scrub();
  return opened;
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** No code of Python's gets here; were it to, it would find neither the network nor Node's modules. */
function scrub(): void {
  for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "Worker", "require"]) {
    Reflect.deleteProperty(globalThis, name);
  }
  for (const name of ["getBuiltinModule", "binding", "_linkedBinding", "dlopen", "kill"]) {
    Reflect.defineProperty(process, name, { value: undefined });
  }
}

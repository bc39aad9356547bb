/**
 * Pyodide's realm: a JavaScript context with the language and nothing else. No `process`, no `require`, no
 * `import()`, no `fetch`, no way to make code from text. Pyodide takes it for a bare JavaScript shell and
 * so uses no part of Node at all.
 *
 * No object of the outer realm may get in, and no object of the inner one is inspected here: functions of
 * the inner realm call one function here, which takes and returns texts and numbers.
 */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { constants, createContext, runInContext, SourceTextModule } from "node:vm";
import { innerDecoder, innerUtf8 } from "./inner-decoder.ts";
import {
  type Channel,
  closeRealm,
  innerMaker,
  innerOptions,
  innerRealm,
  innerShell,
  type LoadPyodide,
} from "./inner-realm.ts";

export interface Realm {
  /** Passes a request to Python; the reply goes to `send`. Memory does not grow above `memBytes`. */
  receive(line: string, memBytes: number): void;
}

interface RealmParts {
  /** The folder of the `pyodide` package. */
  readonly folder: string;
  /** Python code whose last expression is the function that handles a request. */
  readonly driver: string;
  readonly memBytes: number;
  /** Called once for each request, with one line. */
  readonly send: (line: string) => void;
  /** The memory of a started Python, to start from. */
  readonly snapshot?: Uint8Array | undefined;
  /**
   * Called with the memory of a started Python, piece by piece, one character for each byte. No request is
   * handled then, and `driver` is what is imported first.
   */
  readonly onPiece?: ((piece: string) => void) | undefined;
}

export async function openRealm(parts: RealmParts): Promise<Realm> {
  const { folder, driver, memBytes, send, snapshot, onPiece } = parts;
  // The context has a global object of its own, not a view of ours.
  const context = createContext(constants.DONT_CONTEXTIFY, {
    codeGeneration: { strings: false, wasm: true },
  });
  const [wasm, library, lock] = await Promise.all([
    readFile(join(folder, "pyodide.asm.wasm")),
    readFile(join(folder, "python_stdlib.zip")),
    readFile(join(folder, "pyodide-lock.json"), "utf8"),
  ]);
  // Strict mode: frames of sloppy functions reveal their caller's objects and arguments.
  const evaluate = <Value extends object>(code: Value): Value =>
    runInContext(`"use strict"; (${String(code)})`, context) as Value;
  const { info } = JSON.parse(lock) as { info: unknown };
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    version: string;
  };
  const ended = withEnd();
  const channel = createChannel({ send, end: ended.end, onPiece });
  evaluate(closeRealm)();
  evaluate(innerDecoder)(evaluate(innerUtf8)());
  evaluate(innerShell)(channel, wasm, library);
  const toOptions = evaluate(innerOptions);
  const { load, receive } = onPiece
    ? { ...evaluate(innerMaker)(channel, toOptions), receive: () => undefined }
    : evaluate(innerRealm)(channel, memBytes, toOptions);
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
    loadModule(context, join(folder, "pyodide.mjs")),
    loadModule(context, join(folder, "pyodide.asm.mjs")),
  ]);
  // The driver unpacks packages: Pyodide itself never looks for one.
  const bareLock = JSON.stringify({ info, packages: {}, version });
  load(loadPyodide as LoadPyodide, createPyodideModule, { lock: bareLock, driver, snapshot });
  await ended.promise;
  return { receive: (line, bytes) => receive(line, bytes) };
}

interface ChannelParts extends Pick<RealmParts, "send" | "onPiece"> {
  readonly end: (problem: string) => void;
}

/** Called with any value of the inner realm: an object is not even shown in an error. */
function createChannel({ send, end, onPiece }: ChannelParts): Channel {
  return (what: unknown, value: unknown) => {
    if (what === "now") return performance.now();
    if (what === "random" && typeof value === "number") {
      return randomBytes(Math.min(value, 65_536)).toString("base64");
    }
    if (what === "send" && typeof value === "string") send(value);
    if (what === "ended" && typeof value === "string") end(value);
    if (what === "piece" && typeof value === "string") onPiece?.(value);
    return "";
  };
}

function withEnd(): { readonly promise: Promise<void>; readonly end: (problem: string) => void } {
  let end: (problem: string) => void = () => undefined;
  const promise = new Promise<void>((resolve, reject) => {
    end = (problem) => (problem === "" ? resolve() : reject(new Error(problem)));
  });
  return { promise, end };
}

/** Changes to the code of Pyodide's modules. */
const CHANGES: readonly (readonly [RegExp, string])[] = [
  // Never reached without Node, and its result would be a promise of the outer realm.
  [/\bimport\s*\(/g, "undefined("],
  // Errors have no stack in the realm, and are still errors.
  [/typeof \w+\.stack\s*!==?\s*"string"\s*\|\|/g, ""],
];

/** Evaluates one of Pyodide's modules in the realm. Without Node they import nothing. */
async function loadModule(context: object, path: string): Promise<Record<string, unknown>> {
  const refuse = (): never => {
    throw new Error("Nothing can be imported here.");
  };
  let source = await readFile(path, "utf8");
  for (const [pattern, text] of CHANGES) source = source.replaceAll(pattern, text);
  const module = new SourceTextModule(source, {
    context,
    identifier: path,
    initializeImportMeta: (meta) => {
      meta.url = "file:///pyodide.mjs";
    },
    importModuleDynamically: refuse,
  });
  await module.link(refuse);
  await module.evaluate();
  return module.namespace as Record<string, unknown>;
}

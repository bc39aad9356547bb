/**
 * The realm that Pyodide lives in: a JavaScript context with the language and nothing else. No
 * `process`, no `require`, no `import()`, no `fetch`, no way to make code from text. Pyodide takes it for
 * a bare JavaScript shell and so asks for no part of Node at all.
 *
 * Nothing of the outer realm may get in: its functions are called by functions of the inner one, which
 * pass texts and numbers alone, and what they throw is thrown anew.
 */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createContext, runInContext, SourceTextModule } from "node:vm";
import { innerRealm, innerShell } from "./inner-realm.ts";

export interface Realm {
  /** Hands a request to Python; the reply goes to `send`. Memory does not grow above `memBytes`. */
  receive(line: string, memBytes: number): void;
}

interface RealmParts {
  /** The folder of the `pyodide` package. */
  readonly folder: string;
  /** Python whose last expression is the function that handles a request. */
  readonly driver: string;
  readonly memBytes: number;
  /** Called once a request, with one line. */
  readonly send: (line: string) => void;
}

export async function openRealm({ folder, driver, memBytes, send }: RealmParts): Promise<Realm> {
  const context = createContext(Object.create(null), {
    codeGeneration: { strings: false, wasm: true },
  });
  const [wasm, library, lock] = await Promise.all([
    readFile(join(folder, "pyodide.asm.wasm")),
    readFile(join(folder, "python_stdlib.zip")),
    readFile(join(folder, "pyodide-lock.json"), "utf8"),
  ]);
  const evaluate = <Value extends object>(code: Value): Value =>
    runInContext(`(${String(code)})`, context) as Value;
  evaluate(innerShell)({
    now: () => performance.now(),
    random: (count) => randomBytes(count).toString("base64"),
    decode: (bytes, encoding, marks) =>
      new TextDecoder(encoding, {
        fatal: marks.includes("fatal"),
        ignoreBOM: marks.includes("ignoreBOM"),
      }).decode(bytes),
    files: { "/pyodide.asm.wasm": wasm, "/python_stdlib.zip": library },
  });
  const inner = evaluate(innerRealm)(send);
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
    loadModule(context, join(folder, "pyodide.mjs")),
    loadModule(context, join(folder, "pyodide.asm.mjs")),
  ]);
  const { info } = JSON.parse(lock) as { info: unknown };
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    version: string;
  };
  await new Promise<void>((resolve, reject) => {
    inner.load({
      loadPyodide,
      createPyodideModule,
      // Packages are unpacked by the driver: Pyodide itself never looks for one.
      lock: JSON.stringify({ info, packages: {}, version }),
      driver,
      memBytes,
      ended: (problem) => (problem === "" ? resolve() : reject(new Error(problem))),
    });
  });
  return { receive: inner.receive };
}

/** One of Pyodide's modules, evaluated in the realm. They import nothing where there is no Node. */
async function loadModule(
  context: object,
  path: string,
): Promise<Record<string, (...given: unknown[]) => unknown>> {
  const refuse = (): never => {
    throw new Error("Nothing can be imported here.");
  };
  const module = new SourceTextModule(await readFile(path, "utf8"), {
    context,
    identifier: path,
    initializeImportMeta: (meta) => {
      meta.url = "file:///pyodide.mjs";
    },
    importModuleDynamically: refuse,
  });
  await module.link(refuse);
  await module.evaluate();
  return module.namespace as Record<string, (...given: unknown[]) => unknown>;
}

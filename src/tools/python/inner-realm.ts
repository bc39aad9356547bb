/**
 * The code of the realm that Pyodide lives in. The text of each function is evaluated there, so it uses
 * nothing but its arguments and the language, and lets go of no argument: what the outer realm gave is
 * called here and never handed on, and what it throws is thrown anew.
 */

/** What the outer realm does for the inner one. Texts, numbers and bytes cross, nothing else. */
interface Outer {
  readonly now: () => number;
  /** That many random bytes as Base64. */
  readonly random: (count: number) => string;
  /** `marks` names the options that are set: no object of the inner realm's making is read. */
  readonly decode: (bytes: Uint8Array, encoding: string, marks: string) => string;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** Gives the realm the few things that Pyodide needs, and that make it take the realm for a shell. */
export function innerShell({ now, random, decode, files }: Outer): void {
  const guarded = <Value>(work: () => Value): Value => {
    try {
      return work();
    } catch {
      // The error belongs to the outer realm.
      throw new Error("The system refused.");
    }
  };

  class Decoder {
    readonly #encoding: string;
    readonly #marks: string;
    constructor(encoding = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      this.#encoding = String(encoding);
      this.#marks = `${options.fatal ? "fatal " : ""}${options.ignoreBOM ? "ignoreBOM" : ""}`;
    }
    decode(bytes = new Uint8Array()): string {
      return guarded(() => decode(bytes, this.#encoding, this.#marks));
    }
  }

  Object.assign(globalThis, {
    read: () => undefined,
    load: () => undefined,
    readbuffer: (path: string) => {
      const file = files[path];
      if (!file) throw new Error("There is no such file.");
      return file;
    },
    // The shell's way to random bytes is a command; nothing of it but the count is looked at.
    os: {
      system: (_: unknown, words: readonly string[]) => {
        const count = Number(/head -c(\d+) /.exec(String(words[1]))?.[1] ?? 0);
        return guarded(() => random(Math.min(count, 65_536)));
      },
    },
    performance: { now: () => guarded(now) },
    setTimeout: (work: () => void) => {
      Promise.resolve().then(work, () => undefined);
      return 0;
    },
    clearTimeout: () => undefined,
    TextDecoder: Decoder,
    console: Object.fromEntries(
      ["log", "info", "warn", "error", "debug"].map((name) => [name, () => undefined]),
    ),
  });
}

interface Loading {
  readonly loadPyodide: ((options: object) => unknown) | undefined;
  readonly createPyodideModule: unknown;
  readonly lock: string;
  readonly driver: string;
  readonly memBytes: number;
  /** Called once, with an empty text when all went well. */
  readonly ended: (problem: string) => void;
}

interface Inner {
  load(loading: Loading): void;
  receive(line: string, memBytes: number): void;
}

interface GrowingMemory {
  readonly buffer: { readonly byteLength: number };
  grow(pages: number): number;
}

/** Loads Pyodide and hands requests to Python; `send` is called once a request. */
export function innerRealm(send: (line: string) => void): Inner {
  const world = globalThis as unknown as Record<string, unknown>;
  let limit = 0;
  let handle: (line: string) => unknown = () => undefined;
  const say = (thrown: unknown): string => {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return text.slice(-2000) || "unknown reason";
  };

  // Emscripten grows its memory from JavaScript, so this is where it can be held.
  const wasm = world["WebAssembly"] as { Memory: { prototype: GrowingMemory } };
  const { grow } = wasm.Memory.prototype;
  wasm.Memory.prototype.grow = function (this: GrowingMemory, pages: number): number {
    if (this.buffer.byteLength + pages * 65_536 > limit) throw new RangeError("out of memory");
    return grow.call(this, pages);
  };

  async function start(loading: Loading): Promise<void> {
    limit = loading.memBytes;
    const python = (await loading.loadPyodide?.({
      createPyodideModule: loading.createPyodideModule,
      indexURL: "/",
      packageBaseUrl: "/",
      lockFileContents: loading.lock,
      jsglobals: Object.freeze(Object.create(null)),
      env: { HOME: "/home" },
      stdin: () => null,
      stdout: () => undefined,
      stderr: () => undefined,
    })) as { runPython(code: string): (line: string) => unknown };
    handle = python.runPython(loading.driver);
    for (const name of ["read", "load", "readbuffer"]) delete world[name];
  }

  return {
    load(loading) {
      const { ended } = loading;
      start(loading).then(
        () => ended(""),
        (thrown) => ended(say(thrown)),
      );
    },
    receive(line, memBytes) {
      limit = memBytes;
      try {
        const reply = handle(line);
        send(typeof reply === "string" ? reply : JSON.stringify({ error: "no reply" }));
      } catch (thrown) {
        send(JSON.stringify({ error: say(thrown) }));
      }
    },
  };
}

/**
 * The code of Pyodide's realm. The text of each function is evaluated there, so it uses nothing but its
 * arguments and the language.
 *
 * Code that runs in Python can change everything in this realm except what these functions closed over. So
 * the one object of the outer realm, `channel`, is called here and never passed on; its errors are thrown
 * again as errors of this realm; and values of Python are checked again, as primitives, before they cross.
 */

/** The services of the outer realm for the inner one. Only texts and numbers cross. */
export type Channel = (what: keyof Crossings, value: string | number) => string | number;

export interface Crossings {
  now: number;
  /** That many random bytes, as Base64. */
  random: string;
  /** One line, once for each request. */
  send: string;
  /** Called once, with an empty text if everything succeeded. */
  ended: string;
  /** Bytes of a snapshot, one character each. */
  piece: string;
}

export interface LoadFrom {
  readonly lock: string;
  readonly driver: string;
  readonly snapshot: Uint8Array | undefined;
}

/** Evaluated first: removes the ways to call Node's own functions with objects. */
export function closeRealm(): void {
  // Node formats a stack with functions of its own: their errors belong to the outer realm, and
  // `prepareStackTrace` sees their frames. V8 keeps no stack if the limit is not a plain number.
  Reflect.deleteProperty(Error, "captureStackTrace");
  Object.defineProperty(Error, "stackTraceLimit", {
    get: () => 0,
    set: () => undefined,
    configurable: false,
  });
  Object.freeze(Error);
  Object.defineProperty(globalThis, "Error", { writable: false, configurable: false });
  // These pass their arguments to Node, which refuses them with an error of its own.
  const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: object };
  for (const name of ["compileStreaming", "instantiateStreaming"]) {
    Reflect.deleteProperty(wasm, name);
  }
}

/** Gives the realm the few things that Pyodide needs, and with which it takes the realm for a shell. */
export function innerShell(channel: Channel, wasm: Uint8Array, library: Uint8Array): void {
  // Copies, because the given arrays belong to the outer realm.
  const files = new Map([
    ["/pyodide.asm.wasm", new Uint8Array(wasm)],
    ["/python_stdlib.zip", new Uint8Array(library)],
  ]);
  const ask = (what: "now" | "random", value: number): string | number => {
    try {
      return channel(what, typeof value === "number" ? value : 0);
    } catch {
      // The error belongs to the outer realm.
      throw new Error("The system refused.");
    }
  };
  Object.assign(globalThis, {
    read: () => undefined,
    load: () => undefined,
    readbuffer: (path: string) => {
      const file = files.get(path);
      if (!file) throw new Error("There is no such file.");
      return file;
    },
    // The shell gets random bytes from a command; only its count is read.
    os: {
      system: (_: unknown, words: readonly string[]) =>
        ask("random", Number(/head -c(\d+) /.exec(String(words[1]))?.[1] ?? 0)),
    },
    performance: { now: () => ask("now", 0) },
    setTimeout: (work: () => void) => {
      Promise.resolve().then(work, () => undefined);
      return 0;
    },
    clearTimeout: () => undefined,
    console: Object.fromEntries(
      ["log", "info", "warn", "error", "debug"].map((name) => [name, () => undefined]),
    ),
  });
}

interface Inner {
  /**
   * Loads Pyodide and reports `ended`. The last expression of `driver` is the function that handles a
   * request.
   */
  load(loadPyodide: LoadPyodide, createPyodideModule: unknown, from: LoadFrom): void;
  /** Passes a request to Python and reports `send`. Never throws, whatever Python did to the realm. */
  receive(line: string, memBytes: number): void;
}

export type LoadPyodide = (options: object) => unknown;

interface Python {
  runPython(code: string): (line: string) => unknown;
  makeMemorySnapshot(): Uint8Array;
}

interface GrowingMemory {
  readonly buffer: { readonly byteLength: number };
  grow(pages: number): number;
}

export type ToOptions = (module: unknown, from: LoadFrom) => object;

/** The options to load Pyodide, which are the same for a snapshot and for what starts from one. */
export function innerOptions(module: unknown, { lock, snapshot }: LoadFrom): object {
  return {
    // A copy, because the given array belongs to the outer realm.
    ...(snapshot ? { _loadSnapshot: new Uint8Array(snapshot) } : {}),
    createPyodideModule: module,
    indexURL: "/",
    packageBaseUrl: "/",
    lockFileContents: lock,
    jsglobals: Object.freeze(Object.create(null)),
    env: { HOME: "/home" },
    stdin: () => null,
    stdout: () => undefined,
    stderr: () => undefined,
  };
}

/** Loads Pyodide, runs `driver`, and reports the contents of its memory. It runs no other code. */
export function innerMaker(channel: Channel, toOptions: ToOptions): Pick<Inner, "load"> {
  /** Writes the head of a snapshot. */
  class Encoder {
    encode(text: string): Uint8Array {
      const units = encodeURIComponent(text).match(/%..|./g) ?? [];
      return Uint8Array.from(units, (unit) =>
        unit.length > 1 ? Number.parseInt(unit.slice(1), 16) : unit.charCodeAt(0),
      );
    }

    encodeInto(text: string, into: Uint8Array): { read: number; written: number } {
      const bytes = this.encode(text);
      into.set(bytes);
      return { read: text.length, written: bytes.length };
    }
  }

  async function make(load: LoadPyodide, module: unknown, from: LoadFrom): Promise<void> {
    Object.assign(globalThis, { TextEncoder: Encoder });
    const options = { ...toOptions(module, from), _makeSnapshot: true };
    const python = (await load(options)) as Python;
    python.runPython(from.driver);
    const bytes = python.makeMemorySnapshot();
    const size = 32_768;
    for (let at = 0; at < bytes.length; at += size) {
      channel("piece", String.fromCharCode(...bytes.subarray(at, at + size)));
    }
  }

  return {
    load(...given) {
      make(...given).then(
        () => channel("ended", ""),
        (thrown) => channel("ended", String(thrown) || "unknown reason"),
      );
    },
  };
}

/** Loads Pyodide and passes requests to Python. */
export function innerRealm(channel: Channel, memBytes: number, toOptions: ToOptions): Inner {
  const world = globalThis as unknown as Record<string, unknown>;
  const { stringify } = JSON;
  let limit = memBytes;
  let handle: (line: string) => unknown = () => undefined;

  // Emscripten grows its memory from JavaScript, so it can be limited here.
  const { prototype } = (world["WebAssembly"] as { Memory: { prototype: GrowingMemory } }).Memory;
  const { grow } = prototype;
  Object.defineProperty(prototype, "grow", {
    value(this: GrowingMemory, pages: number): number {
      if (this.buffer.byteLength + pages * 65_536 > limit) throw new RangeError("out of memory");
      return Reflect.apply(grow, this, [pages]);
    },
    writable: false,
    configurable: false,
  });

  /** Python may have changed every step of it, so `say` checks the result. */
  const toProblem = (thrown: unknown): unknown => {
    try {
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      return text.slice(-2000);
    } catch {
      return "";
    }
  };
  const toReply = (thrown: unknown): unknown => {
    try {
      return stringify({ error: toProblem(thrown) || "unknown reason" });
    } catch {
      return undefined;
    }
  };
  const say = (what: "send" | "ended", text: unknown): void => {
    try {
      channel(what, typeof text === "string" ? text : '{"error":"no reply"}');
    } catch {
      // The error belongs to the outer realm. The caller has a time limit.
    }
  };

  async function start(load: LoadPyodide, module: unknown, from: LoadFrom): Promise<void> {
    const python = (await load(toOptions(module, from))) as Python;
    handle = python.runPython(from.driver);
    for (const name of ["read", "load", "readbuffer"]) delete world[name];
  }

  return {
    load(...given) {
      start(...given).then(
        () => say("ended", ""),
        (thrown) => say("ended", toProblem(thrown) || "unknown reason"),
      );
    },
    receive(line, bytes) {
      limit = bytes;
      let reply: unknown;
      try {
        reply = handle(line);
      } catch (thrown) {
        reply = toReply(thrown);
      }
      say("send", reply);
    },
  };
}

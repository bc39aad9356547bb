/**
 * The code of the realm that Pyodide lives in. The text of each function is evaluated there, so it uses
 * nothing but its arguments and the language.
 *
 * Whoever runs in Python can change everything in this realm but what these functions closed over. So
 * the one thing of the outer realm, `channel`, is called here and never handed on; what it throws is
 * thrown anew; and whatever is made of Python's values is looked at once more, as a primitive, before
 * it crosses.
 */

/** What the outer realm does for the inner one. Texts and numbers cross, nothing else. */
export type Channel = (what: keyof Crossings, value: string | number) => string | number;

export interface Crossings {
  now: number;
  /** That many random bytes, as Base64. */
  random: string;
  /** One line, once a request. */
  send: string;
  /** Once, with an empty text when all went well. */
  ended: string;
  /** Bytes of a snapshot, a character each. */
  piece: string;
}

export interface LoadFrom {
  readonly lock: string;
  readonly driver: string;
  readonly snapshot: Uint8Array | undefined;
}

/** Evaluated first: takes away the ways by which Node's own functions would be called with objects. */
export function closeRealm(): void {
  // Node formats a stack with functions of its own: what they throw belongs to the outer realm, and
  // `prepareStackTrace` sees their frames. V8 keeps no stack where the limit is not a plain number.
  Reflect.deleteProperty(Error, "captureStackTrace");
  Object.defineProperty(Error, "stackTraceLimit", {
    get: () => 0,
    set: () => undefined,
    configurable: false,
  });
  Object.freeze(Error);
  Object.defineProperty(globalThis, "Error", { writable: false, configurable: false });
  // These hand what they are given to Node, which refuses it with an error of its own.
  const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: object };
  for (const name of ["compileStreaming", "instantiateStreaming"]) {
    Reflect.deleteProperty(wasm, name);
  }
}

/** Gives the realm the few things that Pyodide needs, and that make it take the realm for a shell. */
export function innerShell(channel: Channel, wasm: Uint8Array, library: Uint8Array): void {
  // Copies: the arrays that came are the outer realm's.
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
    // The shell's way to random bytes is a command; nothing of it but the count is looked at.
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
  /** Loads Pyodide and says `ended`. The last expression of `driver` is what handles a request. */
  load(loadPyodide: Load, createPyodideModule: unknown, from: LoadFrom): void;
  /** Hands a request to Python and says `send`. Never throws, whatever Python made of the realm. */
  receive(line: string, memBytes: number): void;
}

export type Load = (options: object) => unknown;

interface Python {
  runPython(code: string): (line: string) => unknown;
  makeMemorySnapshot(): Uint8Array;
}

interface GrowingMemory {
  readonly buffer: { readonly byteLength: number };
  grow(pages: number): number;
}

export type ToOptions = (module: unknown, from: LoadFrom) => object;

/** How Pyodide is loaded: the same for a snapshot and for what starts from one. */
export function innerOptions(module: unknown, { lock, snapshot }: LoadFrom): object {
  return {
    // A copy: the array that came is the outer realm's.
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

/** Loads Pyodide, runs `driver`, and says what it looks like in memory. It is handed nothing else to run. */
export function innerMaker(channel: Channel, toOptions: ToOptions): Pick<Inner, "load"> {
  /** What the head of a snapshot is written with. */
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

  async function make(load: Load, module: unknown, from: LoadFrom): Promise<void> {
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

/** Loads Pyodide and hands requests to Python. */
export function innerRealm(channel: Channel, memBytes: number, toOptions: ToOptions): Inner {
  const world = globalThis as unknown as Record<string, unknown>;
  const { stringify } = JSON;
  let limit = memBytes;
  let handle: (line: string) => unknown = () => undefined;

  // Emscripten grows its memory from JavaScript, so this is where it can be held.
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

  /** Each step of it may be Python's doing: what comes is looked at by `say`. */
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
      // The error belongs to the outer realm; whoever waits for the text has a time limit.
    }
  };

  async function start(load: Load, module: unknown, from: LoadFrom): Promise<void> {
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

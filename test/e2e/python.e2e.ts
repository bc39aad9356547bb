/** The real `python_execute`: Pyodide in its process, attacked from inside, and the machine's `python3`. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Lack, programLack, SANDBOX_LACK, unless } from "../needs.ts";
import { openPythonRun, type PythonRun } from "../tools/python/python-run.ts";
import { FORGED_REPLIES, forge, REACH, REALM_ATTACKS } from "../tools/python/realm-attacks.ts";
import { createTinyWheel } from "../tools/python/tiny-wheel.ts";
import { CLI } from "./command.ts";

const PYTHON_LACK = programLack("python3");

/** A red dot, without any library. */
const PNG = `
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
png += chunk(b"IDAT", zlib.compress(b"\\x00\\xff\\x00\\x00")) + chunk(b"IEND", b"")
with open("dot.png", "wb") as file: file.write(png)
with open("notes.txt", "w") as file: file.write("red")
`;

/** Tests of both interpreters. */
function describeInterpreter(lack: Lack, name: string, open: () => Promise<PythonRun>): void {
  describe(...unless(lack)(name), () => {
    let python: PythonRun;
    before(async () => {
      python = await open();
    });
    after(() => python[Symbol.asyncDispose]());

    it("computes, prints to two streams and keeps state", async () => {
      const first = await python.run(
        "import sys\nx = 6\nprint('out')\nprint('err', file=sys.stderr)",
      );
      assert.deepEqual(first, { stdout: "out\n", stderr: "err\n", result: null });
      assert.equal((await python.run("x * 7")).result, "42");
      assert.equal((await python.run("x * 7;")).result, null);
      assert.equal((await python.run("print('\\ud800')")).stdout, "?\n");
    });

    it("shows the traceback of the code alone", async () => {
      const { stderr, result } = await python.run("def f():\n    return 1 / 0\n\nf()");
      assert.equal(result, null);
      assert.match(stderr, /^Traceback .*\n {2}File "<cell \d+>", line 4/);
      assert.match(stderr, /ZeroDivisionError: division by zero\n$/);
      assert.doesNotMatch(stderr, /evaluate|execute|<string>/);
      assert.match((await python.run("def")).stderr, /SyntaxError/);
    });

    it("cuts output while it is printed", async () => {
      const { stdout, result } = await python.run(
        "for i in range(3_000_000): print('é')\n'x' * 20_000",
      );
      assert.equal(stdout, `${"é\n".repeat(5000)}... (truncated)`);
      assert.equal(result, `'${"x".repeat(9999)}... (truncated)`);
    });

    it("returns an image that the code wrote, and a short text", async () => {
      const { value, parts } = await python.output(PNG);
      const [image] = parts;
      assert.ok(parts.length === 1 && image?.type === "input_image");
      assert.match(String(image["image_url"]), /^data:image\/png;base64,iVBORw0KGgo/);
      const files = (value as { files: unknown[] }).files;
      assert.deepEqual(files, [
        { path: "dot.png", size: 69, type: "image/png" },
        { path: "notes.txt", size: 3, text: "red" },
      ]);
      assert.equal((await python.run("open('notes.txt').read()")).result, "'red'");
      assert.equal((await python.run("1")).files, undefined);
    });

    it("awaits at the top and runs an event loop", async () => {
      const code = "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 7\n";
      assert.equal((await python.run(`${code}await f()`)).result, "7");
      assert.equal((await python.run("asyncio.run(f())")).result, "7");
    });

    it("reads mounted files, and answers parallel calls in order", async () => {
      assert.equal((await python.run("open('data/a.csv').read()")).result, "'1,2'");
      const codes = ["y = 1", "y += 1", "y"].map((code) => python.run(code));
      assert.equal((await Promise.all(codes))[2]?.result, "2");
    });

    it("is stopped at its memory limit, and continues", async () => {
      await python.run("kept = 5");
      const { stderr } = await python.run("big = bytearray(700 * 1024 * 1024)");
      assert.match(stderr, /MemoryError/);
      assert.equal((await python.run("kept")).result, "5");
    });

    it("has less memory later, and keeps its variables", async () => {
      await python.run("kept = 6");
      const big = "big = bytearray(300 * 1024 * 1024)";
      assert.match((await python.run(big, { mem: "64m" })).stderr, /MemoryError/);
      assert.equal((await python.run(`${big}\nkept`)).result, "6");
      await python.run("del big");
    });

    const raised: readonly (readonly [string, RegExp])[] = [
      ["class E(Exception): name = 5\nraise E('five')", /E: five\n$/],
      [
        "class E(ImportError):\n  @property\n  def name(self): 1 / 0\nraise E('x')",
        /E: x\n$|cannot/,
      ],
      ["e = ModuleNotFoundError('m')\ne.name = 7\nraise e", /ModuleNotFoundError: m\n$/],
      ["class E(Exception):\n  def __str__(self): raise self\nraise E()", /E: <exception str\(\)/],
      ["class C:\n  def __str__(self): 1 / 0\nraise SystemExit(C())", /cannot be described/],
    ];
    for (const [code, expected] of raised) {
      it(`survives ${JSON.stringify(code.split("\n").at(-1))} of its own making`, async () => {
        await python.run("kept = 7");
        assert.match((await python.run(code)).stderr, expected);
        assert.equal((await python.run("kept")).result, "7");
      });
    }

    it("shows the error after everything that was printed to the error stream", async () => {
      const code = "import sys\nprint('😀' * 9_000, file=sys.stderr)\n1 / 0";
      const { stderr } = await python.run(code);
      assert.ok(stderr.length <= 10_000, `${stderr.length}`);
      assert.match(stderr, /^(?:😀)+\n\.\.\. \(truncated\)\nTraceback.*ZeroDivisionError.*\n$/s);
      const long = (await python.run("raise ValueError('x' * 50_000 + 'end')")).stderr;
      assert.match(long, /^Traceback.*ValueError: x+\n\.\.\. \(truncated\)\nx+end\n$/s);
    });

    it("survives `exit`, `input` and a result that cannot be shown", async () => {
      assert.match((await python.run("exit(3)")).stderr, /SystemExit: 3|NameError/);
      assert.match((await python.run("input()")).stderr, /EOFError/);
      const odd = "class Odd:\n    def __repr__(self): raise ValueError('odd')\nOdd()";
      assert.match((await python.run(odd)).stderr, /ValueError: odd/);
      assert.equal((await python.run("1 + 1")).result, "2");
    });

    it("is stopped at its time limit, reports what was lost, and restarts", async () => {
      await python.run("z = 1");
      await assert.rejects(python.run("while True: pass", { timeout: 1 }), {
        code: "tool_failed",
        message: "Execution timed out after 1 s. Variables and files of earlier calls are gone.",
      });
      const { stderr, note } = await python.run("z");
      assert.match(stderr, /NameError/);
      assert.match(note ?? "", /restarted/);
      assert.equal((await python.run("1")).note, undefined);
    });

    it("is stopped if the run is cancelled", async () => {
      const stop = new AbortController();
      const running = python.run("while True: pass", { signal: stop.signal });
      setImmediate(() => stop.abort());
      await assert.rejects(running, { code: "cancelled" });
    });

    it("starts a new interpreter for more memory", async () => {
      await python.run("m = 1");
      const { note, result } = await python.run("len(bytearray(600 * 1024 * 1024))", { mem: "1g" });
      assert.equal(result, String(600 * 1024 * 1024));
      assert.match(note ?? "", /gone/);
    });
  });
}

const mounted = { files: { "data/a.csv": "1,2" }, mounts: ["data"] };
describeInterpreter(undefined, "Pyodide", () => openPythonRun(mounted));
describeInterpreter(PYTHON_LACK, "python3", () => openPythonRun({ ...mounted, host: true }));

describe(...unless(PYTHON_LACK)("python3 alone"), () => {
  it("shows the output of its children, and survives a fork", async () => {
    await using python = await openPythonRun({ host: true });
    const child = "import subprocess\nsubprocess.run(['echo', 'from a child'])\nprint('own')";
    assert.equal((await python.run(child)).stdout, "own\nfrom a child\n");
    const fork = "import os\nif os.fork() == 0: who = 'child'\nelse: who = 'parent'\nwho";
    assert.equal((await python.run(fork)).result, "'parent'");
    assert.equal((await python.run("who")).result, "'parent'");
  });

  it("reports how an interpreter ended, and sees none of our variables", async () => {
    await using python = await openPythonRun({ host: true, env: { OPENAI_API_KEY: "sk-planted" } });
    assert.equal((await python.run("import os\n'planted' in str(os.environ)")).result, "False");
    await assert.rejects(python.run("import os\nos._exit(3)"), {
      message:
        "Execution failed: the interpreter ended (exit code 3). Variables and files of earlier calls are gone.",
    });
  });

  it("reports that there is no such Python", async () => {
    await using python = await openPythonRun({ host: true, pythonPath: "python-of-nobody" });
    await assert.rejects(python.run("1"), /There is no program `python-of-nobody`/);
  });
});

/** Each is code and the expected text of its streams or result: that it achieved nothing. */
const ATTACKS: readonly (readonly [string, string, RegExp])[] = [
  ["imports js", "import js", /No module named 'js'/],
  ["imports pyodide_js", "import pyodide_js", /No module named 'pyodide_js'/],
  ["imports run_js", "from pyodide.code import run_js", /cannot import name 'run_js'/],
  [
    "makes code from text with a function's constructor",
    "import pyodide.ffi as ffi\nffi.to_js([1]).constructor.constructor('return process')()",
    /Code generation from strings disallowed/,
  ],
  [
    "finds a function of Pyodide's and its constructor",
    "import pyodide.webloop as w\nw.scheduleCallback.constructor('return this')()",
    /Code generation from strings disallowed/,
  ],
  [
    "looks for JavaScript in every object there is",
    `import gc, sys
found = []
for module in list(sys.modules.values()):
    for value in list(getattr(module, "__dict__", {}).values()):
        for name in ("process", "require", "fetch", "globalThis", "FS", "_module"):
            try:
                if "JsProxy" in str(type(value).__mro__) and hasattr(value, name): found.append(name)
            except Exception: pass
found`,
    /^\[\]$/,
  ],
  ["opens a file of the machine", "open('/etc/passwd').read()", /FileNotFoundError/],
  ["lists a folder of the machine", "import os\nos.listdir('/usr')", /FileNotFoundError/],
  ["reads the process", "open('/proc/self/environ').read()", /FileNotFoundError/],
  ["reads the environment", "import os\n'SECRET' in str(os.environ)", /^False$/],
  ["runs a command", "import os\nos.system('id')", /^-1$/],
  ["starts a process", "import subprocess\nsubprocess.run(['id'])", /does not support processes/],
  ["forks", "import os\nos.fork()", /OSError|AttributeError|NotImplementedError/],
  [
    "mounts the machine's files",
    "import pyodide_js\npyodide_js.mountNodeFS('/mnt', '/')",
    /No module named/,
  ],
];

describe("attacks from inside Pyodide", () => {
  let python: PythonRun;
  let port = 0;
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    response.end("reached");
  });
  server.on("connection", () => {
    asked++;
  });
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
    python = await openPythonRun({ env: { TZ: "SECRET" } });
  });
  after(async () => {
    await python[Symbol.asyncDispose]();
    server.close();
  });

  for (const [name, code, expected] of ATTACKS) {
    it(`fails if it ${name}`, async () => {
      const { stderr, result } = await python.run(code);
      assert.match(result ?? stderr, expected);
    });
  }

  it("cannot open a socket", async () => {
    const codes = [
      `import socket\nsocket.create_connection(("127.0.0.1", ${port}), 2)`,
      `import socket\ns = socket.socket()\ns.connect(("127.0.0.1", ${port}))\ns.send(b"GET / HTTP/1.0\\r\\n\\r\\n")\ns.recv(10)`,
      `import urllib.request\nurllib.request.urlopen("http://127.0.0.1:${port}/")`,
      `from pyodide.http import open_url\nopen_url("http://127.0.0.1:${port}/")`,
      `from pyodide.http import pyfetch\nawait pyfetch("http://127.0.0.1:${port}/")`,
    ];
    for (const code of codes) {
      const { stderr } = await python.run(code);
      assert.match(stderr, /Error/);
    }
    assert.equal(asked, 0);
  });

  it("ends if C code asks for JavaScript, and restarts", async () => {
    const code = `import ctypes\nctypes.CDLL(None).emscripten_run_script(b"process.exit()")`;
    await assert.rejects(python.run(code), /Execution failed: .*Code generation from strings/);
    assert.equal((await python.run("1 + 1")).result, "2");
  });

  it("is limited by the system if JavaScript itself takes the memory", async () => {
    const code = "import pyodide.ffi as ffi\nffi.to_js(b'a').buffer.constructor.new(3 * 10**9)";
    assert.match((await python.run(code)).stderr, /allocation failed/);
  });

  it("is out of memory if its files fill it", async () => {
    const code = "open('big', 'wb').truncate(3 * 10**9)";
    await assert.rejects(
      python.run(code, { mem: "64m" }),
      /Execution failed: out of memory \(64m\)/,
    );
    assert.equal((await python.run("1 + 1")).result, "2");
  });
});

/** The program that runs Pyodide, in the library's form and bundled with the command. */
const WORKERS = { compiled: undefined, bundled: join(dirname(CLI), "python-worker.js") };
for (const [name, workerPath] of Object.entries(WORKERS)) {
  describe(`the realm around Python, ${name}`, () => {
    let python: PythonRun;
    before(async () => {
      python = await openPythonRun({ workerPath });
    });
    after(() => python[Symbol.asyncDispose]());

    for (const [attack, code] of REALM_ATTACKS) {
      it(`gives nothing away if the code ${attack}`, async () => {
        const { stderr, result } = await python.run(REACH + code);
        assert.equal(result ?? stderr, "[]");
        // By the next call Node has processed everything that was left.
        assert.equal((await python.run("got")).result, "[]");
      });
    }

    // Each costs a new start of Python, so only the program that users run is tested.
    for (const [reply, expression] of workerPath === undefined ? [] : FORGED_REPLIES) {
      it(`does not take ${reply} for a reply`, async () => {
        const code = REACH + forge(expression);
        await assert.rejects(python.run(code), /^Failure: Execution failed: no reply\./);
        assert.equal((await python.run("1 + 1")).result, "2");
      });
    }
  });
}

it("the bundled program that runs Pyodide is strict", async () => {
  assert.match(await readFile(WORKERS.bundled, "utf8"), /^"use strict";/);
});

describe("packages", () => {
  let folder: string;
  const wheel = createTinyWheel({
    name: "tinyone",
    version: "1.0",
    source: "import tinytwo\nvalue = tinytwo.value + 1\n",
    requires: ["tinytwo>=1", "pytest; extra == 'test'"],
  });
  const needed = createTinyWheel({ name: "tinytwo", version: "1.0", source: "value = 41\n" });
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "offshoot-wheels-"));
  });
  after(() => rm(folder, { recursive: true }));

  it("come from a folder of wheels, with their requirements; for others there is a hint", async () => {
    await writeFile(join(folder, "tinyone-1.0-py3-none-any.whl"), wheel);
    await writeFile(join(folder, "tinytwo-1.0-py3-none-any.whl"), needed);
    await using python = await openPythonRun({ wheels: folder });
    assert.equal((await python.run("import tinyone\ntinyone.value")).result, "42");
    const { stderr } = await python.run("import numpy as np");
    assert.match(
      stderr,
      /No module named 'numpy'\nModule `numpy` was not found. Set `python_wheels`/,
    );
  });

  it("come from a copy of the distribution, by the module's name and the file's hash", async () => {
    const file = "tinytwo-1.0-py3-none-any.whl";
    const sha256 = createHash("sha256").update(needed).digest("hex");
    const entry = { name: "tinytwo", file_name: file, imports: ["tinytwo"] };
    const packages = {
      tinytwo: { ...entry, sha256 },
      bad: { ...entry, name: "bad", imports: ["bad"], sha256: "0" },
    };
    await writeFile(join(folder, file), needed);
    await writeFile(join(folder, "pyodide-lock.json"), JSON.stringify({ packages }));
    await using python = await openPythonRun({ index: folder });
    assert.equal((await python.run("from tinytwo import value\nvalue")).result, "41");
    assert.match((await python.run("import bad")).stderr, /is not the file that the lock file/);
  });
});

describe("Python in the sandbox", () => {
  for (const host of [false, true]) {
    const held = unless(SANDBOX_LACK ?? (host ? PYTHON_LACK : undefined));
    it(...held(`runs ${host ? "python3" : "Pyodide"} there`), async () => {
      await using python = await openPythonRun({ ...mounted, host, level: "sandbox" });
      assert.equal((await python.run("open('data/a.csv').read()")).result, "'1,2'");
      const { value, parts } = await python.output(PNG);
      assert.equal(parts.length, 1, JSON.stringify(value));
    });
  }
});

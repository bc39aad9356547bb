/** The realm's own code in a bare context, with code in it that may do what Python could never reach. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { constants, createContext, runInContext } from "node:vm";
import { innerDecoder, innerUtf8 } from "../../../src/tools/python/inner-decoder.ts";
import {
  type Channel,
  closeRealm,
  innerOptions,
  innerRealm,
  innerShell,
  type LoadPyodide,
} from "../../../src/tools/python/inner-realm.ts";

describe("the realm of Pyodide", () => {
  const replies: readonly (readonly [string, string])[] = [
    ["an object that reads as a text", "() => new String('text')"],
    ["a function", "() => () => 1"],
    ["nothing", "() => undefined"],
    ["an error without a message", "() => { throw { __proto__: Error.prototype, message: {} }; }"],
    [
      "an error that throws when it is read",
      "() => { throw new Proxy({}, { getPrototypeOf: Object }); }",
    ],
    ["an error that cannot be a text", "() => { throw Symbol('x'); }"],
    [
      "an error, in a realm whose texts are objects",
      "() => { String.prototype.slice = () => ({}); JSON.stringify = () => ({}); throw new Error('x'); }",
    ],
    [
      "an error, in a realm whose objects are written otherwise",
      "() => { Object.prototype.toJSON = () => undefined; throw new Error('x'); }",
    ],
  ];
  for (const [name, handle] of replies) {
    it(`answers with a text if Python's reply is ${name}`, async () => {
      const { receive, said } = await openInner(handle);
      receive("{}", 1);
      assert.equal(said.length, 2);
      assert.match(String(said[1]), /^\{"error":/);
      assert.ok(said.every((one) => typeof one === "string"));
    });
  }

  it("the realm of Pyodide reports Python's error", async () => {
    const { receive, said } = await openInner("(line) => { throw new TypeError('no ' + line); }");
    receive("way", 1);
    assert.deepEqual(said, ["", '{"error":"no way"}']);
  });

  it("keeps no stack and gives none out", async () => {
    const { evaluate } = await openInner("() => ''");
    assert.equal(
      evaluate(`
        try { Error.prepareStackTrace = () => "seen"; } catch {}
        try { globalThis.Error = { prepareStackTrace: () => "seen" }; } catch {}
        Error.stackTraceLimit = 100;
        const odd = new TypeError("odd");
        odd.name = Symbol("name");
        [odd.stack, Error.captureStackTrace, Error.prepareStackTrace].join()`),
      ",,",
    );
  });

  it("has no function that passes its argument to Node", async () => {
    const { evaluate } = await openInner("() => ''");
    assert.equal(
      evaluate("[WebAssembly.compileStreaming, WebAssembly.instantiateStreaming].join()"),
      ",",
    );
  });

  it("throws an error of its own if the outer realm throws, however deep the stack is", async () => {
    const { evaluate } = await openInner("() => ''");
    const alien = evaluate(`
      const alien = [];
      const dive = () => {
        try { performance.now(); } catch (error) { if (!(error instanceof Error)) alien.push(error); }
        dive();
      };
      try { dive(); } catch (error) { if (!(error instanceof Error)) alien.push(error); }
      try { os.system("sh", ["", "head -c9 /dev"]); } catch (error) { if (!(error instanceof Error)) alien.push(error); }
      alien.length`);
    assert.equal(alien, 0);
  });

  it("gives the outer realm only numbers, whatever happens to `Number`", async () => {
    const { evaluate, asked } = await openInner("() => ''");
    evaluate("Number = () => ({}); try { os.system('sh', ['', 'head -c9 x']); } catch {}");
    assert.deepEqual(asked, [0]);
  });
});

describe("the decoder of Pyodide's realm", () => {
  const { evaluate } = openContext();
  evaluate(innerDecoder)(evaluate(innerUtf8)());
  const Decoder = runInContext("TextDecoder", evaluate.context) as typeof TextDecoder;
  const ends: readonly (readonly number[])[] = [[], [0x80], [0x80, 0x80], [0x41], [0xbf, 0xff]];
  const decode = (Kind: typeof TextDecoder, bytes: Uint8Array, fatal: boolean): string => {
    try {
      return new Kind("utf-8", { fatal }).decode(bytes);
    } catch (thrown) {
      return (thrown as Error).name;
    }
  };

  it("reads UTF-8 like Node, for any two bytes and what may follow", () => {
    for (let pair = 0; pair < 65_536; pair += 7) {
      for (const end of ends) {
        const bytes = Uint8Array.of(pair >> 8, pair & 255, ...end);
        const isFatal = pair % 2 === 0;
        const expected = decode(TextDecoder, bytes, isFatal);
        if (decode(Decoder, bytes, isFatal) !== expected) assert.fail(`${[...bytes]}`);
      }
    }
  });

  it("reads only the other encodings that Pyodide uses", () => {
    const text = "Grüße, 😀".repeat(3000);
    assert.equal(new Decoder("utf-16le").decode(Buffer.from(text, "utf16le")), text);
    assert.equal(new Decoder("latin1").decode(Uint8Array.of(0x41, 0xe9)), "Aé");
    assert.equal(new Decoder().decode(Buffer.from(`\ufeff${text}`)), text);
    const marked = new Decoder("utf8", { ignoreBOM: true }).decode(Buffer.from("\ufeffa"));
    assert.equal(marked, "\ufeffa");
    assert.throws(() => new Decoder("constructor"), { name: "RangeError" });
  });
});

type Evaluate = (<Value extends object>(code: Value) => Value) & { readonly context: object };

function openContext(): { evaluate: Evaluate } {
  const context = createContext(constants.DONT_CONTEXTIFY);
  const evaluate = <Value extends object>(code: Value): Value =>
    runInContext(`"use strict"; (${String(code)})`, context) as Value;
  return { evaluate: Object.assign(evaluate, { context }) };
}

interface Opened {
  receive(line: string, memBytes: number): void;
  evaluate(code: string): unknown;
  /** What came over the channel as a reply, and as a number. */
  readonly said: unknown[];
  readonly asked: unknown[];
}

/** `handle` is what Python's function becomes. The outer realm refuses the clock and random bytes. */
async function openInner(handle: string): Promise<Opened> {
  const { evaluate } = openContext();
  const said: unknown[] = [];
  const asked: unknown[] = [];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const channel: Channel = (what, value) => {
    if (what === "now" || what === "random") {
      asked.push(value);
      throw new Error("an error of the outer realm");
    }
    said.push(value);
    if (what === "ended") end();
    return "";
  };
  evaluate(closeRealm)();
  evaluate(innerShell)(channel, Uint8Array.of(1), Uint8Array.of(2));
  const inner = evaluate(innerRealm)(channel, 1, evaluate(innerOptions));
  const load = `async () => ({ runPython: () => (${handle}) })`;
  const from = { lock: "", driver: "", snapshot: undefined };
  inner.load(runInContext(load, evaluate.context) as LoadPyodide, undefined, from);
  await ended;
  return {
    receive: inner.receive,
    evaluate: (code) => runInContext(code, evaluate.context) as unknown,
    said,
    asked,
  };
}

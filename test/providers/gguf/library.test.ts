import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createGgufLibrary } from "../../../src/providers/gguf/library.ts";
import { loadLlamaModule } from "../../../src/providers/gguf/llama-module.ts";
import { unless } from "../../needs.ts";
import { patience } from "../../patience.ts";
import { createFakeLlama } from "./fake-llama.ts";

const folder = await mkdtemp(join(tmpdir(), "offshoot-gguf-"));
const file = async (name: string, content: string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};
const path = await file("tiny.gguf", "GGUF and weights");
after(() => rm(folder, { recursive: true }));

/** Created for each test, because a limit counts from its creation. */
const limit = (): AbortSignal => patience();
const hasPackage = await loadLlamaModule().then(
  () => true,
  () => false,
);

describe("a library of GGUF models", () => {
  it("loads a file once, under any of its names, and frees it when it is closed", async () => {
    const llama = createFakeLlama();
    const library = createGgufLibrary({ load: async () => llama });
    const link = join(folder, "link.gguf");
    await symlink(path, link);
    const notices: string[] = [];
    const call = {
      signal: limit(),
      notice: ({ message }: { message: string }) => notices.push(message),
    };
    const first = await library.take(path, call);
    first.release();
    const second = await library.take(link, call);
    second.release();
    assert.equal(second.name, "tiny.gguf");
    assert.deepEqual(notices, ["Loading tiny.gguf."]);
    await library.close();
    assert.deepEqual(llama.log, ["start", "load tiny.gguf", "unload", "stop with 2 threads"]);
  });

  it("gives a model to one call at a time, in the order they came", async () => {
    const library = createGgufLibrary({ load: async () => createFakeLlama() });
    const first = await library.take(path, { signal: limit() });
    const order: string[] = [];
    const notices: string[] = [];
    const wait = (name: string, waiting = limit()): Promise<void> =>
      library
        .take(path, { signal: waiting, notice: ({ message }) => notices.push(message) })
        .then(({ release }) => {
          order.push(name);
          release();
        });
    const impatient = new AbortController();
    const waits = [wait("second"), wait("gone", impatient.signal), wait("third")];
    await new Promise(setImmediate);
    impatient.abort();
    await assert.rejects(waits[1] ?? Promise.resolve(), { code: "cancelled" });
    assert.deepEqual(order, []);
    first.release();
    first.release();
    await Promise.all([waits[0], waits[2]]);
    assert.deepEqual(order, ["second", "third"]);
    assert.ok(notices.every((message) => /busy with another run/.test(message)));
  });

  it("reports an invalid path", async () => {
    const library = createGgufLibrary({ load: async () => createFakeLlama() });
    const text = await file("notes.txt", "Hello");
    const empty = await file("empty.gguf", "");
    const rows = [
      [join(folder, "gone.gguf"), "not_found", /There is no file/],
      [text, "invalid_request", /is not a GGUF file/],
      [empty, "invalid_request", /is not a GGUF file/],
      [folder, "invalid_request", /cannot be read/],
    ] as const;
    for (const [wrong, code, message] of rows) {
      await assert.rejects(library.take(wrong, { signal: limit() }), { code, message });
    }
  });

  it("retries a failed load", async () => {
    let tries = 0;
    const load = async () => {
      if (++tries === 1) throw new Error("no binary");
      return createFakeLlama();
    };
    const library = createGgufLibrary({ load });
    await assert.rejects(library.take(path, { signal: limit() }), {
      code: "invalid_request",
      message: "node-llama-cpp does not load: no binary",
    });
    assert.equal((await library.take(path, { signal: limit() })).name, "tiny.gguf");
  });

  it("names the file that does not load", async () => {
    const llama = createFakeLlama();
    const broken = {
      ...llama,
      getLlama: async () => ({
        ...(await llama.getLlama({} as never)),
        loadModel: () => Promise.reject(new Error("unknown architecture")),
      }),
    };
    const library = createGgufLibrary({ load: async () => broken });
    await assert.rejects(
      library.take(path, { signal: limit() }),
      /tiny\.gguf` does not load: unknown arch/,
    );
    await library.close();
  });

  const absent = unless(hasPackage ? "node-llama-cpp is installed" : undefined);
  it(...absent("says what to install when the package is not there"), async () => {
    await assert.rejects(createGgufLibrary().take(path, { signal: limit() }), {
      code: "invalid_request",
      message: /npm i node-llama-cpp$/,
    });
  });

  it("can be closed when nothing was loaded", async () => {
    await createGgufLibrary({ load: async () => createFakeLlama() }).close();
  });
});

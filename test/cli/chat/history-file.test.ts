import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { appendHistory, readHistory } from "../../../src/cli/chat/history-file.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";

describe("the file of the history", () => {
  it("is for its user alone, and has each entry as it was", async (t) => {
    const file = join(createSandbox(t).home, "data/history.jsonl");
    assert.deepEqual(await readHistory(file), []);
    for (const words of ["one", "two\nlines", "漢字 \u0000"]) await appendHistory(file, words);
    assert.deepEqual(await readHistory(file), ["one", "two\nlines", "漢字 \u0000"]);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it("skips broken entries, and the chat continues if it cannot be written", async (t) => {
    const { home } = createSandbox(t);
    put(join(home, "history"), '"one"\n{"no": "text"}\n"cut off');
    assert.deepEqual(await readHistory(join(home, "history")), ["one"]);
    await appendHistory(join(home, "history/below-a-file"), "words");
  });

  it("is read from its end if it is long, and shortened if it is twice that", async (t) => {
    const file = join(createSandbox(t).home, "history");
    const entry = (at: number): string => `${at} ${"x".repeat(100_000)}`;
    put(file, Array.from({ length: 200 }, (_, at) => `${JSON.stringify(entry(at))}\n`).join(""));
    const read = await readHistory(file);
    assert.ok(read.length > 70 && read.length < 100, String(read.length));
    assert.equal(read.at(-1), entry(199));
    assert.ok(statSync(file).size < 9_000_000);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(await readHistory(file), read);
    assert.ok(readFileSync(file, "utf8").endsWith("\n"));
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { argumentsOf, ask, FIND, READ, run, tool } from "./replies.ts";

const RIPGREP = tool("bash_ripgrep", {});

describe("counting the lines of a directory", () => {
  const request = "Count the lines of the files in src";

  async function answerTo(result: string): Promise<readonly [JsonObject, string, string]> {
    const tools = [READ, FIND, RIPGREP];
    const played = await run(ask(request, { tools }), { bash_ripgrep: () => result });
    const { turns, text, refusal } = played;
    assert.equal(turns.flat().length, 1);
    return [argumentsOf(turns[0]?.[0]), text, refusal];
  }

  it("asks ripgrep for the number only, however many files there are", async () => {
    const page = { results: ["src/a.ts:1:x"], total: 61_326, has_more: true };
    const [input, text] = await answerTo(JSON.stringify(page));
    assert.deepEqual(input, { pattern: "^", files: "src", limit: 1 });
    assert.equal(text, "The text files in `src` have 61326 lines.");
  });

  it("reports a missing folder", async () => {
    const [, text, refusal] = await answerTo("Error: Path not found: src");
    assert.equal(text, "");
    assert.equal(refusal, "The tool `bash_ripgrep` gave no result. Path not found: src");
  });

  it("reads the files if ripgrep is not offered", async () => {
    const plays = {
      bash_find: () => JSON.stringify({ results: ["src/a", "src/b"], total: 2 }),
      read: () => "   1 | x\n   2 | y",
    };
    const { text } = await run(ask(request), plays);
    assert.equal(text, "The text files in `src` have 4 lines.");
  });
});

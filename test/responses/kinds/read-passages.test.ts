import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readPassages } from "../../../src/responses/kinds/read-passages.ts";

describe("passages of a foreign search", () => {
  it("are those of a list, under whichever names it has", () => {
    const said = [
      { id: "a", title: "Foxes", content: "Red ones.", score: 0.5 },
      { file_id: "b", filename: "b.txt", text: "Grey ones." },
    ];
    const found = [
      { file_id: "a", filename: "Foxes", score: 0.5, text: "Red ones." },
      { file_id: "b", filename: "b.txt", score: 0, text: "Grey ones." },
    ];
    assert.deepEqual(readPassages(JSON.stringify(said)), found);
    assert.deepEqual(readPassages(JSON.stringify({ results: said })), found);
  });

  it("are one where there is one text, and none where there is nothing", () => {
    const passage = { file_id: "passage-1", filename: "", score: 0, text: "Red ones." };
    assert.deepEqual(readPassages("Red ones."), [passage]);
    assert.deepEqual(readPassages('{"answer":42}'), [{ ...passage, text: '{"answer":42}' }]);
    assert.deepEqual(readPassages('["Red ones."]'), [passage]);
    assert.deepEqual(readPassages(" "), []);
    assert.deepEqual(readPassages("[]"), []);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  readArguments,
  readCount,
  readText,
  readTexts,
  statusOf,
} from "../../../src/responses/kinds/arguments.ts";
import { findError, findPicture, toResultText } from "../../../src/responses/kinds/result-text.ts";
import type { ToolResult } from "../../../src/tools/gate/call.ts";

describe("the arguments of a model's call", () => {
  it("are an object whatever the model wrote", () => {
    const property = fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const read = readArguments(text);
      assert.ok(typeof read === "object" && read !== null && !Array.isArray(read));
    });
    fc.assert(property, { numRuns: 200 });
    assert.deepEqual(readArguments('{"a":1}'), { a: 1 });
    for (const text of ["", "{oops", "[1]", '"a"', "null"])
      assert.deepEqual(readArguments(text), {});
  });

  it("are read as texts, one or many", () => {
    assert.deepEqual([readText("a"), readText(1), readText(undefined)], ["a", "", ""]);
    assert.deepEqual(readTexts(["a", 1, "b", null]), ["a", "b"]);
    assert.deepEqual([readTexts("a"), readTexts(undefined)], [["a"], []]);
  });

  it("are counts only if they are whole and not negative", () => {
    for (const count of [0, 1, 2 ** 53 - 1]) assert.equal(readCount(count), count);
    for (const other of [-1, 1.5, 2 ** 53, "1", null, undefined])
      assert.equal(readCount(other), null);
  });

  it("are complete once there is text, or the call says so", () => {
    const call = { type: "function_call" as const, call_id: "c", name: "f" };
    assert.equal(statusOf({ ...call, arguments: "" }), "in_progress");
    assert.equal(statusOf({ ...call, arguments: "", status: "completed" }), "completed");
    assert.equal(statusOf({ ...call, arguments: "{}" }), "completed");
  });
});

describe("a tool's result for an item", () => {
  const picture = (image_url: string) => ({ type: "input_image" as const, image_url });
  const DATA = "data:image/png;base64,AA==";
  const parts: ToolResult["output"] = [
    { type: "input_text", text: "One." },
    picture("https://p.example"),
    picture(DATA),
    { type: "input_text", text: "Two." },
  ];

  it("is one text, with the kinds of other parts in their places", () => {
    assert.equal(toResultText("As it is."), "As it is.");
    assert.equal(toResultText(parts), "One.\n[input_image]\n[input_image]\nTwo.");
  });

  it("has its first picture that holds its data", () => {
    const result = (output: ToolResult["output"]) => ({ output, failed: false }) as ToolResult;
    assert.equal(findPicture(result(parts)), DATA);
    for (const output of ["text", [picture("https://p.example")]] as const) {
      assert.equal(findPicture(result(output)), undefined);
    }
  });

  it("has the reason of a failed call if that is a text", () => {
    assert.equal(findError({ error: { message: "Why." } }), "Why.");
    for (const item of [{}, { error: null }, { error: "Why." }, { error: { message: 1 } }]) {
      assert.equal(findError(item), undefined);
    }
  });
});

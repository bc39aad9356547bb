import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import {
  asJson,
  asJsonObject,
  isJsonObject,
  isSameJson,
  parseJson,
  tryParseJson,
  tryParsePayload,
} from "../../src/base/json.ts";

describe("JSON", () => {
  it("of a typed value is that value, and a value with functions does not compile", () => {
    interface Row {
      readonly name: string;
      readonly of?: readonly Row[] | undefined;
    }
    const row: Row = { name: "a", of: [{ name: "b" }] };
    assert.equal(asJson(row), row);
    assert.equal(asJsonObject(row)["name"], "a");
    const open = { name: "a", close: () => 1 };
    // @ts-expect-error A function is not JSON.
    assert.equal(asJson(open), open);
    const day = { at: new Date(0) };
    // @ts-expect-error An object with methods is not JSON.
    assert.equal(asJsonObject(day), day);
  });

  it("is parsed, whatever its kind", () => {
    for (const value of [{ a: [1, null] }, [], "x", 0, false, null]) {
      assert.deepEqual(parseJson(JSON.stringify(value), "it"), value);
      assert.deepEqual(tryParseJson(JSON.stringify(value)), value);
    }
  });

  it("that is required and invalid fails with its name and a short reason", () => {
    const text = `{"a": ${"x".repeat(5000)}`;
    assert.throws(
      () => parseJson(text, "The schema file"),
      (thrown) => {
        assert.ok(thrown instanceof Failure && thrown.cause instanceof SyntaxError);
        assert.equal(thrown.code, "invalid_request");
        assert.match(thrown.message, /^The schema file is not JSON: .+\.$/);
        assert.ok(thrown.message.length < 200);
        return true;
      },
    );
  });

  it("that is optional and invalid is undefined", () => {
    for (const text of ["", "{", "[DONE]", "undefined", "{a:1}"]) {
      assert.equal(tryParseJson(text), undefined);
    }
  });

  it("objects are distinguished from everything else", () => {
    assert.ok(isJsonObject({}));
    for (const value of [[], null, undefined, "a", 1, true]) assert.ok(!isJsonObject(value));
  });
});

describe("tryParsePayload", () => {
  it("accepts a payload that lacks only the braces at its end", () => {
    assert.deepEqual(tryParsePayload('{"a":{"b":{}}'), { a: { b: {} } });
    assert.deepEqual(tryParsePayload('{"a":{"b":{}'), { a: { b: {} } });
    assert.deepEqual(tryParsePayload('{"a":1}'), { a: 1 });
  });

  it("refuses any other incomplete document", () => {
    for (const text of ['{"a":"b', '{"a":1', '{"a":[{}', "{}}", "garbage", ""]) {
      assert.equal(tryParsePayload(text), undefined, text);
    }
  });

  it("is the same whatever the order of its fields, and without those that are not there", () => {
    const value = { a: [1, { b: null }], c: "x" };
    for (const same of [value, { c: "x", a: [1, { b: null }] }, { ...value, d: undefined }]) {
      assert.ok(isSameJson(value, same) && isSameJson(same, value), JSON.stringify(same));
    }
    const others = [null, [], {}, { ...value, c: "y" }, { ...value, d: 1 }, { a: [1, {}], c: "x" }];
    for (const other of [...others, { ...value, a: { 0: 1, 1: { b: null } } }]) {
      assert.ok(!isSameJson(value, other) && !isSameJson(other, value), JSON.stringify(other));
    }
  });

  it("is compared without being written", () => {
    const toJSON = (): never => assert.fail("written");
    assert.ok(isSameJson({ toJSON, a: 1 }, { toJSON, a: 1 }));
  });
});

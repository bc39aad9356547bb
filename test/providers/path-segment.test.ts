/** Names of models that would lead to another address of the vendor, with the operator's key. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bedrockWire } from "../../src/providers/bedrock/wire.ts";
import { GEMINI_FORM, VERTEX_FORM } from "../../src/providers/embeddings/google-forms.ts";
import { toModelPath } from "../../src/providers/gemini/model-path.ts";
import { request } from "./provider-contract.ts";

describe("a model's name in an address", () => {
  it("does not lead to another address", () => {
    const refused = { code: "invalid_request", param: "model" };
    for (const model of ["a/../models/dear", "../../endpoints/7", "./x", "a/.."]) {
      assert.throws(() => toModelPath(model), refused, model);
      assert.throws(() => GEMINI_FORM.path({ model, input: [] }), refused, model);
      assert.throws(() => VERTEX_FORM.path({ model, input: [] }), refused, model);
    }
    assert.throws(() => bedrockWire.path(request({ model: ".." })), refused);
    assert.equal(toModelPath("tunedModels/mine.."), "tunedModels/mine..");
    assert.equal(toModelPath("%2e%2e"), "models/%252e%252e");
  });
});

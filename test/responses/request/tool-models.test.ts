/** Models that tools of a vendor's name, for keys that may ask some models alone. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Tool } from "../../../src/protocol/tools.ts";
import { checkToolModels } from "../../../src/responses/request/tool-models.ts";

const HAIKU = { model: "anthropic/claude-haiku-4-5" };
const check = (fields: object, models: readonly string[] | undefined): void =>
  checkToolModels([fields as unknown as Tool], HAIKU, { models });

describe("the model that a vendor's tool names", () => {
  const advisor = { type: "advisor_20260301", model: "claude-opus-4-6" };

  it("must be one of the key's", () => {
    const refused = { code: "forbidden", param: "tools[0]" };
    assert.throws(() => check(advisor, ["anthropic/claude-haiku-*"]), refused);
    const routed = { type: "openrouter:fusion", parameters: { analysis_models: ["a/b"] } };
    assert.throws(() => check(routed, ["anthropic/*"]), refused);
    check(advisor, ["anthropic/*"]);
    check(advisor, ["claude-opus-*"]);
    check(advisor, undefined);
  });

  it("does not matter in a function of the client, or for drawing pictures", () => {
    check({ type: "function", name: "f", parameters: { model: "x" } }, ["anthropic/*"]);
    check({ type: "image_generation", model: "gpt-image-1" }, ["anthropic/*"]);
  });
});

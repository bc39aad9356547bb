import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { claudeVersion, parseModelId } from "../../../src/providers/bedrock/model-id.ts";

describe("the id of a model at Bedrock", () => {
  const ids: readonly [id: string, maker: string, name: string, version?: number][] = [
    ["us.anthropic.claude-opus-4-6-v1:0", "anthropic", "claude-opus-4-6", 4.6],
    ["global.anthropic.claude-opus-5-5", "anthropic", "claude-opus-5-5", 5.5],
    ["anthropic.claude-sonnet-4-20250514-v1:0", "anthropic", "claude-sonnet-4", 4],
    ["anthropic.claude-3-5-haiku-20241022-v1:0", "anthropic", "claude-3-5-haiku", 3.5],
    ["anthropic.claude-3-haiku-20240307-v1:0:200k", "anthropic", "claude-3-haiku", 3],
    ["anthropic.claude-v2:1", "anthropic", "claude", 2],
    ["anthropic.claude-mythos-preview", "anthropic", "claude-mythos-preview", Infinity],
    ["us-gov.amazon.nova-pro-v1:0", "amazon", "nova-pro"],
    ["deepseek.v3.1", "deepseek", "v3.1"],
    [
      "arn:aws:bedrock:us-east-1::foundation-model/openai.gpt-oss-120b-1:0",
      "openai",
      "gpt-oss-120b-1",
    ],
    ["arn:aws:bedrock:us-east-1:1:application-inference-profile/abc123", "", "abc123"],
    ["test-model", "", "test-model"],
  ];
  for (const [id, maker, name, version] of ids) {
    it(`names the maker: ${id}`, () => {
      assert.deepEqual(parseModelId(id), { maker, name });
      assert.equal(claudeVersion(parseModelId(id)), version);
    });
  }
});

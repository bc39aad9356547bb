/** Compaction, references and files on every wire: what one provider takes, all take. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../src/protocol/items.ts";
import {
  reply,
  respond,
  type Script,
  startBedrockUpstream,
  startCohereUpstream,
  startGeminiUpstream,
  startMessagesUpstream,
  startOllamaUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

interface Row {
  readonly model: string;
  readonly provider: string;
  readonly start: (options: { readonly engine: Script }) => Promise<Upstream>;
}

const AWS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };

const ROWS: Readonly<Record<string, Row>> = {
  responses: { model: "custom/m", provider: "openai-responses", start: startResponsesUpstream },
  messages: { model: "anthropic/m", provider: "anthropic", start: startMessagesUpstream },
  gemini: { model: "gemini/m", provider: "gemini", start: startGeminiUpstream },
  cohere: { model: "cohere/m", provider: "cohere", start: startCohereUpstream },
  ollama: { model: "ollama/test-model", provider: "ollama", start: startOllamaUpstream },
  bedrock: {
    model: "bedrock/m",
    provider: "bedrock",
    start: (options) => startBedrockUpstream({ ...options, callers: [AWS] }),
  },
};

const env = {
  ANTHROPIC_API_KEY: "k",
  GEMINI_API_KEY: "k",
  COHERE_API_KEY: "k",
  AWS_ACCESS_KEY_ID: AWS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: AWS.secretAccessKey,
  AWS_REGION: "us-east-1",
};

const tools = [{ type: "function", name: "look", parameters: { type: "object", properties: {} } }];
const image_url = "data:image/png;base64,iVBORw0KGgo=";

describe("a compacted conversation on every wire", () => {
  for (const [name, row] of Object.entries(ROWS)) {
    it(`is made and continued (${name})`, async (t) => {
      const told: (readonly Item[])[] = [];
      const engine = respond((request) => {
        told.push(request.items);
        return reply.text(told.length === 1 ? "MEMORY" : "Go on.");
      });
      const upstream = await row.start({ engine });
      t.after(() => upstream.close());
      const { model, provider } = row;
      const usual = { model, provider, url: upstream.url, api_key_name: null };
      const settings = { models: { named: [], usual } };
      const server = await startServer(t, engine, { settings, env });
      const input = [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Look." },
            { type: "input_image", image_url },
          ],
        },
        { type: "reasoning", summary: [], encrypted_content: "of another vendor" },
        { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: "A cat." },
        { role: "assistant", content: "It is a cat." },
        { role: "user", content: "Which colour?" },
        { type: "function_call", call_id: "call_2", name: "look", arguments: "{}" },
      ];
      const made = await server.create({
        input: [...input, { type: "compaction_trigger" }],
        tools,
      });
      const result = { type: "function_call_output", call_id: "call_2", output: "Black." };
      const next = await server.create({ input: [result], previous_response_id: made.id, tools });
      assert.equal(next.output_text, "Go on.");
      assert.equal(told.length, 2);
      assert.match(JSON.stringify(told[0]), /A cat\./);
      const read = JSON.stringify(told[1]);
      assert.match(read, /Look\.[\s\S]*Which colour\?[\s\S]*MEMORY[\s\S]*Black\./);
      assert.doesNotMatch(read, /A cat\./);
    });
  }
});

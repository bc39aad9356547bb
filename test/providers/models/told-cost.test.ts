/** The cost of an answer as vendors report it. The numbers are made up; the forms are the vendors'. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDecoder as createChatDecoder } from "../../../src/providers/chat/decode.ts";
import { responsesWire } from "../../../src/providers/responses/wire.ts";
import { request } from "../provider-contract.ts";
import { decodeAll, endOf } from "../streams.ts";

const FORMS: readonly (readonly [string, object, number | undefined])[] = [
  ["nothing", {}, undefined],
  ["OpenRouter's", { cost: 0.0125, is_byok: false, cost_details: null }, 0.0125],
  [
    "OpenRouter's with a key of the user's own",
    { cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } },
    0.021,
  ],
  ["a free answer's", { cost: 0 }, 0],
  ["Perplexity's", { cost: { input_tokens_cost: 0.001, total_cost: 0.006 } }, 0.006],
  ["xAI's", { cost_in_usd_ticks: 37_756_000 }, 0.0037756],
  ["none that is a cost", { cost: "much", cost_in_usd_ticks: [] }, undefined],
  ["one below nothing", { cost: -1 }, undefined],
];

describe("the reported cost of an answer", () => {
  for (const [name, told, expected] of FORMS) {
    it(`is read on the chat wire: ${name}`, () => {
      const choice = { index: 0, delta: { content: "Yes." }, finish_reason: "stop" };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, ...told };
      const head = { id: "c1", model: "m" };
      const chunks = [
        { ...head, choices: [choice] },
        { ...head, choices: [], usage },
      ];
      assert.equal(endOf(decodeAll(createChatDecoder(), ...chunks, "[DONE]")).cost_usd, expected);
    });

    it(`is read on the Responses wire: ${name}`, () => {
      const content = [{ type: "output_text", text: "Yes.", annotations: [] }];
      const output = [{ type: "message", id: "msg_1", role: "assistant", content }];
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, ...told };
      const response = { id: "resp_1", model: "m", status: "completed", output, usage };
      const decoder = responsesWire.decoder(request({}), {});
      const events = decodeAll(decoder, { type: "response.completed", response });
      assert.equal(endOf(events).cost_usd, expected);
    });
  }
});

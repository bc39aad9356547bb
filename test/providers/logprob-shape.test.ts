/** Probabilities of tokens, on the wires whose servers copy the fields of OpenAI's API. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Logprob } from "../../src/protocol/content.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import { createDecoder } from "../../src/providers/chat/decode.ts";
import { toEmittedLogprobs } from "../../src/responses/fold/emitted-item.ts";
import { completed, created, createResponsesDecoder } from "./responses/wire-events.ts";
import { decodeAll } from "./streams.ts";

const WIRES: Readonly<Record<string, (logprobs: object) => ModelEvent[]>> = {
  chat: (content) =>
    decodeAll(createDecoder(), {
      choices: [{ delta: { content: "Hi" }, logprobs: { content }, finish_reason: "stop" }],
    }),
  responses: (logprobs) =>
    decodeAll(
      createResponsesDecoder(),
      created,
      { type: "response.output_text.delta", output_index: 0, delta: "Hi", logprobs },
      completed(),
    ),
};

for (const [wire, decode] of Object.entries(WIRES)) {
  describe(`the probabilities of tokens on the wire ${wire}`, () => {
    const likelyOf = (logprobs: object): readonly Logprob[] | undefined => {
      const said = decode(logprobs).find((event) => event.type === "text_delta");
      assert.equal(said?.delta, "Hi");
      return said.logprobs;
    };
    const token = { token: "Hi", logprob: -0.5 };

    const HOLES = [[{ token: null, logprob: -1 }], [{ token: "Ho", logprob: null }], [{}]];
    for (const wrong of [7, "word", {}, ["word"], [[]], [null], null, ...HOLES]) {
      it(`are reported without alternatives that are ${JSON.stringify(wrong)}`, () => {
        const likely = likelyOf([{ ...token, bytes: [72, 105], top_logprobs: wrong }]) ?? [];
        assert.deepEqual(toEmittedLogprobs(likely), [
          { ...token, bytes: [72, 105], top_logprobs: [] },
        ]);
      });

      it(`are reported without bytes that are ${JSON.stringify(wrong)}`, () => {
        const top = { token: "Ho", logprob: -2, bytes: wrong };
        const likely = likelyOf([{ ...token, bytes: wrong, top_logprobs: [top] }]) ?? [];
        const told = { ...token, bytes: [], top_logprobs: [{ ...top, bytes: [] }] };
        assert.deepEqual(toEmittedLogprobs(likely), [told]);
      });
    }

    it("are not reported if a token or its probability is missing", () => {
      for (const hole of [{ token: "Hi" }, { logprob: -1 }, { token: null, logprob: -1 }, 7]) {
        assert.equal(likelyOf([token, hole]), undefined);
      }
    });

    it("may leave out the alternatives and the bytes", () => {
      for (const more of [{}, { bytes: null, top_logprobs: null }, { top_logprobs: [{}] }]) {
        assert.equal(likelyOf([{ ...token, ...more }])?.[0]?.token, "Hi");
      }
    });
  });
}

/** The details of an ending on each wire: which text stopped the model, or that its window was full. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { ModelEvent, StopDetail } from "../../src/protocol/model-events.ts";
import { encodeBody } from "../../src/providers/bedrock/encode.ts";
import { createDecoder as createChat } from "../../src/providers/chat/decode.ts";
import { createDecoder as createCohere } from "../../src/providers/cohere/decode.ts";
import { createDecoder as createMessages } from "../../src/providers/messages/decode.ts";
import { CLAUDE, decodeFrames, decodeWhole, toFrames } from "./bedrock/converse.ts";
import { request } from "./provider-contract.ts";
import { decodeAll, endOf } from "./streams.ts";

const STOPS = ["END", "STOP"];
const SEQUENCE: StopDetail = { reason: "stop_sequence", sequence: "END" };

const chat = (choice: object): ModelEvent[] =>
  decodeAll(createChat(STOPS), { id: "c", choices: [{ index: 0, delta: {}, ...choice }] });

const messages = (delta: object): ModelEvent[] =>
  decodeAll(
    createMessages(),
    { type: "message_start", message: { id: "m", content: [] } },
    { type: "message_delta", delta },
    { type: "message_stop" },
  );

const bedrock = (messageStop: JsonObject): ModelEvent[] =>
  decodeFrames(toFrames([{ messageStart: { role: "assistant" } }, { messageStop }]), {
    model: CLAUDE,
  });

const ROWS: Readonly<Record<string, [ModelEvent[], StopDetail | undefined]>> = {
  "messages, a sequence": [
    messages({ stop_reason: "stop_sequence", stop_sequence: "END" }),
    SEQUENCE,
  ],
  "messages, the window": [
    messages({ stop_reason: "model_context_window_exceeded" }),
    { reason: "context_window" },
  ],
  "messages, a plain end": [messages({ stop_reason: "end_turn", stop_sequence: null }), undefined],
  "chat, vLLM's word": [chat({ finish_reason: "stop", stop_reason: "END" }), SEQUENCE],
  "chat, SGLang's word": [chat({ finish_reason: "stop", matched_stop: "END" }), SEQUENCE],
  "chat, the number of a token": [chat({ finish_reason: "stop", stop_reason: 128_001 }), undefined],
  "chat, a word of another meaning": [
    chat({ finish_reason: "stop", stop_reason: "end_turn" }),
    undefined,
  ],
  "bedrock, a sequence": [
    bedrock({
      stopReason: "stop_sequence",
      additionalModelResponseFields: { stop_sequence: "END" },
    }),
    SEQUENCE,
  ],
  "bedrock, one of a model that does not say which": [
    bedrock({ stopReason: "stop_sequence" }),
    { reason: "stop_sequence" },
  ],
  "bedrock, whole": [
    decodeWhole(
      JSON.stringify({
        output: { message: { role: "assistant", content: [{ text: "One" }] } },
        stopReason: "stop_sequence",
        additionalModelResponseFields: { stop_sequence: "END" },
      }),
      { model: CLAUDE },
    ),
    SEQUENCE,
  ],
  cohere: [
    decodeAll(createCohere(request()), {
      type: "message-end",
      delta: { finish_reason: "STOP_SEQUENCE" },
    }),
    { reason: "stop_sequence" },
  ],
};

describe("the details of an ending on a wire", () => {
  for (const [name, [events, stop]] of Object.entries(ROWS)) {
    it(name, () => assert.deepEqual(endOf(events).stop, stop));
  }

  it("is requested on Bedrock if Claude can report it", () => {
    const asked = request({ options: { stop: STOPS } });
    const paths = (model: string) =>
      encodeBody({ ...asked, model }).additionalModelResponseFieldPaths;
    assert.deepEqual(paths(CLAUDE), ["/stop_sequence"]);
    assert.equal(paths("amazon.nova-pro-v1:0"), undefined);
    const none = encodeBody({ ...request(), model: CLAUDE });
    assert.equal(none.additionalModelResponseFieldPaths, undefined);
  });
});

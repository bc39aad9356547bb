/** Documents of every wire, cut at every place: the decoded text is the beginning of the whole text. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { Usage } from "../../../src/protocol/usage.ts";
import { decodeCut } from "../../../src/providers/http/document.ts";
import type { Decoder, WireName } from "../../../src/providers/wire.ts";
import { loadWire } from "../../../src/providers/wires.ts";
import { request } from "../provider-contract.ts";
import { readOwnStreams, type WireFolder } from "../streams.ts";

const WIRES: Readonly<Record<WireFolder, WireName>> = {
  bedrock: "bedrock",
  chat: "openai-chat",
  cohere: "cohere",
  gemini: "gemini",
  messages: "anthropic",
  ollama: "ollama",
  responses: "openai-responses",
};

/**
 * The texts of messages and reasoning, without their order: reasoning is emitted first, and may come last
 * in the document. Without arguments: those that come as an object are written again, and end otherwise.
 */
function textsOf(events: readonly ModelEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (!("delta" in event) || event.type === "arguments_delta") continue;
    const place = `${event.index} ${event.part} ${event.type}`;
    texts.set(place, (texts.get(place) ?? "") + event.delta);
  }
  return [...texts.values()];
}

async function openDecoders(folder: WireFolder): Promise<() => Decoder> {
  const wire = await loadWire(WIRES[folder]);
  return () => wire.decoder(request(), {});
}

for (const folder of Object.keys(WIRES) as WireFolder[]) {
  describe(`a truncated document of ${folder}`, () => {
    for (const { name, body } of readOwnStreams(folder).answers) {
      if (!name.startsWith("whole-") || name === "whole-failure.json") continue;
      it(`has the beginning of ${name}`, async () => {
        const open = await openDecoders(folder);
        const events: ModelEvent[] = [];
        open().read(body, events);
        const texts = textsOf(events);
        for (let at = 0; at < body.length; at++) {
          const cut = decodeCut(body.slice(0, at), open(), {});
          assert.ok(cut.every(({ type }) => type !== "item_end" && type !== "end"));
          for (const text of textsOf(cut)) {
            assert.ok(
              texts.some((said) => said.startsWith(text)),
              `${at}: ${text}`,
            );
          }
        }
        const last = decodeCut(body.trimEnd().slice(0, -1), open(), {});
        assert.deepEqual(textsOf(last), texts);
      });
    }
  });
}

describe("the counts of a cut document", () => {
  it("are reported if they come before the end of what arrived", async () => {
    const open = await openDecoders("chat");
    const usage = { prompt_tokens: 12, completion_tokens: 345 };
    const message = { role: "assistant", content: "Once upon a time" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const body = JSON.stringify({ id: "c", usage, choices });
    const told: Usage[] = [];
    decodeCut(body.slice(0, body.indexOf(" time")), open(), { onUsage: (one) => told.push(one) });
    assert.deepEqual(
      told.map(({ input_tokens, output_tokens }) => [input_tokens, output_tokens]),
      [[12, 345]],
    );
  });
});

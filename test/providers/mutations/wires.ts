/** What is mutated for each wire, and the ways in which its answers are requested. */

import type { Tool } from "../../../src/protocol/tools.ts";
import { bedrockWire } from "../../../src/providers/bedrock/wire.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import { cohereWire } from "../../../src/providers/cohere/wire.ts";
import { geminiWire } from "../../../src/providers/gemini/wire.ts";
import { llamacppWire } from "../../../src/providers/llamacpp/wire.ts";
import { messagesWire } from "../../../src/providers/messages/wire.ts";
import { ollamaWire } from "../../../src/providers/ollama/wire.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { responsesWire } from "../../../src/providers/responses/wire.ts";
import { type VendorName, vendorOf } from "../../../src/providers/vendors/catalog.ts";
import { nativeRowOf } from "../../../src/providers/vendors/native-tools.ts";
import type { Quirks, Wire } from "../../../src/providers/wire.ts";
import { CLAUDE, NOVA } from "../bedrock/converse.ts";
import { request, WEATHER } from "../provider-contract.ts";
import { readOwnStreams, type StreamFolder, type WireFolder } from "../streams.ts";
import { withForms } from "./more-streams.ts";
import type { Asking } from "./soundness.ts";
import type { Mutated } from "./suite.ts";

/** Tools that a vendor may run itself. */
const HOSTED = [
  WEATHER,
  { type: "web_search" },
  { type: "code_interpreter", container: { type: "auto" } },
] as unknown as readonly Tool[];

/** The project's streams, and forms that they do not contain. */
export function ownMutations(wire: WireFolder): Mutated {
  return { wire, ...withForms(wire, readOwnStreams(wire)), askings: ASKINGS[wire] };
}

export function recordedMutations(wire: WireFolder, recordings: StreamFolder): Mutated {
  return { wire: `${wire}, recorded,`, ...recordings, askings: ASKINGS[wire] };
}

const ASKINGS: Readonly<Record<WireFolder, readonly Asking[]>> = {
  // They share a decoder, but differ in what they want back of an answer.
  chat: [
    ask(chatWire, "openai"),
    ask(chatWire, "groq", { tools: HOSTED }),
    ask(chatWire, "openrouter"),
    ask(chatWire, "mistral"),
    ask(llamacppWire, "llamacpp"),
  ],
  responses: [ask(responsesWire, "openai"), ask(responsesWire, "xai", { tools: HOSTED })],
  messages: [ask(messagesWire, "anthropic"), ask(messagesWire, "anthropic", { tools: HOSTED })],
  gemini: [ask(geminiWire, "gemini"), ask(geminiWire, "gemini", { tools: HOSTED })],
  bedrock: [
    ask(bedrockWire, "bedrock", { model: CLAUDE }),
    ask(bedrockWire, "bedrock", { model: NOVA, tools: HOSTED }),
    ask(bedrockWire, "bedrock", {
      model: CLAUDE,
      format: { type: "json_schema", name: "size", schema: { type: "object" }, strict: false },
    }),
  ],
  ollama: [ask(ollamaWire, "ollama")],
  cohere: [ask(cohereWire, "cohere")],
};

export const MUTATED_WIRES = Object.keys(ASKINGS) as readonly WireFolder[];

function ask(wire: Wire, vendor: VendorName, more: Partial<ModelRequest> = {}): Asking {
  const native = nativeRowOf(vendor, wire.name);
  const quirks: Quirks = { ...vendorOf(vendor).quirks, native };
  const about = more.tools ? "with tools of its own" : (more.format?.type ?? "plainly");
  return { name: `${vendor} asked ${about}`, wire, request: request(more), quirks };
}

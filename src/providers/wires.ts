/**
 * Every wire by its name, with how to load it: a command loads only the one that it uses. The names are
 * those of providers in the config and on the command line.
 */

import type { Wire, WireName } from "./wire.ts";

interface WireRow {
  readonly summary: string;
  /** The vendor that is used if only the provider is named. */
  readonly vendor: string;
  readonly load: () => Promise<Wire>;
}

export const WIRES = {
  "openai-chat": {
    vendor: "openai",
    summary: "Chat completions, as any compatible server speaks it",
    load: async () => (await import("./chat/wire.ts")).chatWire,
  },
  "openai-responses": {
    vendor: "openai",
    summary: "The Responses API, in its published and its older vocabulary",
    load: async () => (await import("./responses/wire.ts")).responsesWire,
  },
  anthropic: {
    vendor: "anthropic",
    summary: "The Messages API of Anthropic",
    load: async () => (await import("./messages/wire.ts")).messagesWire,
  },
  "vertexai-anthropic": {
    vendor: "vertexai",
    summary: "The Messages API at Google Cloud",
    load: async () => (await import("./messages/vertex.ts")).vertexWire,
  },
  gemini: {
    vendor: "gemini",
    summary: "The generateContent API of Google",
    load: async () => (await import("./gemini/wire.ts")).geminiWire,
  },
  "vertexai-gemini": {
    vendor: "vertex",
    summary: "The generateContent API at Google Cloud",
    load: async () => (await import("./gemini/wire.ts")).vertexGeminiWire,
  },
  bedrock: {
    vendor: "bedrock",
    summary: "The Converse API of Amazon Bedrock",
    load: async () => (await import("./bedrock/wire.ts")).bedrockWire,
  },
  cohere: {
    vendor: "cohere",
    summary: "The chat API of Cohere, version 2",
    load: async () => (await import("./cohere/wire.ts")).cohereWire,
  },
  ollama: {
    vendor: "ollama",
    summary: "Ollama's own API",
    load: async () => (await import("./ollama/wire.ts")).ollamaWire,
  },
  llamacpp: {
    vendor: "llamacpp",
    summary: "llama-server's chat completions, with its grammars",
    load: async () => (await import("./llamacpp/wire.ts")).llamacppWire,
  },
} as const satisfies Record<WireName, WireRow>;

export function isWire(name: string): name is WireName {
  return Object.hasOwn(WIRES, name);
}

export function loadWire(name: WireName): Promise<Wire> {
  return WIRES[name].load();
}

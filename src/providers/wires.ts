/**
 * Every wire by its name, with how to load it: a command pays for the one it speaks. The names are
 * those of providers in config and on the command line.
 */

import type { Wire } from "./wire.ts";

interface WireRow {
  readonly summary: string;
  readonly load: () => Promise<Wire>;
}

export const WIRES = {
  "openai-chat": {
    summary: "Chat completions, as any compatible server speaks it",
    load: async () => (await import("./chat/wire.ts")).chatWire,
  },
  "openai-responses": {
    summary: "The Responses API, in its published and its older vocabulary",
    load: async () => (await import("./responses/wire.ts")).responsesWire,
  },
} as const satisfies Record<string, WireRow>;

export type WireName = keyof typeof WIRES;

export function isWire(name: string): name is WireName {
  return Object.hasOwn(WIRES, name);
}

export function loadWire(name: WireName): Promise<Wire> {
  return WIRES[name].load();
}

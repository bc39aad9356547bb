/** What vendors take at most of something. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { refuseExcess } from "../../../src/providers/http/refuse-excess.ts";
import { type VendorName, vendorOf } from "../../../src/providers/vendors/catalog.ts";
import type { WireName } from "../../../src/providers/wire.ts";
import { loadWire } from "../../../src/providers/wires.ts";
import { request, WEATHER } from "../provider-contract.ts";

/** The most stop sequences and characters in a tool's name; null if there is no known limit. */
const ROWS: readonly [VendorName, WireName, number | null, number | null][] = [
  ["openai", "openai-chat", 4, 128],
  ["azure", "openai-chat", 4, 128],
  ["groq", "openai-chat", 4, null],
  ["cerebras", "openai-chat", 4, null],
  ["xai", "openai-chat", 4, null],
  ["deepseek", "openai-chat", 16, 64],
  ["alibaba", "openai-chat", null, 64],
  ["gemini", "gemini", 5, 128],
  ["vertex", "vertexai-gemini", 5, 128],
  ["cohere", "cohere", 5, null],
  ["bedrock", "bedrock", null, 64],
  ["anthropic", "anthropic", null, 128],
  ["custom", "openai-chat", null, null],
  ["vllm", "openai-chat", null, null],
];

for (const [vendor, name, stops, chars] of ROWS) {
  it(`${vendor} is sent ${stops ?? "any number of"} stop sequences, and tools with names of ${chars ?? "any number of"} characters`, async () => {
    const wire = await loadWire(name);
    const { quirks } = vendorOf(vendor);
    const check = (stopCount: number, nameChars: number): void =>
      refuseExcess(
        request({
          options: { stop: Array.from({ length: stopCount }, String) },
          tools: [WEATHER, { ...WEATHER, name: "x".repeat(nameChars) }],
        }),
        { vendor, wire, quirks },
      );
    check(stops ?? 1000, chars ?? 1000);
    const refused = (param: string) => ({ code: "invalid_request", param });
    if (stops !== null) assert.throws(() => check(stops + 1, 1), refused("stop"));
    if (chars !== null) assert.throws(() => check(0, chars + 1), refused("tools"));
  });
}

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { Item } from "../../src/protocol/items.ts";
import { loadWire } from "../../src/providers/wires.ts";
import { CONTRACT_WIRES } from "./contract-wires.ts";
import { request } from "./provider-contract.ts";

/** In the form that a client may send: its content is not checked. */
const PART = { type: "acme_part", text: { of: "no text" } };

describe("a part of an unknown kind, whose text is not a string", () => {
  for (const { name, wire } of CONTRACT_WIRES) {
    for (const role of ["assistant", "developer"] as const) {
      it(`is not sent as text to ${name} either, from the ${role}`, async () => {
        const content = [PART, { type: "input_text", text: "Hi" }];
        const item = { type: "message", role, content } as unknown as Item;
        const { encode } = await loadWire(wire);
        try {
          const body = encode(request({ items: [item, ...request().items] }), {});
          assert.doesNotMatch(JSON.stringify(body), /object Object/);
        } catch (thrown) {
          assert.ok(thrown instanceof Failure, String(thrown));
        }
      });
    }
  }
});

/** A JSON object without a schema, if the API has no such mode. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { askInWords } from "../../src/providers/json-in-words.ts";
import { JSON_RULE } from "../../src/providers/json-rule.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import type { WireName } from "../../src/providers/wire.ts";
import { loadWire, WIRES } from "../../src/providers/wires.ts";
import { patience } from "../patience.ts";
import { request } from "./provider-contract.ts";

const NAMES = Object.keys(WIRES) as WireName[];
const asked = request({ format: { type: "json_object" } });

/** A provider over a wire, which records its requests. */
function keeping(name: string): { readonly provider: Provider; readonly kept: ModelRequest[] } {
  const kept: ModelRequest[] = [];
  const provider: Provider = {
    name,
    async *stream(given) {
      kept.push(given);
      yield [];
    },
  };
  return { provider, kept };
}

async function passed(name: string, given: ModelRequest): Promise<ModelRequest> {
  const { provider, kept } = keeping(name);
  const stream = askInWords(provider).stream(given, { signal: patience() });
  for await (const _ of stream);
  return kept[0] ?? assert.fail("nothing was asked");
}

describe("a JSON object without a schema", () => {
  for (const name of NAMES) {
    it(`can be requested over ${name}`, async () => {
      const wire = await loadWire(name);
      let refuses = false;
      try {
        wire.encode(asked, {});
      } catch (thrown) {
        refuses = thrown instanceof Failure && thrown.param === "text.format";
        assert.ok(refuses);
      }
      const given = await passed(name, asked);
      assert.equal(given !== asked, refuses, "it is changed where it would be refused alone");
      assert.match(JSON.stringify(wire.encode(given, {})), /json/i);
    });
  }

  it("is requested after the instructions", async () => {
    const given = await passed("anthropic", asked);
    assert.deepEqual(given.format, { type: "text" });
    assert.ok(given.instructions?.startsWith(`Be brief.\n\n${JSON_RULE}`));
    const bare = await passed("anthropic", { ...asked, instructions: undefined });
    assert.ok(bare.instructions?.startsWith(JSON_RULE));
  });

  it("leaves every other request unchanged", async () => {
    const text = request();
    assert.equal(await passed("anthropic", text), text);
    const { provider } = keeping("openai-chat");
    assert.equal(askInWords(provider), provider);
  });
});

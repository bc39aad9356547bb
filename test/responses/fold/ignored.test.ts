import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type OwnField, tellIgnored } from "../../../src/responses/fold/ignored.ts";

interface Answer {
  metadata: Record<string, string>;
  offshoot?: OwnField | undefined;
}

function told(ignored: readonly string[], metadata: Record<string, string> = {}): Answer {
  const answer: Answer = { metadata: {} };
  tellIgnored(answer, metadata, ignored);
  return answer;
}

describe("the fields that an answer says were left out", () => {
  it("are none if none were", () => {
    assert.deepEqual(told([], { a: "1" }), { metadata: { a: "1" } });
  });

  it("are all in the server's own field, each once", () => {
    const { offshoot } = told(["seed", "top_p", "seed"]);
    assert.deepEqual(offshoot, { ignored: ["seed", "top_p"] });
  });

  it("keep what the field said before", () => {
    const stop = { reason: "x" } as unknown as NonNullable<OwnField["stop"]>;
    const answer: Answer = { metadata: {}, offshoot: { ignored: [], stop } };
    tellIgnored(answer, {}, ["seed"]);
    assert.deepEqual(answer.offshoot, { ignored: ["seed"], stop });
  });

  const inMetadata: readonly (readonly [string, string, boolean])[] = [
    ["an unknown parameter", "acme_mode", true],
    ["a field of an unknown parameter", "acme.mode", true],
    ["a published parameter", "top_p", false],
    ["a field of a published parameter", "text.verbosity", false],
    ["a tool of an unknown kind", "tools[1] (acme)", true],
    ["an unknown value of include", "include (acme)", true],
    ["an item of an unknown kind", "input[0] (acme)", true],
    ["a published field of a part", "prompt_cache_breakpoint", false],
    ["a word that every object has", "constructor", true],
  ];
  for (const [what, name, isTold] of inMetadata) {
    it(`are ${isTold ? "" : "not "}in the metadata if it is ${what}`, () => {
      assert.equal(told([name]).metadata["offshoot_ignored"], isTold ? name : undefined);
    });
  }

  it("leave the client's metadata as it is if that is full", () => {
    const full = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, "v"]));
    assert.deepEqual(told(["acme"], full).metadata, full);
  });

  it("are a hundred at most", () => {
    const names = Array.from({ length: 200 }, (_, at) => `acme_${at}`);
    assert.deepEqual(told(names).offshoot?.ignored, names.slice(0, 100));
  });

  it("never fill an answer, and never lose a pair of the client's", () => {
    const name = fc.string({ minLength: 1, maxLength: 400 });
    const property = fc.property(
      fc.array(name, { maxLength: 150 }),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string({ maxLength: 20 }), {
        maxKeys: 16,
      }),
      (ignored, metadata) => {
        const { metadata: made, offshoot } = told(ignored, metadata);
        assert.deepEqual({ ...made, ...metadata }, made);
        assert.ok(Object.keys(made).length <= 16);
        assert.ok((made["offshoot_ignored"] ?? "").length <= 512);
        assert.ok((offshoot?.ignored ?? []).length <= 100);
        for (const one of offshoot?.ignored ?? []) assert.ok(one.length <= 201, one);
      },
    );
    fc.assert(property, { numRuns: 200 });
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { DeltaTemplate } from "../../../src/providers/chat/delta-template.ts";

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content: string } }[];
}

/** Ordinary texts of models, and texts that could be mistaken for JSON. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom('"', "\\", '\\"', '"content":"', '"},"x":{"content":"a', "\n", "é", "a", "b"),
);

const chunk = (content: string, id: string, others: object): string =>
  JSON.stringify({ id, ...others, choices: [{ index: 0, delta: { content } }], ...others });

describe("a template of chunks", () => {
  it("reads exactly what a parser reads in the same place", () => {
    const notes = ["a", "b"].map((content) => ({ note: { content } }));
    const others = fc.constantFrom({}, ...notes, { seed: '"content":"a"' });
    const stream = fc.array(fc.tuple(text, fc.constantFrom("a", "ab"), others), { maxLength: 30 });
    fc.assert(
      fc.property(stream, (chunks) => {
        const template = new DeltaTemplate();
        let learned: Chunk | undefined;
        for (const [content, id, rest] of chunks) {
          const data = chunk(content, id, rest);
          const parsed = JSON.parse(data) as Chunk;
          const known = template.read(data);
          if (known === undefined) {
            template.learn(data, content);
            if (template.read(data) === content) learned = parsed;
            continue;
          }
          assert.equal(known, content);
          const [choice] = learned?.choices ?? [];
          const expected = { ...learned, choices: [{ ...choice, delta: { content } }] };
          assert.deepEqual(parsed, expected);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("reads every chunk like the learned one", () => {
    const template = new DeltaTemplate();
    template.learn(chunk("Hello", "a", {}), "Hello");
    for (const content of [" there", ", the", "é", "…"]) {
      assert.equal(template.read(chunk(content, "a", {})), content);
    }
    assert.equal(template.read(chunk("a\nb", "a", {})), undefined);
    assert.equal(template.read(chunk(" there", "b", {})), undefined);
  });

  it("is given up if every chunk has something new in it", () => {
    const template = new DeltaTemplate();
    const read = (at: number): string | undefined => {
      const data = chunk("Hello", `${at}`, {});
      const known = template.read(data);
      if (known === undefined) template.learn(data, "Hello");
      return known;
    };
    for (let at = 0; at < 100; at++) assert.equal(read(at), undefined);
    template.learn(chunk("Hello", "a", {}), "Hello");
    assert.equal(template.read(chunk("Hello", "a", {})), undefined);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as kit from "../../../src/testing/index.ts";
import { type Answered, eventsIn, joined, post } from "../post.ts";

const { FAULTS, reply, script, startChatUpstream, startResponsesUpstream } = kit;

const TEXT = "Hello, wörld of €uros and 🙂!";
const WIRES = [
  {
    start: startChatUpstream,
    path: "/chat/completions",
    body: { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true },
    said: (text: string): string =>
      eventsIn(text)
        .map((chunk) => chunk.choices?.[0]?.delta.content ?? "")
        .join(""),
  },
  {
    start: startResponsesUpstream,
    path: "/responses",
    body: { model: "m", input: "Hi", stream: true },
    said: (text: string): string => joined(eventsIn(text), "response.output_text.delta"),
  },
];

/** How a careful client reads the answer: only an answer that says it is whole counts as whole. */
function readCarefully({ status, text, broken }: Answered, said: (text: string) => string) {
  const isWhole = status === 200 && !broken && /\[DONE\]|"response.completed"/.test(text);
  return isWhole ? said(text) : "error";
}

describe("FAULTS", () => {
  it("names every fault of the kit, each row once", () => {
    const names = FAULTS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    const made = new Set(FAULTS.map(({ create }) => create().name));
    const constructors = Object.entries(kit)
      .filter(
        ([name, value]) =>
          typeof value === "function" && !/^(create|start|script|respond)/.test(name),
      )
      .map(([name]) => name);
    assert.deepEqual([...made].sort(), constructors.sort());
  });

  // These two never end by themselves; `faults.test.ts` tests them.
  const ending = FAULTS.filter(({ name }) => name !== "silence" && name !== "no answer");
  for (const { name, expect, create } of ending) {
    it(`${name}: a careful client gets ${expect === "error" ? "an error" : "the same answer"}`, async () => {
      for (const { start, path, body, said } of WIRES) {
        // Ten megabytes would be most of this file's time.
        const fault = name === "long line" ? kit.longLine(100_000) : create();
        await using upstream = await start({ engine: script(reply.text(TEXT)), faults: fault });
        let answer = await post(upstream.url + path, body);
        if (name.endsWith("once")) answer = await post(upstream.url + path, body);
        assert.equal(readCarefully(answer, said), expect === "error" ? "error" : TEXT, path);
      }
    });
  }
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { respond } from "../../src/testing/index.ts";
import { reply } from "../../src/testing/reply.ts";
import type { Answer, Question } from "../../src/tools/gate/ask.ts";
import { calling, playing, spawning } from "./family.ts";
import { startTree } from "./tree-fixture.ts";

const AGENT = {
  name: "writer",
  description: "Writes.",
  path: "writer.md",
  model: undefined,
  tools: undefined,
  budget: {},
  outputSchema: undefined,
  schemaFile: undefined,
  instructions: "Write.",
};

describe("the questions of subagents", () => {
  for (const [answer, count] of [
    ["always", 2],
    ["tree", 1],
  ] as const) {
    it(`name the child, and ${answer} is for ${count === 1 ? "all" : "the one that asked"}`, async (t) => {
      const root = playing({
        go: calling(spawning("one"), ["subagent", { ...spawning("two")[1], agent: "writer" }]),
      });
      const engine = respond((request) => {
        const [first] = request.items;
        if (first?.type === "message" && first.content === "go") {
          return root.next(request) ?? reply.text("done");
        }
        const isDone = request.items.some(({ type }) => type === "function_call_output");
        if (isDone) return reply.text("Written.");
        const write = { path: "a.txt", content: "x" };
        return reply.calls([{ name: "write", arguments: JSON.stringify(write) }]);
      });
      const asked: Question[] = [];
      const ask = async (question: Question, signal: AbortSignal): Promise<Answer> => {
        asked.push(question);
        // The second question waits for the first answer, as it does on a terminal.
        if (asked.length > 1) await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
        return answer;
      };
      const tree = await startTree(t, engine, {
        ask,
        agents: [AGENT],
        delegation: { maxParallel: 1 },
      });
      const { end } = await tree.run({ tools: ["read", "write", "subagent"] });
      assert.equal(end.ending, "completed");
      assert.equal(asked.length, count);
      const [question] = asked;
      const named = question?.child?.label ?? "";
      assert.deepEqual(
        { ...question?.child, path: question?.child?.path.replace(/-1\.\d$/, "") },
        {
          label: named,
          agent: named === "two" ? "writer" : null,
          path: `/root/${named}`,
          depth: 1,
          task: named,
        },
      );
    });
  }
});

/** How many calls of one turn run at the same time: in a run, in its children, in a response of the server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { defineTool } from "../../src/tools/define-tool.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { calling, playing, spawning } from "../delegation/family.ts";
import { startTree } from "../delegation/tree-fixture.ts";
import { startServer } from "../server/server-fixture.ts";

interface Meeting {
  readonly tool: Tool;
  /** The most calls that ran at once. */
  readonly most: number;
}

/** A tool whose calls continue in groups of `size`: with fewer at the same time they would wait for ever. */
function createMeeting(size: number): Meeting {
  let here = 0;
  let most = 0;
  const leave: (() => void)[] = [];
  return {
    get most() {
      return most;
    },
    tool: defineTool({
      name: "meet",
      description: "Meets others.",
      parameters: z.object({ n: z.number() }),
      readOnly: true,
      async run({ n }) {
        most = Math.max(most, ++here);
        await new Promise<void>((resolve) => {
          leave.push(resolve);
          if (leave.length < size) return;
          // So that one call too many would be noticed.
          setImmediate(() => {
            for (const go of leave.splice(0)) go();
          });
        });
        here--;
        return String(n);
      },
    }),
  };
}

const meetings = (count: number) =>
  Array.from({ length: count }, (_, n) => ["meet", { n }] as const);

describe("calls of one turn", () => {
  for (const [options, size] of [
    [{ parallelCalls: 1 }, 1],
    [{ parallelCalls: 3 }, 3],
    [{}, 8],
  ] as const) {
    it(`run ${size} at once with the options ${JSON.stringify(options)}`, async (t) => {
      const meeting = createMeeting(size);
      const engine = playing({ go: calling(...meetings(size * 2)) });
      const tree = await startTree(t, engine, { tools: [meeting.tool], ...options });
      const { end } = await tree.run({ tools: ["meet"] });
      assert.deepEqual([end.ending, end.tool_calls], ["completed", size * 2]);
      assert.equal(meeting.most, size);
    });
  }

  it("run this many at once in a subagent, too", async (t) => {
    const meeting = createMeeting(2);
    const engine = playing({ go: calling(spawning("child")), child: calling(...meetings(4)) });
    const tree = await startTree(t, engine, { tools: [meeting.tool], parallelCalls: 2 });
    const { end } = await tree.run({ tools: ["meet", "subagent"] });
    assert.equal(end.ending, "completed");
    assert.equal(meeting.most, 2);
  });

  it("do not count while they wait for subagents", async (t) => {
    const meeting = createMeeting(2);
    const engine = playing({
      go: calling(spawning("one"), spawning("two"), ["subagent", { label: "bad" }]),
      one: calling(...meetings(1)),
      two: calling(...meetings(1)),
    });
    const tree = await startTree(t, engine, { tools: [meeting.tool], parallelCalls: 1 });
    const { end } = await tree.run({ tools: ["meet", "subagent"] });
    assert.equal(end.ending, "completed");
    assert.equal(meeting.most, 2);
  });

  it("run this many at once in a response of the server", async (t) => {
    const meeting = createMeeting(2);
    const engine = playing({
      go: calling(...meetings(4).map(([, input]) => ["offshoot__meet", input] as const)),
    });
    const server = await startServer(t, engine, {
      tools: [meeting.tool],
      parallelCalls: 2,
      caller: { catalogue: ["meet"] },
    });
    const tools = [{ type: "mcp", server_label: "offshoot", require_approval: "never" }];
    const { output_text, output } = await server.create({ input: "go", tools });
    assert.equal(output_text, "done");
    assert.equal(output.filter(({ type }) => type === "mcp_call").length, 4);
    assert.equal(meeting.most, 2);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { reply } from "../../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";
import { type ChildrenPlace, startGrownTree } from "./grown-tree.ts";

/** The root has one subagent, which answers at once. */
function toProvider(tell: (run: string, request: ModelRequest) => void): Provider {
  const makeId = createCountingIds();
  const call = { name: "subagent", arguments: { label: "one", task_prompt: "go on" } };
  return {
    name: "one child",
    async *stream(request, { run = "", signal }) {
      tell(run, request);
      const isFirst = run === "run_root" && request.items.length === 1;
      const answer = isFirst ? reply.calls([call]) : reply.text("Done.");
      yield* replyEvents(answer, request, { signal, makeId });
    },
  };
}

describe("a subagent", () => {
  const asks: Readonly<Record<ChildrenPlace, boolean>> = {
    in_process: true,
    child_process: true,
    anywhere: false,
  };
  for (const [executor, isAnswered] of Object.entries(asks)) {
    const offered = isAnswered ? "is offered" : "is not offered";
    it(`of ${executor} ${offered} \`ask_parent\`, because ${isAnswered ? "its" : "no"} parent can answer`, async () => {
      const place = executor as ChildrenPlace;
      const tree = await startGrownTree({
        toProvider,
        limits: NO_LIMITS,
        maxDepth: 1,
        executor: place,
        isRecorded: true,
      });
      assert.equal((await tree.engine.result(tree.id)).ending, "completed");
      const child = tree.asked.find(({ run }) => run !== tree.id);
      const tools = JSON.stringify(child?.request.tools);
      assert.equal(tools.includes('"ask_parent"'), isAnswered, tools);
      await tree.engine.stop();
    });
  }
});

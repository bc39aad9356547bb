/** A tree that is cancelled while its children wait for their models: what they had used is paid for. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import { untilAborted } from "../../src/base/async.ts";
import type { RunEnd } from "../../src/protocol/run-events.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { reply } from "../../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";
import { untilTrue } from "../patience.ts";
import { type ChildrenPlace, type GrownTree, startGrownTree } from "./grown-tree.ts";

const CHILDREN = 3;
const NEVER_ENDS = new Promise<never>(() => {});
const limits: Limits = { ...NO_LIMITS, tokens: 100_000, children: 10 };

const PLACES: Readonly<Record<ChildrenPlace, string>> = {
  in_process: "which spend from its account",
  child_process: "which spend by themselves",
  anywhere: "which may run in any process",
};

/** Each child says something, and then nothing more. */
function createModel() {
  const makeId = createCountingIds();
  const silent = new Set<string>();
  const calls = Array.from({ length: CHILDREN }, (_, at) => ({
    name: "subagent",
    arguments: { label: `c${at}`, task_prompt: `part ${at}` },
  }));
  const toProvider = (): Provider => ({
    name: "scripted",
    async *stream(request, { run = "", signal }) {
      const isChild = run.includes("/");
      const said = isChild ? reply.text("A part of the answer.") : reply.calls(calls);
      for await (const batch of replyEvents(said, request, { signal, makeId })) {
        yield batch;
        if (!isChild || !batch.some(({ type }) => type === "text_delta")) continue;
        silent.add(run);
        await untilAborted(NEVER_ENDS, signal);
      }
    },
  });
  return { toProvider, silent };
}

async function endOf({ store }: GrownTree, id: string): Promise<RunEnd> {
  const log = await store.readEvents(id, -1, 1_000_000);
  const end = log.at(-1)?.event;
  assert.ok(end?.type === "run_end", `${id} has not ended`);
  return end;
}

describe("a tree that is cancelled", () => {
  for (const [executor, where] of Object.entries(PLACES)) {
    it(`has spent what its children had used by then, ${where}`, async () => {
      const { toProvider, silent } = createModel();
      const place = executor as ChildrenPlace;
      const tree = await startGrownTree({ toProvider, limits, maxDepth: 1, executor: place });
      await untilTrue(() => silent.size === CHILDREN, "all children have said something");
      await tree.engine.cancel(tree.id, { tree: true });
      await tree.engine.result(tree.id);
      const children = await Promise.all([...silent].map((id) => endOf(tree, id)));
      const used = children.map(({ spent }) => Number(spent["tokens"]));
      assert.ok(used.every((tokens) => tokens > 0));
      const { ending, spent, usage } = await endOf(tree, tree.id);
      assert.equal(ending, "cancelled");
      const below = used.reduce((sum, tokens) => sum + tokens, 0);
      assert.equal(spent["tokens"], usage.total_tokens + below);
      assert.equal(spent["children"], CHILDREN);
      await tree.engine.stop();
    });
  }
});

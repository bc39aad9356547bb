/** A parent that is killed while children hold a part of its budget: what they had spent stays spent. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KINDS, type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import { untilAborted } from "../../src/base/async.ts";
import type { RunEnd } from "../../src/protocol/run-events.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { type AnswerReply, reply, type ScriptedCall } from "../../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";
import { untilTrue } from "../patience.ts";
import { type ChildrenPlace, type GrownTree, startGrownTree } from "./grown-tree.ts";
import { passTicks } from "./random-tree.ts";

const TOKENS = 100_000;
/** The size of an answer of `many`. */
const ANSWER = 10_000;
const READ = { name: "read", arguments: { path: "none.txt" } };

/** How many answers each has given when the process is killed. */
const BEFORE = { few: 0, many: 5 };

type Child = keyof typeof BEFORE;
const LITTLE = { input: 10, output: 10 };
const NEVER_ENDS = new Promise<never>(() => {});

interface Scene {
  readonly calls: readonly ScriptedCall[];
  /** True if `many` has ended by then; otherwise it still works. */
  readonly hasEnded: boolean;
}

const task = (label: string) => ({ label, task_prompt: label, max_turns: 20 });
const SUBAGENTS: readonly ScriptedCall[] = [
  { name: "subagent", arguments: task("many") },
  { name: "subagent", arguments: task("few") },
];
const SCENES: Readonly<Record<string, Scene>> = {
  "of two calls": { calls: SUBAGENTS, hasEnded: false },
  "of two calls, one of which has ended": { calls: SUBAGENTS, hasEnded: true },
  "of one call": {
    calls: [{ name: "parallel_subagent", arguments: { tasks: [task("many"), task("few")] } }],
    hasEnded: false,
  },
  "in the background": {
    calls: SUBAGENTS.map((call) => ({
      ...call,
      arguments: { ...(call.arguments as object), background: true },
    })),
    hasEnded: false,
  },
};

/**
 * Both children reach a call that is in flight when the process is killed. Then `few` continues first, and takes all
 * that it can get.
 */
function createModel({ calls, hasEnded }: Scene) {
  const makeId = createCountingIds();
  const answered = { few: 0, many: 0 };
  let isKilled = false;
  let waiting = 0;
  const hasWorked = (): boolean => answered.many === BEFORE.many && (hasEnded || waiting > 0);
  const beforeRun = async (id: string): Promise<void> => {
    if (!isKilled && id.includes("/few-")) await untilTrue(hasWorked, "the other one has worked");
    if (!isKilled || !id.includes("/many-")) return;
    await untilTrue(() => answered.few > 0, "the other one continues");
    await passTicks(200);
  };
  const toOwnReply = ({ items }: ModelRequest): AnswerReply => {
    const isFirst = !items.some(({ type }) => type === "function_call_output");
    return isFirst ? reply.calls(calls, { usage: LITTLE }) : reply.text("done", { usage: LITTLE });
  };
  const toChildReply = (name: Child, { max_output_tokens = TOKENS }: ModelRequest): AnswerReply => {
    const most = name === "few" ? max_output_tokens : ANSWER;
    const usage = { input: 10, output: Math.min(most, max_output_tokens) };
    const isOver = isKilled || (hasEnded && answered.many === BEFORE.many);
    const isLast = name === "many" && isOver;
    return isLast ? reply.text("done", { usage }) : reply.calls([READ], { usage });
  };
  const toProvider = (tell: (run: string, request: ModelRequest) => void): Provider => ({
    name: "scripted",
    async *stream(request, { run = "", signal }) {
      tell(run, request);
      const name = /\/(few|many)-/.exec(run)?.[1] as Child | undefined;
      if (name && !isKilled && answered[name] === BEFORE[name]) {
        waiting++;
        await untilAborted(NEVER_ENDS, signal);
      }
      if (name) answered[name]++;
      const said = name ? toChildReply(name, request) : toOwnReply(request);
      yield* replyEvents(said, request, { signal, makeId });
    },
  });
  return {
    toProvider,
    beforeRun,
    /** Passes when all that still work wait. */
    untilWaiting: () => untilTrue(() => waiting === (hasEnded ? 1 : 2), "the children wait"),
    kill: () => {
      isKilled = true;
    },
  };
}

async function endOf(tree: GrownTree, id: string): Promise<RunEnd> {
  const log = await tree.store.readEvents(id, -1, 1_000_000);
  const end = log.at(-1)?.event;
  assert.ok(end?.type === "run_end", `${id} has not ended`);
  return end;
}

const limits: Limits = { ...NO_LIMITS, tokens: TOKENS, children: 10 };

const PLACES: Readonly<Record<ChildrenPlace, string>> = {
  in_process: "which spend from its account",
  child_process: "which spend by themselves",
  anywhere: "which may run in any process",
};

describe("children of a run that is killed and resumed", () => {
  for (const [executor, where] of Object.entries(PLACES)) {
    for (const [title, scene] of Object.entries(SCENES)) {
      it(`are counted once, and leave no moment above the limit: ${title}, ${where}`, async () => {
        const model = createModel(scene);
        const { toProvider, beforeRun } = model;
        const setup = {
          toProvider,
          beforeRun,
          limits,
          maxDepth: 1,
          executor: executor as ChildrenPlace,
        };
        const tree = await startGrownTree(setup);
        await model.untilWaiting();
        if (scene.hasEnded) await untilCallEnds(tree);
        model.kill();
        await tree.killAndResume();
        await tree.engine.result(tree.id);
        assert.deepEqual(tree.overdrawn, []);
        const { spent } = await endOf(tree, tree.id);
        const runs = (await tree.store.listRuns({ limit: 10 })).filter(
          ({ parent_id }) => parent_id,
        );
        assert.equal(runs.length, 2);
        const ends = await Promise.all(runs.map(({ id }) => endOf(tree, id)));
        const below = ends.reduce((sum, end) => sum + Number(end.spent["tokens"]), 0);
        const own = Number(spent["tokens"]) - below;
        assert.ok(own > 0 && own < 100, `${own} tokens of its own, beside ${below}`);
        assert.equal(spent["children"], 2);
        for (const kind of KINDS)
          assert.ok(Number(spent[kind]) <= (limits[kind] ?? Infinity), kind);
        assert.ok(below > TOKENS * 0.7, `they got only ${below}`);
        await tree.engine.stop();
      });
    }
  }
});

/** The call of the child that has ended is in the journal. */
async function untilCallEnds({ store, id }: GrownTree): Promise<void> {
  await untilTrue(async () => {
    const log = await store.readEvents(id, -1, 1_000_000);
    return log.some(({ event }) => event.type === "tool_end");
  }, "the first call has ended");
}

/**
 * Trees of runs in which everything is random: how many children, how deep, what they spend, which fail, hang, or are
 * cancelled. The random numbers are seeded, so a tree that fails can be run again.
 */

import type { Limits } from "../../src/agent/limits.ts";
import { Failure } from "../../src/base/failure.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { type AnswerReply, reply, type ScriptedCall } from "../../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";
import { type ChildrenPlace, type GrownTree, startGrownTree } from "./grown-tree.ts";

/** Numbers from 0 to 1, the same for the same seed. */
export type Chance = () => number;

export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface ReplyUsage {
  readonly input: number;
  readonly output: number;
}

export interface TreeWish {
  readonly chance: Chance;
  readonly maxDepth: number;
  readonly limits: Limits;
  /** True if every run that may delegate does, to one child: as deep as it is allowed. */
  readonly isDeep: boolean;
  readonly executor: ChildrenPlace;
}

/** Starts the tree; it ends by itself, or the caller cancels it. */
export async function startRandomTree(wish: TreeWish): Promise<GrownTree> {
  const { maxDepth, limits, executor, chance } = wish;
  const toProvider = (tell: Tell): Provider => createRandomProvider(wish, tell);
  // A run may begin long after its siblings, also when all of them are resumed.
  const beforeRun = (): Promise<void> => passTicks(chance() < 0.3 ? chance() * 30 : 0);
  return await startGrownTree({ toProvider, maxDepth, limits, executor, beforeRun });
}

/** Lets others have this many turns of the event loop. */
export async function passTicks(ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
}

type Tell = (run: string, request: ModelRequest) => void;

/** Says something, delegates, or breaks. What it says never costs more than it was allowed to. */
function createRandomProvider(
  { chance, isDeep }: Pick<TreeWish, "chance" | "isDeep">,
  tell: Tell,
): Provider {
  const makeId = createCountingIds();
  let calls = 0;
  const toTask = (): JsonObject => ({
    label: `child ${calls++}`,
    task_prompt: "go on",
    max_turns: 4,
  });
  const toCall = (): ScriptedCall => {
    const roll = isDeep ? 0 : chance();
    if (roll > 0.9) return { name: "call_subagent", arguments: { prompt: "go on" } };
    if (roll > 0.75) {
      const tasks = Array.from({ length: 1 + Math.floor(chance() * 3) }, toTask);
      return { name: "parallel_subagent", arguments: { tasks } };
    }
    const background = !isDeep && chance() < 0.4 ? { background: true } : {};
    return { name: "subagent", arguments: { ...toTask(), ...background } };
  };
  const toCalls = (request: ModelRequest, roll: number): readonly ScriptedCall[] => {
    const mayDelegate = JSON.stringify(request.tools).includes('"subagent"');
    const isFirst = !request.items.some(({ type }) => type === "function_call_output");
    if (isDeep) return mayDelegate && isFirst ? [toCall()] : [];
    const asking = findAsking(JSON.stringify(request.items));
    if (asking !== undefined && chance() < 0.8) return [toAnswer(asking)];
    const count = mayDelegate && roll < 0.55 ? 1 + Math.floor(chance() * 3) : 0;
    return count > 0 ? Array.from({ length: count }, toCall) : toAside(request, chance);
  };
  const toReply = (request: ModelRequest, roll: number, usage: ReplyUsage): AnswerReply => {
    const calls = toCalls(request, roll);
    return calls.length > 0 ? reply.calls(calls, { usage }) : reply.text("Done.", { usage });
  };
  return {
    name: "random",
    async *stream(request, { run = "", signal }) {
      tell(run, request);
      const roll = chance();
      // Others get their turn, so that runs interleave.
      await new Promise((resolve) => setImmediate(resolve));
      if (roll < 0.05 && !isDeep) throw new Failure("provider_failed", "It broke.");
      const output = Math.min(Math.floor(chance() * 200), request.max_output_tokens ?? 200);
      const usage = { input: Math.floor(chance() * 50), output };
      const said = toReply(request, roll, usage);
      const ending =
        roll > 0.95 && !isDeep
          ? ({ ...said, ending: "fail", message: "It was cut." } as const)
          : said;
      yield* replyEvents(ending, request, { signal, makeId });
    },
  };
}

/** A message to a background child or to the parent, a wait or a stop; often none. */
function toAside({ items, tools }: ModelRequest, chance: Chance): readonly ScriptedCall[] {
  const roll = chance();
  const text = JSON.stringify(items);
  if (roll < 0.1 && JSON.stringify(tools).includes('"ask_parent"')) {
    return [{ name: "ask_parent", arguments: { question: "How?" } }];
  }
  const ids = [...text.matchAll(/subagent_id\\":\\"([^"\\]+)/g)].map(([, id]) => id ?? "");
  const id = ids.at(-1);
  if (id === undefined || roll > 0.5) return [];
  const actions = [
    { action: "wait" },
    { action: "message", id, text: "Like this." },
    { action: "stop", id },
    { action: "list" },
  ];
  return [{ name: "subagents", arguments: actions[Math.floor(chance() * actions.length)] ?? {} }];
}

const toAnswer = (id: string): ScriptedCall => ({
  name: "subagents",
  arguments: { action: "message", id, text: "Like this." },
});

/** The last child that asked, of a call or in the background, unless an answer was given since. */
function findAsking(text: string): string | undefined {
  const asked =
    /subagent_id\\":\\"([^"\\]+)\\",\\"completion_status\\":\\"asks|\((run_root[^)\s]+)\) asks/g;
  const last = [...text.matchAll(asked)].at(-1);
  if (!last || text.includes('"answer\\"', last.index) || text.includes("Like this.", last.index))
    return undefined;
  return last[1] ?? last[2];
}

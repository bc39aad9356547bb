/**
 * Trees of runs in which everything happens by chance: how many children, how deep, what they spend,
 * which fail, hang, or are cancelled. The chance is seeded, so a tree that breaks can be run again.
 */

import { type Account, createAccount } from "../../src/agent/account.ts";
import { KINDS, type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import { type AgentTask, encodeTask, SAFEGUARDS } from "../../src/agent/task.ts";
import { systemClock } from "../../src/base/clock.ts";
import { Failure } from "../../src/base/failure.ts";
import { silentLog } from "../../src/base/log.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { createLocalEngine } from "../../src/engine/local-engine.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { AGENT_BODY, createAgentBody } from "../../src/runtime/agent-body.ts";
import { SAFETY } from "../../src/runtime/open-gate.ts";
import { createToolbox } from "../../src/runtime/toolbox.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { reply, type ScriptedCall } from "../../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";
import { PATIENCE_MS } from "../patience.ts";

export interface RandomTree {
  readonly engine: Engine;
  readonly store: Store;
  /** The requests that were made, by the run that made them. */
  readonly asked: readonly { readonly run: string; readonly request: ModelRequest }[];
  readonly id: string;
  /** Moments at which more was spent and set aside than the tree may spend. There must be none. */
  readonly overdrawn: readonly string[];
  /** Leaves everything as a killed process does, and goes on in another one. */
  killAndResume(): Promise<void>;
}

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
  /** Whether every run that may delegate does, to one child: as deep as it is allowed. */
  readonly isDeep: boolean;
}

/** Starts the tree; it ends by itself, or is cancelled by whoever started it. */
export async function startRandomTree(wish: TreeWish): Promise<RandomTree> {
  // Closing it does nothing: the engine that comes next finds everything.
  const store = createMemoryStore();
  const asked: { run: string; request: ModelRequest }[] = [];
  const overdrawn: string[] = [];
  let account: Account | undefined;
  const check = (run: string): void => {
    const { left } = account ?? createAccount(NO_LIMITS);
    for (const kind of KINDS) {
      if (left[kind] < -1e-9) overdrawn.push(`${run}: ${kind} by ${-left[kind]}`);
    }
  };
  const provider = createRandomProvider(wish, (run, request) => {
    asked.push({ run, request });
    check(run);
  });
  const clock = systemClock;
  const env = {};
  const toolbox = await createToolbox({ tools: [], env, clock, log: silentLog, version: "0" });
  const body = createAgentBody({
    clock,
    toolbox,
    openModel: async () => ({
      provider,
      contextTokens: undefined,
      costOf: ({ total_tokens }) => total_tokens / 1_000_000,
      reasoning: { effort: "none", summary: undefined },
      checkInput() {},
    }),
    safety: { ...SAFETY, env },
    delegation: {
      ...DELEGATION,
      maxDepth: wish.maxDepth,
      childTimeoutMs: PATIENCE_MS,
      askTimeoutMs: 50,
    },
    observe() {},
    openAccount(limits) {
      account = createAccount(limits);
      return account;
    },
  });
  const start = (): Engine => {
    const engine = createLocalEngine({ store });
    engine.define(AGENT_BODY, body.run);
    return engine;
  };
  let engine = start();
  const id = "run_root";
  await engine.submit(AGENT_BODY, encodeTask(toTask(wish.limits)), { id, title: "tree" });
  return {
    get engine() {
      return engine;
    },
    store,
    asked,
    overdrawn,
    id,
    async killAndResume() {
      await engine.stop();
      engine = start();
      await engine.start();
    },
  };
}

function toTask(limits: Limits): AgentTask {
  return {
    ...SAFEGUARDS,
    model: "test/model",
    model_reason: "a test",
    provider: null,
    url: null,
    api_key_name: null,
    instructions: null,
    items: [{ type: "message", role: "user", content: "go" }],
    tools: ["read", "subagent"],
    tool_choice: "auto",
    max_turns: 6,
    temperature: null,
    max_output_tokens: null,
    think: false,
    format: { type: "text" },
    root: ".",
    on_throw: "tell_model",
    limits,
  };
}

/** Says something, delegates, or breaks. What it says never costs more than it was allowed to. */
function createRandomProvider(
  { chance, isDeep }: TreeWish,
  tell: (run: string, request: ModelRequest) => void,
): Provider {
  const makeId = createCountingIds();
  let calls = 0;
  const toCall = (): ScriptedCall => {
    const background = !isDeep && chance() < 0.4 ? { background: true } : {};
    const task = { label: `child ${calls++}`, task_prompt: "go on", max_turns: 4 };
    return { name: "subagent", arguments: { ...task, ...background } };
  };
  const toReply = (request: ModelRequest, roll: number, usage: ReplyUsage) => {
    const mayDelegate = JSON.stringify(request.tools).includes('"subagent"');
    const isFirst = !request.items.some(({ type }) => type === "function_call_output");
    const some = mayDelegate && roll < 0.55 ? 1 + Math.floor(chance() * 3) : 0;
    const count = isDeep ? Number(mayDelegate && isFirst) : some;
    if (count > 0) return reply.calls(Array.from({ length: count }, toCall), { usage });
    const aside = isDeep ? undefined : toAside(request, chance);
    return aside ? reply.calls([aside], { usage }) : reply.text("Done.", { usage });
  };
  return {
    name: "random",
    async *stream(request, { run = "", signal }) {
      tell(run, request);
      const roll = chance();
      // Others get their turn, so that runs come to stand between each other.
      await new Promise((resolve) => setImmediate(resolve));
      if (roll < 0.05 && !isDeep) throw new Failure("provider_failed", "It broke.");
      const output = Math.min(Math.floor(chance() * 200), request.maxOutputTokens ?? 200);
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

/** A word to a background child or to the parent, a wait or a stop; often none. */
function toAside({ items, tools }: ModelRequest, chance: Chance): ScriptedCall | undefined {
  const roll = chance();
  const text = JSON.stringify(items);
  if (roll < 0.1 && JSON.stringify(tools).includes('"ask_parent"')) {
    return { name: "ask_parent", arguments: { question: "How?" } };
  }
  const ids = [...text.matchAll(/subagent_id\\":\\"([^"\\]+)/g)].map(([, id]) => id ?? "");
  const id = ids.at(-1);
  if (id === undefined || roll > 0.5) return undefined;
  const actions = [
    { action: "wait" },
    { action: "message", id, text: "Like this." },
    { action: "stop", id },
    { action: "list" },
  ];
  return { name: "subagents", arguments: actions[Math.floor(chance() * actions.length)] ?? {} };
}

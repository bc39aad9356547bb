/**
 * A tree of runs over a model that is a function, which can be killed and resumed any number of times, in this
 * process. It records how much of its budget was ever taken at once.
 */

import { type Account, createAccount } from "../../src/agent/account.ts";
import { KINDS, type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import { type AgentTask, encodeTask, SAFEGUARDS } from "../../src/agent/task.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createInProcessExecutor } from "../../src/delegation/executors/in-process.ts";
import { createTopUps } from "../../src/delegation/executors/top-ups.ts";
import { openParentAccount } from "../../src/delegation/parent-account.ts";
import { openLineBudget } from "../../src/delegation/runner/line-budget.ts";
import type { ParentLine } from "../../src/delegation/runner/parent-line.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import { parseAsk } from "../../src/delegation/top-up.ts";
import type { Engine, QueuedPlace, RunContext } from "../../src/engine/engine.ts";
import { createLocalEngine } from "../../src/engine/local-engine.ts";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { AGENT_BODY, createAgentBody } from "../../src/runtime/agent-body.ts";
import type { ProcessChildren } from "../../src/runtime/child-processes.ts";
import { SAFETY } from "../../src/runtime/safety-settings.ts";
import { createToolbox } from "../../src/runtime/toolbox.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { PATIENCE_MS } from "../patience.ts";

export interface GrownTree {
  readonly engine: Engine;
  readonly store: Store;
  /** The requests that were made, by the run that made them. */
  readonly asked: readonly { readonly run: string; readonly request: ModelRequest }[];
  readonly id: string;
  /** How often a child that spends by itself, as in another process, asked for more. */
  readonly topUps: number;
  /** Moments at which more was spent and reserved than the tree may spend. There must be none. */
  readonly overdrawn: readonly string[];
  /** Drops everything as a killed process does, and continues in another one. */
  killAndResume(): Promise<void>;
}

export interface TreeSetup {
  /** The model of all runs. `tell` is called with each request before it is answered. */
  toProvider(tell: (run: string, request: ModelRequest) => void): Provider;
  readonly limits: Limits;
  readonly maxDepth: number;
  /** Awaited before a run begins, or is replayed. Its parent has let it in by then. */
  beforeRun?(id: string): Promise<void>;
  readonly executor: ChildrenPlace;
  /** True if other processes could find answers in the record. */
  readonly isRecorded?: boolean | undefined;
}

/**
 * Where children run. Those of `child_process` spend by themselves and ask over a line; those of `anywhere` wait in a
 * queue, spend by themselves and ask by messages.
 */
export type ChildrenPlace = "in_process" | "child_process" | "anywhere";

/** Starts the tree; it ends by itself, or the caller cancels it. */
export async function startGrownTree(setup: TreeSetup): Promise<GrownTree> {
  const id = "run_root";
  // Closing it does nothing: the next engine finds everything.
  const store = createMemoryStore();
  const asked: { run: string; request: ModelRequest }[] = [];
  const overdrawn: string[] = [];
  const apart = createChildrenApart();
  let account: Account | undefined;
  const check = (run: string): void => {
    const { left } = account ?? createAccount(NO_LIMITS);
    for (const kind of KINDS) {
      if (left[kind] < -1e-9) overdrawn.push(`${run}: ${kind} by ${-left[kind]}`);
    }
  };
  const provider = setup.toProvider((run, request) => {
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
      maxDepth: setup.maxDepth,
      childTimeoutMs: PATIENCE_MS,
      askTimeoutMs: PATIENCE_MS,
      executor: setup.executor,
    },
    observe() {},
    placeOf: ({ depth }) => QUEUED(depth),
    storePath: setup.isRecorded ? "runs.db" : undefined,
    processChildren: apart.processChildren,
    openAccount(limits, { id: run }) {
      const own = apart.openAccount(run) ?? createAccount(limits);
      if (run === id) account = own;
      return own;
    },
  });
  const messages = { count: 0 };
  const observe = ({ event }: LoggedEvent): void => {
    if (event.type === "child_budget") messages.count++;
  };
  const start = (): Engine => {
    const engine = createLocalEngine({ store, observe });
    for (let depth = 1; depth <= setup.maxDepth; depth++) {
      engine.defineQueue(QUEUED(depth).name, { atOnce: Number.MAX_SAFE_INTEGER });
    }
    engine.define(AGENT_BODY, async (context, input) => {
      await setup.beforeRun?.(context.id);
      return await body.run(context, input);
    });
    return engine;
  };
  let engine = start();
  await engine.submit(AGENT_BODY, encodeTask(toTask(setup.limits)), { id, title: "tree" });
  return {
    get engine() {
      return engine;
    },
    store,
    asked,
    overdrawn,
    id,
    get topUps() {
      return apart.topUps + messages.count;
    },
    async killAndResume() {
      await engine.stop();
      engine = start();
      await engine.start();
    },
  };
}

const QUEUED = (depth: number): QueuedPlace => ({
  name: `depth ${depth}`,
  lane: "",
  maxWaiting: Number.MAX_SAFE_INTEGER,
  placement: "queue",
  toFull: () => new Error("A queue without a limit is full."),
});

interface ChildrenApart {
  readonly processChildren: ProcessChildren;
  /** The account of a child that spends by itself; undefined for another run. */
  openAccount(run: string): Account | undefined;
  readonly topUps: number;
}

/**
 * Children that spend like those in processes of their own: what they were given cannot be taken back, and they ask
 * for more over a line. They run here, because a thousand trees would be thousands of processes.
 */
function createChildrenApart(): ChildrenApart {
  const opening = new Map<string, () => Account>();
  let topUps = 0;
  return {
    openAccount: (run) => opening.get(run)?.(),
    get topUps() {
      return topUps;
    },
    processChildren: (context) => ({
      async run(order, signal) {
        const run = `${context.id}/${order.key}`;
        const { account } = order;
        const listeners: ((line: string) => void)[] = [];
        const write = (line: string): void => {
          for (const listener of listeners) listener(line);
        };
        const topUp = createTopUps(account, write, signal);
        const line: ParentLine = {
          onLine: (listener) => void listeners.push(listener),
          async send(frame) {
            const ask = parseAsk(frame);
            if (!ask) throw new Error(`It asked for something else: ${JSON.stringify(frame)}`);
            topUps++;
            topUp.answer(ask);
          },
        };
        const { ceiling, limits: given } = account;
        opening.set(run, () => openParentAccount(ceiling, openLineBudget(given, line)));
        try {
          const inner = createInProcessExecutor(context as RunContext, AGENT_BODY, new Map());
          return await inner.run(order, signal);
        } finally {
          topUp.stop();
          opening.delete(run);
        }
      },
    }),
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
    tools: ["read", "subagent", "parallel_subagent", "call_subagent"],
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

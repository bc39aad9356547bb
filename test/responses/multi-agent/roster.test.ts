/** The agents of one run, over a real engine. What they do is the test's. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount } from "../../../src/agent/account.ts";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import { type AgentTask, encodeTask, parseTask, SAFEGUARDS } from "../../../src/agent/task.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { Failure } from "../../../src/base/failure.ts";
import type { Json } from "../../../src/base/json.ts";
import type { ChildWish } from "../../../src/delegation/child.ts";
import { DELEGATION } from "../../../src/delegation/settings.ts";
import type { Engine, RunContext, RunOutcome } from "../../../src/engine/engine.ts";
import { createMemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { Roster, type RosterParts } from "../../../src/responses/multi-agent/roster.ts";
import { openNode } from "../../../src/runtime/open-node.ts";
import { completed } from "../../engine/engine-fixture.ts";
import { PATIENCE_MS } from "../../patience.ts";

const NEVER = new AbortController().signal;

const TASK: AgentTask = {
  ...SAFEGUARDS,
  model: "test/model",
  model_reason: "a test",
  provider: null,
  url: null,
  api_key_name: null,
  instructions: null,
  items: [],
  tools: [],
  tool_choice: "auto",
  max_turns: 5,
  temperature: null,
  max_output_tokens: null,
  think: false,
  format: { type: "text" },
  root: ".",
  on_throw: "tell_model",
};

const toWish = (name: string, { items }: { readonly items: readonly Item[] }): ChildWish => ({
  label: name.slice(name.lastIndexOf("/") + 1),
  prompt: "",
  instructions: null,
  summaryPrompt: null,
  tools: undefined,
  maxTurns: 5,
  agent: name,
  items,
  response: {},
});

type AgentBody = (context: RunContext, task: AgentTask) => Promise<RunOutcome>;

/** Runs `use` with the roster of a run's agents, each of which does what `agent` does. */
async function withRoster(
  agent: AgentBody,
  use: (roster: Roster, context: RunContext) => Promise<Json>,
  change: (parts: RosterParts) => RosterParts = (parts) => parts,
): Promise<RunOutcome> {
  const engine: Engine = createMemoryEngine();
  engine.define("agent", (context, input) => agent(context, parseTask(input)));
  engine.define("head", async (context) => {
    const node = openNode({
      context,
      task: TASK,
      account: createAccount(NO_LIMITS),
      tools: [],
      body: "agent",
      accounts: new Map(),
      settings: DELEGATION,
      clock: systemClock,
      observe() {},
      processChildren: undefined,
      agents: [],
      conversations: undefined,
      check: async () => {},
      modelOf: () => ({ contextTokens: undefined, maxOutputTokens: undefined, costOf: () => 0 }),
    });
    const parts = { me: "/root", context, engine, node, clock: systemClock, before: [], heard: -1 };
    const roster = new Roster(change({ ...parts, toWish }));
    await roster.restore();
    const value = await context.stage("use", () => use(roster, context));
    roster.leave();
    return completed(value);
  });
  try {
    await engine.submit("head", encodeTask(TASK), { id: "run_1", title: "head" });
    return await engine.result("run_1");
  } finally {
    await engine.stop();
  }
}

const begin = (message: string, callKey = "call"): Parameters<Roster["start"]>[1] => ({
  items: [{ type: "message", role: "user", content: message } as const],
  heard: -1,
  message,
  callKey,
});

/** The answer of an agent's run. */
const said = (text: string): RunOutcome => {
  const outcome = completed(null);
  const events = outcome.events.map((event) =>
    event.type === "run_end" ? { ...event, output_text: text } : event,
  );
  return { ...outcome, events };
};

const textsOf = (items: readonly Item[]): string => JSON.stringify(items);

describe("the agents of a run", () => {
  it("answer with a letter, and can be given another task", async () => {
    const asked: string[] = [];
    const agent: AgentBody = async (_, { items }) => {
      asked.push(textsOf(items));
      return said(`answer ${asked.length}`);
    };
    const { result } = await withRoster(agent, async (roster) => {
      await roster.start("/root/a", begin("first"));
      assert.equal(roster.states.get("/root/a"), "running");
      await roster.settled(NEVER);
      assert.equal(roster.states.get("/root/a"), "completed");
      const [first] = roster.box.deliver();
      await roster.follow("/root/a", "second", "next call");
      await roster.settled(NEVER);
      return [textsOf(first ? [first] : []), textsOf(roster.box.deliver())];
    });
    const [first, second] = result as string[];
    assert.match(first ?? "", /answer 1/);
    assert.match(second ?? "", /answer 2/);
    assert.match(asked[1] ?? "", /second/);
  });

  it("take a task that comes while they work after the one they have, in order", async () => {
    const asked: string[] = [];
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const agent: AgentBody = async (_, { items }) => {
      asked.push(/first|second|third/.exec(textsOf(items.slice(-1)))?.[0] ?? "");
      await held;
      return said("done");
    };
    await withRoster(agent, async (roster) => {
      await roster.start("/root/a", begin("first"));
      await roster.follow("/root/a", "second", "call 2");
      await roster.follow("/root/a", "third", "call 3");
      goOn();
      await roster.settled(NEVER);
      return null;
    });
    assert.deepEqual(asked, ["first", "second", "third"]);
  });

  it("read with their next task what was sent to them while they did nothing", async () => {
    const asked: string[] = [];
    const agent: AgentBody = async (_, { items }) => {
      asked.push(textsOf(items));
      return said("done");
    };
    await withRoster(agent, async (roster) => {
      await roster.start("/root/a", begin("first"));
      await roster.settled(NEVER);
      const letter = { author: "/root", recipient: "/root/a", text: "by the way" };
      await roster.post.send({ id: "amsg_1", ...letter });
      while (roster.box.to("/root/a").length === 0) await roster.changed(PATIENCE_MS, NEVER);
      await roster.follow("/root/a", "second", "next call");
      await roster.settled(NEVER);
      return null;
    });
    assert.match(asked[1] ?? "", /by the way.*second/);
  });

  it("that are stopped are interrupted, and are not waited for", async () => {
    const agent: AgentBody = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    await withRoster(agent, async (roster) => {
      await roster.start("/root/a", begin("first"));
      assert.equal(roster.stop("/root/a"), true);
      await roster.settled(NEVER);
      assert.equal(roster.states.get("/root/a"), "interrupted");
      assert.equal(roster.stop("/root/a"), false);
      return null;
    });
  });

  it("fail the run if their events cannot be copied: no failure is swallowed", async () => {
    const broken = async function* (): AsyncGenerator<never> {
      yield* [];
      throw new Failure("store_failed", "The log cannot be read.");
    };
    const outcome = await withRoster(
      async () => said("done"),
      async (roster) => {
        await roster.start("/root/a", begin("first"));
        await roster.settled(NEVER);
        return null;
      },
      (parts) => ({ ...parts, engine: { ...bind(parts.engine), follow: broken } }),
    );
    assert.equal(outcome.ending, "failed");
    assert.match(JSON.stringify(outcome.events), /The log cannot be read/);
  });
});

function bind(engine: RosterParts["engine"]): RosterParts["engine"] {
  return {
    follow: engine.follow.bind(engine),
    input: engine.input.bind(engine),
    result: engine.result.bind(engine),
  };
}

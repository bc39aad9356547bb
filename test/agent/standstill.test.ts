/** An owner of a run that stood still, in the loop: it repeats no model call and no tool call of another owner. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { createAccount } from "../../src/agent/account.ts";
import { AGENT_CALLS } from "../../src/agent/calls.ts";
import { runLoop } from "../../src/agent/loop.ts";
import { createOutputCheck } from "../../src/agent/structured-output.ts";
import { type AgentTask, SAFEGUARDS } from "../../src/agent/task.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { LEASE_MS } from "../../src/store/ownership.ts";
import { createScriptedProvider, reply } from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { createGate as createToolGate } from "../../src/tools/gate/gate.ts";
import { createGate, onBenches } from "../engine/engine-fixture.ts";
import { openLocalBench, openMemoryRecord, wrapStore } from "../engine/local-fixture.ts";
import { toGateParts } from "../tools/workspace-folder.ts";

const TASK: AgentTask = {
  model: "test/model",
  model_reason: "a test",
  provider: null,
  url: null,
  api_key_name: null,
  instructions: null,
  tools: [],
  tool_choice: "auto",
  max_turns: 5,
  temperature: null,
  max_output_tokens: null,
  think: false,
  format: { type: "text" },
  root: ".",
  items: [{ type: "message", role: "user", content: "Hello" }],
  on_throw: "tell_model",
  ...SAFEGUARDS,
};

interface Owner {
  readonly name: string;
  readonly calls: string[];
  /** Awaited by the model's provider before it sends. */
  readonly beforeAsking: () => Promise<void>;
}

function define(engine: Engine, { name, calls, beforeAsking }: Owner): void {
  const provider: Provider = {
    name: "slow",
    async *stream(request, call) {
      await beforeAsking();
      await call.beforeSend?.();
      calls.push(`${name} asks`);
      const isMarked = request.items.some(({ type }) => type === "function_call_output");
      const answer = isMarked
        ? reply.text("Done.")
        : reply.calls([{ name: "mark", arguments: {} }]);
      yield* createScriptedProvider(answer).stream(request, call);
    },
  };
  const mark = defineTool({
    name: "mark",
    description: "Marks.",
    parameters: z.object({}),
    readOnly: false,
    async run() {
      calls.push(`${name} marks`);
      return "Marked.";
    },
  });
  engine.define("agent", async (context) =>
    runLoop({
      context,
      task: TASK,
      provider,
      clock: { now: () => 0, sleep: async () => {} },
      gate: createToolGate(await toGateParts(".", [mark])),
      checkOutput: await createOutputCheck(TASK.format),
      costOf: () => 0,
      contextTokens: undefined,
      calls: AGENT_CALLS,
      reasoning: { effort: "none", summary: undefined },
      account: createAccount(TASK.limits),
      spentBelow: () => undefined,
    }),
  );
}

const onBench = onBenches(() => openLocalBench(openMemoryRecord));
const RUN = { id: "run_1", title: "a run" };

describe("an owner that stood still", () => {
  it(
    "asks no model that another owner has asked",
    onBench(async (bench) => {
      const calls = [] as string[];
      const woken = createGate();
      const entered = createGate();
      const owner = bench.engine({ workerId: "owner" });
      const beforeAsking = (): Promise<void> => {
        entered.open();
        return woken.opened;
      };
      define(owner, { name: "owner", calls, beforeAsking });
      await owner.submit("agent", {}, RUN);
      await entered.opened;
      bench.clock.advance(LEASE_MS + 1);
      const other = bench.engine({ workerId: "other" });
      define(other, { name: "other", calls, beforeAsking: async () => {} });
      await other.resume("run_1");
      await other.result("run_1");
      woken.open();
      await owner.idle();
      assert.deepEqual(calls, ["other asks", "other marks", "other asks"]);
    }),
  );

  it(
    "runs no tool that another owner has run, once the call is decided",
    onBench(async (bench) => {
      const calls = [] as string[];
      const woken = createGate();
      const entered = createGate();
      const store = wrapStore(bench.store, (name, call) => async (...values) => {
        const written = await call(...values);
        if (name === "append" && JSON.stringify(values).includes("tool_decision")) {
          entered.open();
          await woken.opened;
        }
        return written;
      });
      const owner = bench.engine({ workerId: "owner", store });
      define(owner, { name: "owner", calls, beforeAsking: async () => {} });
      await owner.submit("agent", {}, RUN);
      await entered.opened;
      bench.clock.advance(LEASE_MS + 1);
      const other = bench.engine({ workerId: "other" });
      define(other, { name: "other", calls, beforeAsking: async () => {} });
      await other.resume("run_1");
      await other.result("run_1");
      woken.open();
      await owner.idle();
      assert.deepEqual(calls, ["owner asks", "other marks", "other asks"]);
    }),
  );
});

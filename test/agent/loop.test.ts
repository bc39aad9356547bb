import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { createAccount } from "../../src/agent/account.ts";
import { AGENT_CALLS } from "../../src/agent/calls.ts";
import { runLoop } from "../../src/agent/loop.ts";
import { createOutputCheck } from "../../src/agent/structured-output.ts";
import { type AgentTask, SAFEGUARDS } from "../../src/agent/task.ts";
import { Failure } from "../../src/base/failure.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { createLocalEngine } from "../../src/engine/local-engine.ts";
import type { RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import type { Provider } from "../../src/providers/provider.ts";
import type { FinishedStep } from "../../src/store/journal.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import {
  createManualClock,
  createScriptedProvider,
  type Reply,
  reply,
} from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { createGate } from "../../src/tools/gate/gate.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { toGateParts } from "../tools/workspace-folder.ts";

const TASK: AgentTask = {
  model: "test/model",
  model_reason: "a test",
  provider: null,
  url: null,
  api_key_name: null,
  instructions: null,
  items: [{ type: "message", role: "user", content: "Hello" }],
  tools: [],
  tool_choice: "auto",
  max_turns: 50,
  temperature: null,
  max_output_tokens: null,
  think: false,
  format: { type: "text" },
  root: ".",
  on_throw: "tell_model",
  ...SAFEGUARDS,
};

const SCHEMA = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const AS_JSON = { type: "json_schema", name: "n", schema: SCHEMA, strict: true } as const;

interface Setup {
  readonly tools?: readonly Tool[];
  readonly task?: Partial<AgentTask>;
  readonly costOf?: () => number | undefined;
  readonly contextTokens?: number;
  readonly tenant?: string;
  readonly onStart?: (engine: Engine) => void;
  readonly store?: Store;
}

interface Done {
  readonly end: RunEnd;
  readonly events: readonly RunEvent[];
}

/** A whole run on a real engine in memory. */
async function run(provider: Provider, setup: Setup = {}): Promise<Done> {
  const clock = createManualClock(1000);
  const engine = createLocalEngine({ store: setup.store ?? createMemoryStore() });
  const task = { ...TASK, ...setup.task };
  engine.define("agent", async (context) =>
    runLoop({
      context,
      task,
      provider,
      gate: createGate(await toGateParts(".", setup.tools ?? [])),
      clock,
      checkOutput: await createOutputCheck(task.format),
      costOf: setup.costOf ?? (() => 0.5),
      contextTokens: setup.contextTokens,
      reasoning: { effort: "none", summary: undefined },
      account: createAccount(task.limits),
      spentBelow: () => undefined,
      calls: AGENT_CALLS,
    }),
  );
  await engine.submit("agent", {}, { id: "run_1", title: "test", tenant: setup.tenant });
  setup.onStart?.(engine);
  const events: RunEvent[] = [];
  for await (const batch of engine.follow("run_1", -1))
    events.push(...batch.map(({ event }) => event));
  await engine.stop();
  const end = events.at(-1);
  assert.ok(end?.type === "run_end", "the log ends with run_end");
  return { end, events };
}

const scripted = (...replies: Reply[]) => createScriptedProvider(...replies);

/**
 * A tool that waits until all its `side` siblings have come, so that only parallel calls finish.
 */
function meetingTool(
  name: string,
  readOnly: boolean,
  log: string[],
  meet?: () => Promise<void>,
): Tool {
  return defineTool({
    name,
    description: name,
    parameters: z.object({ n: z.number() }),
    readOnly,
    async run({ n }) {
      log.push(`${name} ${n} starts`);
      await meet?.();
      log.push(`${name} ${n} ends`);
      return `${name} ${n}`;
    },
  });
}

const call = (name: string, n: number) => ({ name, arguments: { n } });

describe("the loop", () => {
  it("ends when a turn calls no tool", async () => {
    const { end, events } = await run(scripted(reply.text("Hi there.")));
    assert.equal(end.ending, "completed");
    assert.equal(end.output_text, "Hi there.");
    assert.equal(end.turns, 1);
    assert.equal(events[0]?.type, "run_start");
  });

  it("asks the model in the name of the run's tenant", async () => {
    const calls: (string | undefined)[][] = [];
    const provider: Provider = {
      name: "noted",
      stream(request, call) {
        calls.push([call.run, call.owner]);
        return scripted(reply.text("Hi.")).stream(request, call);
      },
    };
    await run(provider, { tenant: "acme" });
    await run(provider);
    assert.deepEqual(calls, [
      ["run_1", "acme"],
      ["run_1", undefined],
    ]);
  });

  it("loses to a power cut only what it can ask for again, and nothing that was acted on", async () => {
    const store = createMemoryStore();
    const saveStep = store.saveStep.bind(store);
    const survives: [string, FinishedStep["survives"]][] = [];
    store.saveStep = async (id, epoch, step) => {
      // The id of a call is generated.
      survives.push([step.key.replace(/^tool:.*/, "tool"), step.survives ?? "power"]);
      await saveStep(id, epoch, step);
    };
    const provider = scripted(reply.calls([call("a", 1)]), reply.text("Done."));
    await run(provider, { tools: [meetingTool("a", true, [])], store });
    // The table in docs/ledger.md says so (`scripts/docs/ledger-page.ts`).
    assert.deepEqual(survives, [
      ["start", "process"],
      ["model:1", "power"],
      ["tool", "power"],
      ["model:2", "process"],
    ]);
  });

  it("hands a tool's output to the next turn, in call order", async () => {
    const provider = scripted(reply.calls([call("a", 1), call("a", 2)]), reply.text("Done."));
    const { end } = await run(provider, { tools: [meetingTool("a", true, [])] });
    const outputs = provider.requests[1]?.items.filter(
      ({ type }) => type === "function_call_output",
    );
    assert.deepEqual(
      outputs?.map((item) => "output" in item && item.output),
      ["a 1", "a 2"],
    );
    assert.equal(end.tool_calls, 2);
  });

  it("runs calls that only read at the same time", async () => {
    let arrived = 0;
    let open: () => void = () => {};
    const both = new Promise<void>((resolve) => {
      open = resolve;
    });
    const meet = async (): Promise<void> => {
      if (++arrived === 2) open();
      await both;
    };
    const log: string[] = [];
    const provider = scripted(reply.calls([call("a", 1), call("a", 2)]), reply.text("Met."));
    const { end } = await run(provider, { tools: [meetingTool("a", true, log, meet)] });
    assert.equal(end.output_text, "Met.");
    assert.deepEqual(log.slice(0, 2), ["a 1 starts", "a 2 starts"]);
  });

  it("runs calls that change things in order, as a fence between those that read", async () => {
    const log: string[] = [];
    const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const tools = [meetingTool("r", true, log, later), meetingTool("w", false, log, later)];
    const calls = [call("r", 1), call("w", 2), call("w", 3), call("r", 4)];
    await run(scripted(reply.calls(calls), reply.text("Ok.")), { tools });
    const expected = ["r 1", "w 2", "w 3", "r 4"].flatMap((name) => [
      `${name} starts`,
      `${name} ends`,
    ]);
    assert.deepEqual(log, expected);
  });

  for (const [what, calls, told] of [
    ["a tool that does not exist", [{ name: "nope", arguments: {} }], /Unknown tool `nope`/],
    ["arguments that do not parse", [{ name: "a", arguments: "{oops" }], /are not JSON/],
    ["arguments that do not fit", [{ name: "a", arguments: { n: "x" } }], /do not fit: n:/],
    ["a tool that throws", [call("boom", 1)], /Error: it broke/],
  ] as const) {
    it(`tells the model about ${what}, and continues`, async () => {
      const boom = defineTool({
        name: "boom",
        description: "",
        parameters: z.object({ n: z.number() }),
        readOnly: true,
        run: () => Promise.reject(new Error("it broke")),
      });
      const provider = scripted(reply.calls(calls), reply.text("I see."));
      const { end } = await run(provider, { tools: [meetingTool("a", true, []), boom] });
      assert.equal(end.ending, "completed");
      const result = provider.requests[1]?.items.at(-1);
      assert.match(String(result && "output" in result && result.output), told);
      assert.equal(result && "status" in result && result.status, "incomplete");
    });
  }

  it("ends with the error when a tool throws in the SSE form", async () => {
    const boom = defineTool({
      name: "boom",
      description: "",
      parameters: z.object({}),
      readOnly: true,
      run: () => Promise.reject(new Error("it broke")),
    });
    const provider = scripted(reply.calls([{ name: "boom", arguments: {} }]));
    const { end } = await run(provider, { tools: [boom], task: { on_throw: "end" } });
    assert.equal(end.tool_calls, 1, "a call that was made counts, whatever came of it");
    assert.equal(end.ending, "failed");
    assert.equal(end.error?.code, "tool_failed");
  });

  it("stops at the turn limit and keeps what there is as partial", async () => {
    const provider = scripted(
      ...Array.from({ length: 4 }, () => reply.calls([call("a", 1)], { text: "Wait. " })),
    );
    const { end } = await run(provider, {
      tools: [meetingTool("a", true, [])],
      task: { max_turns: 3 },
    });
    assert.equal(end.ending, "max_turns");
    assert.equal(end.turns, 3);
    assert.equal(end.output_text, "Wait. ");
    assert.match(end.message, /limit of 3 turns/);
    assert.equal(provider.requests.length, 3);
  });

  it("reports an answer that the token limit truncated as partial, not complete", async () => {
    const { end } = await run(scripted(reply.length("Once upon")));
    assert.equal(end.ending, "budget");
    assert.equal(end.output_text, "Once upon");
  });

  it("reports a refusal as refused, with its words", async () => {
    const { end } = await run(scripted(reply.refusal("I will not.")));
    assert.equal(end.ending, "refused");
    assert.equal(end.message, "The model declined to answer: I will not.");
  });

  it("ends as failed, with the reason, when the provider fails", async () => {
    const { end } = await run(scripted(reply.failure("The server melted.", { text: "So far" })));
    assert.equal(end.ending, "failed");
    assert.match(end.message, /melted/);
    assert.equal(end.output_text, "So far");
  });

  it("keeps what was said when it is cancelled in the middle", async () => {
    const provider = scripted(reply.silence("Half a sent"));
    const { end } = await run(provider, {
      onStart: (engine) => {
        void (async () => {
          for await (const batch of engine.follow("run_1", -1)) {
            const isSaid = batch.some(
              ({ event }) => event.type === "text_delta" && event.delta.endsWith("sent"),
            );
            if (isSaid) await engine.cancel("run_1", { tree: true });
          }
        })();
      },
    });
    assert.equal(end.ending, "cancelled");
    assert.equal(end.output_text, "Half a sent");
    // The usage never came, so what the half costs is unknown, and not nothing.
    assert.equal(end.cost_usd, null);
  });

  it("adds up tokens and cost over the turns", async () => {
    const usage = { input: 10, output: 5 };
    const provider = scripted(reply.calls([call("a", 1)], { usage }), reply.text("Ok.", { usage }));
    const { end } = await run(provider, { tools: [meetingTool("a", true, [])] });
    assert.equal(end.usage.total_tokens, 30);
    assert.equal(end.cost_usd, 1);
  });

  it("says that the cost is unknown rather than adding nothing", async () => {
    const { end } = await run(scripted(reply.text("Ok.")), { costOf: () => undefined });
    assert.equal(end.cost_usd, null);
  });

  it("warns when the conversation nears the model's window", async () => {
    const usage = { input: 90, output: 5 };
    const { events } = await run(scripted(reply.text("Ok.", { usage })), { contextTokens: 100 });
    assert.ok(events.some((event) => event.type === "notice" && event.code === "context"));
  });
});

describe("structured output in the loop", () => {
  it("gives the validated document", async () => {
    const { end } = await run(scripted(reply.text('{"n": 1}')), { task: { format: AS_JSON } });
    assert.deepEqual(end.output_json, { n: 1 });
  });

  it("takes a document out of a code fence", async () => {
    const fenced = '```json\n{"n": 2}\n```';
    const { end } = await run(scripted(reply.text(fenced)), { task: { format: AS_JSON } });
    assert.deepEqual(end.output_json, { n: 2 });
  });

  it("returns a wrong document to the model with the reason, and accepts the next", async () => {
    const provider = scripted(
      reply.text('{"n": "x"}'),
      reply.text("no json"),
      reply.text('{"n": 3}'),
    );
    const { end, events } = await run(provider, { task: { format: AS_JSON } });
    assert.deepEqual(end.output_json, { n: 3 });
    const told = provider.requests[1]?.items.at(-1);
    assert.match(JSON.stringify(told), /n must be number/);
    assert.equal(
      events.filter((event) => event.type === "notice" && event.code === "repair").length,
      2,
    );
  });

  it("fails after two repairs with what was wrong, and never gives the wrong document", async () => {
    const wrong = [reply.text("{}"), reply.text("{}"), reply.text("{}"), reply.text('{"n": 1}')];
    const provider = scripted(...wrong);
    const { end } = await run(provider, { task: { format: AS_JSON } });
    assert.equal(end.ending, "failed");
    assert.equal(end.error?.code, "output_invalid");
    assert.match(end.message, /must have required property 'n'/);
    assert.equal(end.output_json, undefined);
    assert.equal(provider.requests.length, 3);
  });

  it("checks a JSON object without a schema", async () => {
    const provider = scripted(reply.text("[1]"), reply.text('{"ok":true}'));
    const { end } = await run(provider, { task: { format: { type: "json_object" } } });
    assert.deepEqual(end.output_json, { ok: true });
  });

  it("refuses an invalid schema before anything is sent", async () => {
    const format = { ...AS_JSON, schema: { type: "nonsense" } };
    await assert.rejects(createOutputCheck(format), (thrown) => {
      return thrown instanceof Failure && thrown.code === "invalid_request";
    });
  });
});

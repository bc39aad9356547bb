/** Steering and stopping runs and their children, from a program. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Item } from "../../src/protocol/items.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { createRuntime, type Run, type Runtime } from "../../src/runtime/runtime.ts";
import { createScriptedProvider, type Reply, reply } from "../../src/testing/index.ts";

type Answer = (request: ModelRequest, count: number) => Reply | Promise<Reply>;

/** A model whose answer to each request is computed. */
function answering(answer: Answer): Provider & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    name: "answering",
    requests,
    async *stream(request, call) {
      requests.push(request);
      const said = await answer(request, requests.length);
      yield* createScriptedProvider(said).stream(request, call);
    },
  };
}

function later<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function open(t: TestContext, provider: Provider): Promise<Runtime> {
  const runtime = await createRuntime({ env: {}, provider });
  t.after(() => runtime.close());
  return runtime;
}

const START = { model: "test/model", input: "Begin", tools: ["subagent"] };

function said({ items }: Pick<ModelRequest, "items">): string[] {
  return items.map(toText);
}

function toText(item: Item): string {
  if (item.type !== "message") return item.type;
  if (typeof item.content === "string") return item.content;
  return item.content.map((part) => ("text" in part ? part.text : part.type)).join("");
}

async function readLog(run: Run): Promise<RunEvent[]> {
  const log: RunEvent[] = [];
  for await (const batch of run.follow()) log.push(...batch.map(({ event }) => event));
  return log;
}

const BETWEEN = new Set(["turn_start", "run_input", "notice", "run_end"]);
const outline = (log: readonly RunEvent[]): string[] =>
  log.flatMap(({ type }) => (BETWEEN.has(type) ? [type] : []));

const child = (label: string) => ({
  name: "subagent",
  arguments: JSON.stringify({ label, task_prompt: `Work as ${label}` }),
});

const asks = (request: ModelRequest, text: string): boolean =>
  said(request).some((one) => one.startsWith(text));

const isAnswered = (request: ModelRequest): boolean =>
  said(request).includes("function_call_output");

describe("steering a run", () => {
  it("adds messages to its conversation before the next turn, each once", async (t) => {
    const started = later<Run>();
    const provider = answering(async (_, count) => {
      if (count > 1) return reply.text("Done.");
      const run = await started.promise;
      await run.steer("First.");
      await run.steer("Second.");
      return reply.calls([{ name: "nothing", arguments: "{}" }]);
    });
    const runtime = await open(t, provider);
    const run = await runtime.run(START);
    started.resolve(run);
    assert.equal((await run.result()).ending, "completed");
    assert.deepEqual(provider.requests.map(said), [
      ["Begin"],
      ["Begin", "function_call", "function_call_output", "First.", "Second."],
    ]);
    const log = await readLog(run);
    assert.deepEqual(outline(log), ["turn_start", "run_input", "turn_start", "run_end"]);
    assert.deepEqual(said({ items: await run.items() }).slice(3), ["First.", "Second.", "Done."]);
  });

  it("continues with what came while the last answer was written", async (t) => {
    const started = later<Run>();
    const provider = answering(async (_, count) => {
      if (count === 1) await (await started.promise).steer("And in French?");
      return reply.text(count === 1 ? "Hello." : "Bonjour.");
    });
    const runtime = await open(t, provider);
    const run = await runtime.run(START);
    started.resolve(run);
    const { ending, output_text, turns } = await run.result();
    assert.deepEqual([ending, output_text, turns], ["completed", "Bonjour.", 2]);
    assert.deepEqual(said(provider.requests[1] ?? assert.fail()), [
      ...["Begin", "Hello.", "And in French?"],
    ]);
  });

  it("reports that a message in its last turn was not read", async (t) => {
    const started = later<Run>();
    const provider = answering(async () => {
      await (await started.promise).steer("Too late");
      return reply.text("Hello.");
    });
    const runtime = await open(t, provider);
    const run = await runtime.run({ ...START, max_turns: 1 });
    started.resolve(run);
    assert.equal((await run.result()).ending, "completed");
    const notice = (await readLog(run)).find((event) => event.type === "notice");
    assert.equal(notice?.code, "unread");
    assert.match(notice.message, /^1 message came too late/);
  });

  for (const [ending, last] of [
    ["budget", { ...reply.text("Cut off."), ending: "length" as const }],
    ["refused", { ...reply.text("No."), ending: "refusal" as const }],
  ] as const) {
    it(`reports that a message in a turn that ends the run as ${ending} was not read`, async (t) => {
      const started = later<Run>();
      const provider = answering(async () => {
        await (await started.promise).steer("Too late");
        return last;
      });
      const runtime = await open(t, provider);
      const run = await runtime.run(START);
      started.resolve(run);
      assert.equal((await run.result()).ending, ending);
      const notices = (await readLog(run)).filter((event) => event.type === "notice");
      assert.ok(notices.some(({ code }) => code === "unread"));
    });
  }

  it("reaches one child and no other", async (t) => {
    const ready = later<Runtime>();
    let id = "";
    const provider = answering(async (request) => {
      if (asks(request, "Begin")) {
        return isAnswered(request)
          ? reply.text("Both.")
          : reply.calls([child("one"), child("two")]);
      }
      if (asks(request, "Work as one") && !asks(request, "Look at b")) {
        await (await ready.promise).steer(`${id}/one-1.0`, "Look at b");
      }
      return reply.text(`Read ${said(request).length}`);
    });
    const runtime = await open(t, provider);
    const run = await runtime.run(START);
    id = run.id;
    ready.resolve(runtime);
    await run.result();
    const counts = ["one-1.0", "two-1.1"].map(async (key) =>
      outline(await readLog(await runtime.attach(`${run.id}/${key}`))).join(" "),
    );
    assert.deepEqual(await Promise.all(counts), [
      "turn_start run_input turn_start run_end",
      "turn_start run_end",
    ]);
  });

  it("is replayed as it was", async (t) => {
    const started = later<Run>();
    const provider = answering(async (_, count) => {
      if (count < 3) await (await started.promise).steer(`Message ${count}`);
      if (count === 1) return reply.calls([{ name: "nothing", arguments: "{}" }]);
      return reply.text(`Answer ${count}`);
    });
    const runtime = await open(t, provider);
    const run = await runtime.run(START);
    started.resolve(run);
    assert.equal((await run.result()).output_text, "Answer 3");
    const { divergence, end } = await runtime.replay({ id: run.id });
    assert.equal(divergence, undefined);
    assert.equal(end.output_text, "Answer 3");
    assert.equal(provider.requests.length, 3);
  });

  it("refuses an empty message, one for an unknown run and one for a run that has ended", async (t) => {
    const runtime = await open(t, createScriptedProvider(reply.text("Hello.")));
    const run = await runtime.run(START);
    await assert.rejects(run.steer("  "), { code: "invalid_request", message: /is empty/ });
    await run.result();
    await assert.rejects(run.steer("More"), { code: "conflict", message: /has ended already/ });
    await assert.rejects(runtime.steer("run_x", "More"), { code: "not_found" });
    await assert.rejects(runtime.attach("run_x"), { code: "not_found" });
  });
});

describe("cancelling a run that has ended", () => {
  it("leaves it as it is, and does not reject, neither by its handle nor by its id", async (t) => {
    const runtime = await open(t, createScriptedProvider(reply.text("Hello.")));
    const run = await runtime.run(START);
    const { ending } = await run.result();
    await run.cancel();
    await runtime.cancel(run.id);
    assert.equal(ending, "completed");
    assert.equal((await run.result()).ending, "completed");
    await assert.rejects(runtime.cancel("run_x"), { code: "not_found" });
  });
});

describe("stopping one child", () => {
  it("lets its parent and the others continue, and tells the parent why", async (t) => {
    const ready = later<Runtime>();
    let id = "";
    const provider = answering(async (request) => {
      if (asks(request, "Work as one")) {
        await (await ready.promise).cancel(`${id}/one-1.0`);
        return reply.text("Never heard.");
      }
      if (asks(request, "Work as two")) return reply.text("Two is done.");
      return isAnswered(request) ? reply.text("Over.") : reply.calls([child("one"), child("two")]);
    });
    const runtime = await open(t, provider);
    const run = await runtime.run(START);
    id = run.id;
    ready.resolve(runtime);
    const { ending, output_text } = await run.result();
    assert.deepEqual([ending, output_text], ["completed", "Over."]);
    const outputs = (await run.items()).flatMap((item) =>
      item.type === "function_call_output" ? [JSON.parse(String(item.output))] : [],
    );
    // In the order in which they ended, which is chance.
    assert.deepEqual(outputs.map(({ success, error }) => [success, error]).sort(), [
      [false, "Subagent execution failed: The model call was cancelled."],
      [true, null],
    ]);
    const stopped = await runtime.attach(`${run.id}/one-1.0`);
    assert.equal((await stopped.result()).ending, "cancelled");
  });
});

/** Approval questions in the log, and answers from another process over the same record. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Provider } from "../../src/providers/provider.ts";
import { parseApproval } from "../../src/runtime/approval-answers.ts";
import { answerQuestion, findQuestions } from "../../src/runtime/approvals.ts";
import { createManualClock, createScriptedProvider, reply } from "../../src/testing/index.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { until } from "../patience.ts";
import { define } from "../tools/gate/gate-fixture.ts";
import {
  bindEngine,
  calling,
  createBench,
  createTerminal,
  decisionsIn,
  elsewhere,
  questionsIn,
  readLog,
  untilAsked,
  WRITE,
} from "./approval-fixture.ts";

const YES = { answer: "yes", call: "tool:1.0", from: "another terminal" } as const;

/** The default wait of a question. */
const DAY_MS = 24 * 60 * 60 * 1000;

describe("an approval question", () => {
  it("is in the log before a person is asked, without secrets, and the decision closes it", async (t) => {
    const bench = createBench(t);
    const key = "sk-0123456789abcdefghijklmn";
    const content = JSON.stringify({ path: "a.txt", content: key });
    const terminal = createTerminal();
    const runtime = await bench.open({
      env: { OPENAI_API_KEY: key },
      ask: terminal.ask,
      provider: calling({ name: "write", arguments: content }),
    });
    const run = await bench.start(runtime);
    await until(() => terminal.questions[0], "the terminal is asked");
    const [open] = await run.questions();
    assert.deepEqual(await runtime.questions(), [open]);
    terminal.answer("yes");
    const log = await readLog(run);
    const types = log.map(({ type }) => type).filter((type) => type.startsWith("tool_"));
    assert.deepEqual(types, ["tool_start", "tool_question", "tool_decision", "tool_end"]);
    const { at_ms, call_id: _id, ...asked } = questionsIn(log)[0] ?? assert.fail();
    assert.deepEqual(asked, {
      type: "tool_question",
      question: "tool:1.0",
      name: "write",
      arguments: content.replace(key, "[redacted]"),
      effect: "write",
      reason: "`write` changes files",
      sandbox: "process",
      always: ["write"],
      asker: null,
      until_ms: at_ms + DAY_MS,
    });
    const [decision] = decisionsIn(log);
    assert.deepEqual(
      [decision?.question, decision?.answer, decision?.by],
      ["tool:1.0", undefined, "person"],
    );
    assert.deepEqual(await run.questions(), []);
  });

  it("names the subagent that asks, its task and its place", async (t) => {
    const bench = createBench(t);
    const child = { label: "writer", task_prompt: "Write it" };
    const order = { name: "subagent", arguments: JSON.stringify(child) };
    const provider: Provider = {
      name: "tree",
      async *stream(request, call) {
        const text = JSON.stringify(request.items);
        const isBack = text.includes("function_call_output");
        const calls = text.includes("Begin") ? [order] : [WRITE];
        const said = isBack ? reply.text("Done.") : reply.calls(calls);
        yield* createScriptedProvider(said).stream(request, call);
      },
    };
    const runtime = await bench.open({ provider, approvalWaitMs: 600_000 });
    const run = await bench.start(runtime, { input: "Begin", tools: ["write", "subagent"] });
    const [question] = await until(async () => {
      const open = await runtime.questions();
      return open.length === 1 ? open : undefined;
    }, "the child asks");
    assert.equal(question?.run_id, `${run.id}/writer-1.0`);
    assert.deepEqual(question.asker, {
      ...{ label: "writer", agent: null, path: "/root/writer-1.0", depth: 1, task: "Write it" },
    });
    assert.equal((question.until_ms ?? 0) - question.at_ms, 600_000);
    const asking = await runtime.attach(question.run_id);
    assert.equal(await asking.approve({ call: "tool:1.0" }), "taken");
    assert.equal((await run.result()).ending, "completed");
    assert.ok(existsSync(join(bench.root, "a.txt")));
  });

  it("is refused at once, and not asked, with neither a terminal nor a time to wait", async (t) => {
    const bench = createBench(t);
    const run = await bench.start(await bench.open());
    const log = await readLog(run);
    assert.deepEqual(questionsIn(log), []);
    assert.equal(decisionsIn(log)[0]?.by, "nobody");
  });
});

describe("the first answer", () => {
  it("from another process lets the call run, and removes the question from the terminal", async (t) => {
    const bench = createBench(t);
    const terminal = createTerminal();
    const run = await bench.start(await bench.open({ ask: terminal.ask }));
    await until(() => terminal.questions[0], "the terminal is asked");
    const { outcome, question } = await elsewhere(bench, (parts) =>
      answerQuestion(parts, run.id, YES),
    );
    assert.deepEqual([outcome, question.name], ["taken", "write"]);
    const log = await readLog(run);
    const [decision] = decisionsIn(log);
    assert.deepEqual([decision?.verdict, decision?.by], ["allow", "person"]);
    assert.match(decision?.reason ?? "", /the user was asked and said yes in another terminal$/);
    assert.match(decision?.answer ?? "", /^msg_/);
    assert.deepEqual(terminal.withdrawn, ["answered in another terminal: yes"]);
    assert.ok(existsSync(join(bench.root, "a.txt")));
    await assert.rejects(run.approve(), { code: "conflict", message: /has ended already/ });
  });

  it("from another process may be no: the model reads it, the run continues", async (t) => {
    const bench = createBench(t);
    const run = await bench.start(await bench.open({ approvalWaitMs: 600_000 }));
    await untilAsked(run);
    assert.equal(await run.deny(), "taken");
    const log = await readLog(run);
    const [decision] = decisionsIn(log);
    assert.equal(decision?.reason, "Tool call write was denied by user in another program");
    const end = log.find((event) => event.type === "tool_end");
    assert.match(JSON.stringify(end?.item), /"Error: Tool call write was denied by user"/);
    assert.ok(!existsSync(join(bench.root, "a.txt")));
  });

  it("may be a no with words: the model reads them, and the record has them", async (t) => {
    const bench = createBench(t);
    const terminal = createTerminal();
    const key = "sk-0123456789abcdefghijklmn";
    const runtime = await bench.open({
      ...{ ask: terminal.ask, env: { OPENAI_API_KEY: key }, approvalWaitMs: 600_000 },
      provider: calling(WRITE, WRITE),
    });
    const run = await bench.start(runtime);
    await until(() => terminal.questions[0], "the terminal is asked");
    terminal.answer({ answer: "no", reason: ` use b.txt, not ${key} ` });
    await until(() => terminal.questions[1], "the terminal is asked again");
    assert.equal(await run.deny({ call: "tool:1.1", reason: "write nothing" }), "taken");
    const log = await readLog(run);
    assert.deepEqual(
      decisionsIn(log).map(({ reason }) => reason),
      [
        "Tool call write was denied by user: use b.txt, not [redacted]",
        "Tool call write was denied by user in another program: write nothing",
      ],
    );
    const ends = log.filter((event) => event.type === "tool_end");
    assert.deepEqual(
      ends.map(({ item }) => "output" in item && item.output),
      [
        "Error: Tool call write was denied by user: use b.txt, not [redacted]",
        "Error: Tool call write was denied by user: write nothing",
      ],
    );
  });

  it("on the terminal counts: a later answer from elsewhere gets a message that says so", async (t) => {
    const bench = createBench(t);
    const terminal = createTerminal();
    const run = await bench.start(await bench.open({ ask: terminal.ask }));
    await until(() => terminal.questions[0], "the terminal is asked");
    const late = elsewhere(bench, ({ engine }) => {
      // The person at the terminal is faster: between the other process's look and its message.
      const signal: typeof engine.signal = async (...message) => {
        terminal.answer("no");
        await until(
          async () =>
            (await findQuestions(engine.record, run.id)).length === 0 ? true : undefined,
          "the decision",
        );
        await engine.signal(...message);
      };
      return answerQuestion({ engine: { ...bindEngine(engine), signal } }, run.id, YES);
    });
    await assert.rejects(late, {
      code: "conflict",
      message: /^Too late: the call of write in run_\w+ was denied already \(.*denied by user\)\.$/,
    });
    assert.deepEqual(
      decisionsIn(await readLog(run)).map(({ verdict }) => verdict),
      ["deny"],
    );
    assert.ok(!existsSync(join(bench.root, "a.txt")));
  });

  it("answers the question that it names, if several are open", async (t) => {
    const bench = createBench(t);
    const told: string[] = [];
    const tool = (name: string): Tool =>
      define(name, async () => told.push(name), { effect: "network", readOnly: true });
    const runtime = await bench.open({
      approvalWaitMs: 600_000,
      tools: [tool("one"), tool("two")],
      provider: calling({ name: "one", arguments: "{}" }, { name: "two", arguments: "{}" }),
    });
    const run = await bench.start(runtime, { tools: ["one", "two"] });
    await untilAsked(run, 2);
    const [{ call_id } = assert.fail()] = await run.questions();
    await assert.rejects(run.approve({ call: call_id }), { message: /no approval of `/ });
    await assert.rejects(run.approve(), {
      message:
        /waits for 2 answers\. Say which question you mean: tool:1\.0 \(one\), tool:1\.1 \(two\)\.$/,
    });
    await assert.rejects(run.approve({ call: "call_nobody" }), {
      message: /no approval of `call_/,
    });
    assert.equal(await run.approve({ call: "tool:1.1" }), "taken");
    const [left] = await run.questions();
    assert.equal(left?.name, "one");
    // The question that was read may be over: a yes must not count for another one.
    await assert.rejects(run.approve(), {
      message: /waits for an answer\. Say which .* \(one\)\.$/,
    });
    assert.equal(await run.deny({ call: left.question }), "taken");
    await run.result();
    assert.deepEqual(told, ["two"]);
  });

  for (const always of [true, "tree"] as const) {
    it(`may also be for similar calls (${always})`, async (t) => {
      const bench = createBench(t);
      const again = { name: "write", arguments: '{"path":"b.txt","content":"b"}' };
      const provider = calling(WRITE, again);
      const run = await bench.start(await bench.open({ approvalWaitMs: 600_000, provider }));
      await untilAsked(run);
      assert.equal(await run.approve({ call: "tool:1.0", always }), "taken");
      const log = await readLog(run);
      assert.equal(questionsIn(log).length, 1);
      assert.ok(existsSync(join(bench.root, "b.txt")));
    });
  }
});

describe("an unanswered question", () => {
  it("is denied with a reason when its time is over, on the terminal too", async (t) => {
    const bench = createBench(t);
    const clock = createManualClock(0);
    const terminal = createTerminal();
    const options = { clock, approvalWaitMs: 600_000, ask: terminal.ask, storePath: undefined };
    const run = await bench.start(await bench.open(options), { timeoutMs: 1000 });
    await until(() => terminal.questions[0], "the terminal is asked");
    await clock.advance(600_000);
    const log = await readLog(run);
    const [decision] = decisionsIn(log);
    assert.deepEqual([decision?.verdict, decision?.by], ["deny", "nobody"]);
    assert.match(decision?.reason ?? "", /changes files, and no answer came within 600 s\.$/);
    assert.deepEqual(terminal.withdrawn, ["no answer came within 600 s"]);
    assert.equal((await run.result()).ending, "completed", "the wait is not the run's time");
  });

  it("waits for a day by default, and says until when", async (t) => {
    const bench = createBench(t);
    const terminal = createTerminal();
    const run = await bench.start(await bench.open({ ask: terminal.ask }));
    await until(() => terminal.questions[0], "the terminal is asked");
    terminal.answer("no");
    const [question] = questionsIn(await readLog(run));
    assert.equal((question?.until_ms ?? 0) - (question?.at_ms ?? 0), DAY_MS);
  });
});

describe("a run that is taken over while it asks", () => {
  it("a run that is taken over while it asks, asks again", async (t) => {
    const bench = createBench(t);
    const [first, second] = [createTerminal(), createTerminal()];
    const dying = await bench.open({ ask: first.ask });
    const { id } = await bench.start(dying);
    await until(() => first.questions[0], "the first terminal is asked");
    await dying.close();
    const runtime = await bench.open({ ask: second.ask });
    const run = await runtime.resume(id);
    await until(() => second.questions[0], "the second terminal is asked");
    second.answer("yes");
    const log = await readLog(run);
    assert.deepEqual(
      questionsIn(log).map(({ question }) => question),
      ["tool:1.0", "tool:1.0"],
    );
    assert.equal(decisionsIn(log).length, 1);
  });

  it("takes an answer that was left meanwhile, once, and asks no person", async (t) => {
    const bench = createBench(t);
    const first = createTerminal();
    const dying = await bench.open({ ask: first.ask });
    const { id } = await bench.start(dying);
    await until(() => first.questions[0], "the first terminal is asked");
    await dying.close();
    for (const answer of ["yes", "no"] as const) {
      const { outcome } = await elsewhere(bench, (parts) =>
        answerQuestion(parts, id, { ...YES, answer }),
      );
      assert.equal(outcome, "left");
    }
    const again = createTerminal();
    const run = await (await bench.open({ ask: again.ask })).resume(id);
    const log = await readLog(run);
    assert.deepEqual(again.questions, []);
    assert.deepEqual(
      decisionsIn(log).map(({ verdict }) => verdict),
      ["deny"],
      "a no counts",
    );
    assert.ok(!existsSync(join(bench.root, "a.txt")));
  });

  it("ignores an answer that came too late for the question before", async (t) => {
    const bench = createBench(t);
    const first = createTerminal();
    let begun = 0;
    const slow = define(
      "slow",
      async () => {
        begun++;
        return begun === 1 ? await new Promise(() => {}) : "done";
      },
      { effect: "write" },
    );
    const options = { provider: calling({ name: "slow", arguments: "{}" }), tools: [slow] };
    const dying = await bench.open({ ...options, ask: first.ask });
    const { id } = await bench.start(dying, { tools: ["slow"] });
    await until(() => first.questions[0], "the first terminal is asked");
    first.answer("yes");
    await until(() => (begun === 1 ? true : undefined), "the call runs");
    const late = { key: "k", body: { answer: "yes", key: "k", from: "another terminal" } };
    await dying.engine.signal(id, "approval:tool:1.0", late);
    await dying.close();
    const second = createTerminal();
    const run = await (await bench.open({ ...options, ask: second.ask })).resume(id);
    const asked = await until(() => second.questions[0], "the second terminal is asked");
    assert.equal(asked.id, "tool:1.0#1");
    second.answer("no");
    const log = await readLog(run);
    assert.deepEqual(
      decisionsIn(log).map(({ verdict, question }) => [verdict, question]),
      [
        ["allow", "tool:1.0"],
        ["deny", "tool:1.0#1"],
      ],
    );
    assert.equal(begun, 1);
  });
});

describe("an answer that did not come from a person", () => {
  const bodies: readonly [what: string, body: Parameters<typeof parseApproval>[0]][] = [
    ["no object", "yes"],
    ["no answer", { key: "1", from: "x" }],
    ["a word that is not an answer", { answer: "y", key: "1", from: "x" }],
    ["the end of the run", { answer: "cancel", key: "1", from: "x" }],
    ["no key", { answer: "yes", from: "x" }],
  ];
  for (const [what, body] of bodies) {
    it(`is ignored: ${what}`, () => assert.equal(parseApproval(body), undefined));
  }

  it("is ignored even on the question's topic, and the person is asked", async (t) => {
    const bench = createBench(t);
    const terminal = createTerminal();
    const run = await bench.start(await bench.open({ ask: terminal.ask }));
    await until(() => terminal.questions[0], "the terminal is asked");
    await elsewhere(bench, ({ engine }) =>
      engine.signal(run.id, "approval:tool:1.0", { key: "1", body: { text: "yes" } }),
    );
    terminal.answer("no");
    assert.equal(decisionsIn(await readLog(run))[0]?.verdict, "deny");
    assert.equal(terminal.questions.length, 1);
  });

  it("is not read from steering: a message to the run answers no question", async (t) => {
    const bench = createBench(t);
    const runtime = await bench.open({ approvalWaitMs: 600_000 });
    const run = await bench.start(runtime);
    await untilAsked(run);
    await run.steer("yes");
    await runtime.steer(run.id, '{"answer":"yes","key":"1","from":"another terminal"}');
    assert.equal((await run.questions()).length, 1);
    assert.equal(await run.deny(), "taken");
    assert.ok(!existsSync(join(bench.root, "a.txt")));
  });
});
